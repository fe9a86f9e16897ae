"""Names of tools: what may be one, and which look alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.errors import ToolDeclarationError
from callgate.tools._names import check_name, looks


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("read", "READ"),
        ("read", "re\u0430d"),
        ("read_file", "read-file"),
        ("read_file", "read.file"),
        ("read", "\uff52\uff45\uff41\uff44"),
        ("caf\u00e9", "cafe\u0301"),
        ("read", "re\u200bad"),
        ("poll", "p0ll"),
        ("list", "1ist"),
    ],
)
def test_these_look_alike(one: str, other: str) -> None:
    assert looks(one) == looks(other)


@pytest.mark.parametrize(("one", "other"), [("read", "reads"), ("a__b_c", "ab_c"), ("数", "敷")])
def test_these_do_not(one: str, other: str) -> None:
    assert looks(one) != looks(other)


@given(st.text(max_size=30))
def test_what_a_name_looks_like_looks_like_itself(name: str) -> None:
    assert looks(looks(name)) == looks(name)


@pytest.mark.parametrize("name", ["", "a b", "a\n", "a\x00", "x" * 129])
def test_what_can_be_a_name_nowhere_is_refused(name: str) -> None:
    with pytest.raises(ToolDeclarationError):
        check_name(name)


@pytest.mark.parametrize("name", ["a", "x" * 128, "数", "math.factorial", "a/b"])
def test_other_names_are_taken(name: str) -> None:
    check_name(name)
