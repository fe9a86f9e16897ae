"""``decide`` answers every event in every state; what comes too late is no entry."""

from typing import get_args

from callgate.calls import CallKey, CancelRequested, Effect, LostSight, Returned, RunEnded, RunStarted
from callgate.checks import Policy
from callgate.gate._decide import (
    _DECIDE,
    Answered,
    Bench,
    CancelAsked,
    Dispatch,
    Ended,
    Happening,
    Noted,
    Reopened,
    TurnReceived,
    decide,
)
from callgate.gate._machine import RunState, evolve
from callgate.tools import NO_FACTS, Toolset
from tests.gate.turns import call, turn

KEY = CallKey("r", 0, 0, 0)


def bench() -> Bench:
    tools = Toolset()
    tools.tool(effect=Effect.WRITE)(put)
    return Bench({tool.name: tool for tool in tools}, Policy())


async def put(value: int = 0) -> int:
    """Put."""
    return value


def received(*calls: str) -> tuple[RunState, Bench]:
    run, table = RunState("r"), bench()
    event = TurnReceived(0, 0, turn(*map(call, calls)), frozenset({"put"}), (NO_FACTS,) * len(calls), 1.0)
    for entry in decide(run, event, table):
        evolve(run, entry)
    return run, table


def test_every_event_has_its_answer() -> None:
    assert set(_DECIDE) == set(get_args(Happening))


def test_an_outcome_counts_once() -> None:
    run, table = received("put")
    for entry in decide(run, Dispatch((KEY,), 1, 1.0), table):
        evolve(run, entry)
    first = decide(run, Ended(Returned(KEY, 2.0, 1)), table)
    assert len(first) == 1
    evolve(run, first[0])
    assert decide(run, Ended(LostSight(KEY, 2.0, "TIMED_OUT")), table) == []
    assert decide(run, Ended(Returned(KEY, 2.0, 1)), table) == []


def test_a_call_is_dispatched_once_and_only_when_the_schedule_lets_it() -> None:
    run, table = received("put", "put")
    second = CallKey("r", 0, 0, 1)
    assert decide(run, Dispatch((second,), 1, 1.0), table) == []
    (started,) = decide(run, Dispatch((KEY,), 1, 1.0), table)
    evolve(run, started)
    assert decide(run, Dispatch((KEY,), 1, 1.0), table) == []


def test_a_decision_about_a_call_that_does_not_wait_is_nothing() -> None:
    run, table = received("put")
    for key in (KEY, CallKey("r", 9, 9, 9)):
        assert decide(run, Answered(key, "d", approved=True, by="ann", at=1.0), table) == []


def test_cancelling_what_is_over_is_nothing() -> None:
    run, table = received("nope")
    for key in (KEY, CallKey("r", 9, 9, 9)):
        assert decide(run, CancelAsked("ann", 1.0, key), table) == []
    evolve(run, RunEnded("r", 1.0, "answered"))
    assert decide(run, CancelAsked("ann", 1.0), table) == []


def test_cancelling_a_run_that_goes_on_is_recorded_though_nothing_of_it_runs() -> None:
    """The model may be speaking."""
    run, table = received("nope")
    assert decide(run, CancelAsked("ann", 1.0), table) == [CancelRequested("r", 1.0, "ann")]


def test_cancelling_one_call_names_it() -> None:
    run, table = received("put", "put")
    assert decide(run, CancelAsked("ann", 1.0, KEY), table) == [CancelRequested("r", 1.0, "ann", KEY)]


def test_reopening_a_run_where_nothing_was_open_changes_nothing() -> None:
    run, table = received("nope")
    assert decide(run, Reopened(2, 1.0), table) == []


def test_what_needs_no_decision_is_written_as_it_is() -> None:
    run, table = received()
    entry = RunStarted("r", 1.0)
    assert decide(run, Noted(entry), table) == [entry]
