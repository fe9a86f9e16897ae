"""``evolve`` knows every entry, and refuses a record that cannot be."""

from typing import get_args

import pytest

from callgate.calls import (
    Admitted,
    CallKey,
    CancelRequested,
    Effect,
    Entry,
    Finding,
    Finish,
    Raised,
    Refused,
    Returned,
    Started,
    State,
    TurnHeard,
)
from callgate.errors import IllegalTransitionError, JournalCorruptError
from callgate.gate._machine import _EVOLVE, Execute, RunState, Stop, evolve
from tests.gate.turns import call

KEY = CallKey("r", 0, 0, 0)


def heard(*names: str, why_not: str = "") -> TurnHeard:
    calls = tuple(call(name).admitted_as(CallKey("r", 0, 0, place), "d") for place, name in enumerate(names))
    return TurnHeard("r", 0, 0, 1.0, Finish.TOOL_CALLS, "digest", calls=calls, why_not=why_not)


def running(effect: Effect = Effect.WRITE) -> RunState:
    run = RunState("r")
    evolve(run, heard("put"))
    evolve(run, Admitted(KEY, 1.0, "d", "d", effect))
    assert evolve(run, Started(KEY, 1.0, "cg_1")) == [Execute(KEY)]
    return run


def test_every_kind_of_entry_has_its_answer() -> None:
    assert set(_EVOLVE) == set(get_args(Entry))


def test_an_entry_about_a_call_that_was_never_heard_is_corruption() -> None:
    with pytest.raises(JournalCorruptError):
        evolve(RunState("r"), Refused(KEY, 1.0, (Finding("NOT_OFFERED"),)))


def test_a_call_that_was_refused_cannot_start() -> None:
    run = RunState("r")
    evolve(run, heard("put"))
    evolve(run, Refused(KEY, 1.0, (Finding("NOT_OFFERED"),)))
    with pytest.raises(IllegalTransitionError):
        evolve(run, Started(KEY, 1.0, "cg_1"))


def test_a_call_returns_once() -> None:
    run = running()
    evolve(run, Returned(KEY, 2.0, 1))
    with pytest.raises(IllegalTransitionError):
        evolve(run, Raised(KEY, 2.0, "TOOL_FAILED"))


def test_calls_of_a_turn_that_is_not_executable_are_over_when_it_is_heard() -> None:
    run = RunState("r")
    evolve(run, heard("put", "put", why_not="TURN_CUT"))
    assert [(found.state, found.code) for found in run.calls.values()] == [(State.CANCELLED, "TURN_CUT")] * 2


def test_cancelling_stops_what_runs_and_leaves_its_state_alone() -> None:
    run = running()
    assert evolve(run, CancelRequested("r", 2.0)) == [Stop(KEY)]
    assert (run.calls[KEY].state, run.calls[KEY].cancel_requested) == (State.RUNNING, True)
    evolve(run, Returned(KEY, 3.0, "it had happened"))
    assert run.calls[KEY].state is State.SUCCEEDED
    assert run.running == 0
