from typing import Final, get_args

import msgspec
import pytest

from callgate.calls import StreamEvent, StreamFault

EVENTS: Final = get_args(StreamEvent)


def test_the_events_are_those_of_the_design() -> None:
    assert [kind.__name__ for kind in EVENTS] == [
        "TextDelta",
        "ReasoningDelta",
        "CallStarted",
        "ArgumentsDelta",
        "CallDone",
        "TurnDone",
        "StreamFault",
    ]


@pytest.mark.parametrize("kind", EVENTS)
def test_an_event_is_frozen_and_untracked(kind: type[msgspec.Struct]) -> None:
    assert kind.__struct_config__.frozen
    assert not kind.__struct_config__.gc


@pytest.mark.parametrize("kind", [kind for kind in EVENTS if kind is not StreamFault])
def test_an_event_tells_its_choice(kind: type[msgspec.Struct]) -> None:
    assert msgspec.structs.fields(kind)[-1].name == "choice"


def test_a_fault_stops_the_turn_unless_it_says_otherwise() -> None:
    fault = StreamFault("X")
    assert (fault.fatal, fault.retryable) == (True, False)
