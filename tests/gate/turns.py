"""Turns made by hand: what a decoder would give."""

import json
from typing import Any

from callgate.calls import Finish, FrozenDict, ToolCall, Turn, parse_arguments


def call(name: str, call_id: str | None = None, /, **arguments: Any) -> ToolCall:
    """A whole call with these arguments."""
    text = json.dumps(arguments)
    parsed = parse_arguments(text)
    assert isinstance(parsed, FrozenDict)
    return ToolCall(name, parsed, text, call_id)


def turn(*calls: ToolCall, **more: Any) -> Turn:
    """An executable turn of these calls."""
    given = {"finish": Finish.TOOL_CALLS, "executable": True, "dialect": "test", **more}
    return Turn(calls=calls, **given)
