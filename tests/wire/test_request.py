"""The values of a request hold data only and cannot change."""

import dataclasses
import pickle

import pytest

from callgate.calls import CallKey, Finish, FrozenDict, Status, ToolCall, ToolDefinition, ToolResult, Turn
from callgate.wire._request import Encoded, Exchange, Loss, Request, Said

CALL = ToolCall("now", call_id="c1")
EXCHANGE = Exchange(
    Turn(calls=(CALL,), finish=Finish.TOOL_CALLS, executable=True),
    (ToolResult(CallKey(), "c1", "now", Status.OK, content="12:00"),),
)
REQUEST = Request(
    "m",
    "be brief",
    (Said("user", "what time is it?"), EXCHANGE),
    (ToolDefinition.of("now", "Tell the time.", FrozenDict({"type": "object"})),),
    FrozenDict(temperature=0),
)


@pytest.mark.parametrize(
    "value", [Said("user", "x"), EXCHANGE, REQUEST, Loss("t", "/a", "x"), Encoded("/p", {})]
)
def test_a_value_of_the_request_cannot_be_changed(value: object) -> None:
    name = dataclasses.fields(value)[0].name  # type: ignore[arg-type]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, name, "other")


def test_a_request_survives_a_pickle() -> None:
    assert pickle.loads(pickle.dumps(REQUEST)) == REQUEST


def test_a_request_needs_nothing_but_a_model() -> None:
    assert Request("m") == Request("m", "", (), (), FrozenDict())
