"""What all dialects share on the way out: the choice of a tool, names of parameters, arguments to repeat."""

from typing import Any

import pytest
from hypothesis import given

from callgate.calls import Finding, Turn, freeze, parse_arguments
from callgate.errors import LocalProtocolError
from callgate.wire import Loss, Request
from callgate.wire._writing import Choice, arguments_text, choice_of, parameters_as
from tests.wire.talk import DIALECTS, TOOLS, asked, turns


@pytest.mark.parametrize(
    ("asked_for", "choice"),
    [
        (None, Choice()),
        ("auto", Choice("auto")),
        ("none", Choice("none")),
        ("required", Choice("required")),
        ({"tool": "read"}, Choice("tool", "read")),
    ],
)
def test_a_choice_is_read(asked_for: Any, choice: Choice) -> None:
    assert choice_of(Request("m", tools=TOOLS, parameters=freeze({"tool_choice": asked_for}))) == choice


@pytest.mark.parametrize("asked_for", [None, "auto", "none"])
def test_without_tools_there_is_nothing_to_choose(asked_for: str | None) -> None:
    assert choice_of(Request("m", parameters=freeze({"tool_choice": asked_for}))) == Choice()


def test_parameters_are_renamed_passed_on_left_out_or_reported() -> None:
    given_ = freeze(
        {"max_tokens": 5, "stop": ["x"], "seed": 1, "top_p": None, "strict": True, "tool_choice": "auto"}
    )
    out, losses = parameters_as(Request("m", parameters=given_), {"max_tokens": "limit", "stop": ""})
    assert out == {"limit": 5, "seed": 1}
    assert losses == [Loss("", "/stop", "this dialect has no such parameter; left out")]


@given(turns())
def test_arguments_that_go_back_are_always_one_object(turn: Turn) -> None:
    for call in turn.calls:
        assert not isinstance(parse_arguments(arguments_text(call)), Finding)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("choice", ["always", {"tool": "pay"}, {"name": "read"}, 1])
def test_a_choice_that_is_not_offered_is_refused(dialect: str, choice: Any) -> None:
    with pytest.raises(LocalProtocolError, match="tool_choice"):
        asked(dialect, tool_choice=choice)
    with pytest.raises(LocalProtocolError, match="tool_choice"):
        asked(dialect, tools=(), tool_choice="required")
