"""Docstrings in three forms, as people write them: with and without the blank lines the guides ask for."""

import pytest

from callgate.schema import read_docstring

GOOGLE = """Get the weather.

    Uses the nearest station.

    Args:
        city: Name: may contain a colon.
            second line
        unit (str, optional): c or f

    Returns:
        The temperature.

    Raises:
        KeyError: no such city
    """

NUMPY = """Get the weather.

    Uses the nearest station.

    Parameters
    ----------
    city : str
        Name: may contain a colon.
        second line
    unit : {'c', 'f'}, optional
        c or f

    Returns
    -------
    float
        The temperature.

    Raises
    ------
    KeyError
        no such city
    """

SPHINX = """Get the weather.

    Uses the nearest station.

    :param city: Name: may contain a colon.
        second line
    :type city: str
    :param str unit: c or f
    :returns: The temperature.
    :raises KeyError: no such city
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_the_three_forms_say_the_same(text: str) -> None:
    docs = read_docstring(text)
    assert docs.what == "Get the weather.\n\nUses the nearest station."
    assert docs.parameters == {"city": "Name: may contain a colon.\nsecond line", "unit": "c or f"}
    assert docs.returns == "The temperature."
    assert docs.unread == ()


@pytest.mark.parametrize(
    "text",
    [
        "Do.\nArgs:\n    a: first",
        "Do.\nArgs:\n\n    a: first",
        "Do.\n\nReturns:\n    x: y\nArgs:\n    a: first",
        "Do.\nParameters\n----------\na : int\n    first",
        "Do.\n\nReturns\n-------\nint\nParameters\n----------\na\n    first",
        "Do.\n:returns: x\n:param a: first",
        "Do.\n\nArgs:\n    a (Optional[tuple(int)]): first",
        "Do.\n\nArgs:\n    - a: first",
        "Do.\n\nArgs: a: first",
        "Do.\n\nKeyword Arguments:\n\ta: first",
    ],
)
def test_a_section_is_read_wherever_blank_lines_stand(text: str) -> None:
    docs = read_docstring(text)
    assert docs.parameters == {"a": "first"}
    assert docs.what == "Do."


def test_text_after_a_section_belongs_to_the_description() -> None:
    docs = read_docstring("Do.\n\nArgs:\n    a: first\n\nMore of it.")
    assert docs.what == "Do.\n\nMore of it."
    assert docs.parameters == {"a": "first"}


def test_a_section_of_which_nothing_can_be_read_is_named() -> None:
    assert read_docstring("Do.\n\nArgs:\n    just some words").unread == ("Args",)
    assert read_docstring("Do.\n\nParameters\n----------\n\n").unread == ("Parameters",)
    assert read_docstring("Do.\n\nArgs:\n    None").unread == ()


def test_a_warning_is_danger_and_a_note_is_description() -> None:
    docs = read_docstring("Do.\n\nNote:\n    Slow.\n\nWarning:\n    Overwrites.")
    assert (docs.what, docs.danger) == ("Do.\n\nSlow.", "Overwrites.")


def test_an_example_in_a_block_is_no_section() -> None:
    docs = read_docstring("Do.\n\nUse it so::\n\n    Args:\n        a: no\n\nArgs:\n    b: yes")
    assert docs.parameters == {"b": "yes"}


def test_a_colon_after_a_word_is_no_section() -> None:
    assert read_docstring("Known cities:\nBerlin, Paris").what == "Known cities:\nBerlin, Paris"
    assert read_docstring("Do.\nReturns:\nnothing indented").returns == ""


def test_names_that_share_words_and_stars() -> None:
    assert read_docstring("Args:\n    x, y: both\n    **rest: others").parameters == {
        "x": "both",
        "y": "both",
        "rest": "others",
    }


@pytest.mark.parametrize("text", [None, "", "  \n "])
def test_no_docstring_says_nothing(text: str | None) -> None:
    assert read_docstring(text).what == ""


def test_two_paragraphs_of_one_parameter_stay_apart() -> None:
    assert read_docstring("Args:\n    a: one\n\n        two\n    b: x").parameters["a"] == "one\n\ntwo"
