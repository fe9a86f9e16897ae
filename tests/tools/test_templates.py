"""Resource templates: values fill them and can't escape them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import Mode
from callgate.errors import ToolDeclarationError
from callgate.tools._templates import read_template
from tests.strategies import json_values


def resources(text: str, **arguments: Any) -> list[str]:
    return read_template(text, Mode.READ, arguments).resources(arguments)


@pytest.mark.parametrize(
    ("value", "resource"),
    [
        ("T-1", "ticket:T-1"),
        ("a/b", "ticket:a%2Fb"),
        ("*", "ticket:%2A"),
        ("../x", "ticket:..%2Fx"),
        ("说", "ticket:%E8%AF%B4"),
        ("{id}", "ticket:%7Bid%7D"),
        ("", "ticket:%"),
        (7, "ticket:7"),
        (7.0, "ticket:7"),
        (0.5, "ticket:0.5"),
        (True, "ticket:true"),
        ({"a": 1}, "ticket:%7B%22a%22%3A1%7D"),
    ],
)
def test_a_value_is_one_level_of_one_resource(value: Any, resource: str) -> None:
    assert resources("ticket:{id}", id=value) == [resource]


def test_several_places_and_lists() -> None:
    assert resources("repo:{owner}/{name}", owner="a", name="b") == ["repo:a/b"]
    assert resources("t:{ids}", ids=["x", "y"]) == ["t:x", "t:y"]
    assert resources("t:{a}/{a}", a="x") == ["t:x/x"]
    assert resources("db:main") == ["db:main"]


def test_a_value_that_is_not_there_makes_it_everything() -> None:
    assert resources("ticket:{id}", id=None) == ["*"]
    assert read_template("ticket:{id}", Mode.READ, ["id"]).resources({}) == ["*"]
    assert resources("*") == ["*"]


@given(json_values, json_values)
def test_different_values_name_different_resources(one: Any, other: Any) -> None:
    scalars = (str, int, float, bool)
    if isinstance(one, scalars) and isinstance(other, scalars) and type(one) is type(other):
        assert (resources("t:{x}", x=one) == resources("t:{x}", x=other)) is (one == other)


@given(st.text())
def test_no_text_adds_a_level(value: str) -> None:
    (resource,) = resources("t:{x}", x=value)
    assert "/" not in resource
    assert resource != "*"


@pytest.mark.parametrize(
    "text", ["ticket", "Ticket:{id}", "ticket:{id} x", "ticket:{other}", "file:/{id}", ""]
)
def test_a_template_that_cannot_work_is_refused(text: str) -> None:
    with pytest.raises(ToolDeclarationError):
        read_template(text, Mode.WRITE, ["id"])
