"""What an entry makes of a run: ``evolve``, and nothing else changes a run's state.

In: journal entries, in order. Out: commands for the shell. Promise: consults nothing but the entry and the
tables, so that a run read back from the journal stands exactly where the live one stood, whatever became of
tools and policy meanwhile. No I/O, no clock, no randomness.

Rule 1: live is decide, evolve, append, obey: no command is obeyed before the entries behind it are durable.
Recovery is evolve alone. Rule 2: a call starts only when the schedule says so and a ``Started`` entry
stands. Rule 3: every call ends in exactly one result, and a call whose effect nobody saw ends in
``unknown``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from callgate.calls import (
    FINAL,
    Access,
    Admitted,
    ApprovalAsked,
    CallKey,
    CancelRequested,
    Decided,
    Effect,
    Entry,
    Event,
    Finding,
    LostSight,
    Raised,
    Reconciled,
    Refused,
    Returned,
    RunEnded,
    RunStarted,
    Started,
    State,
    ToolCall,
    TurnAsked,
    TurnHeard,
    step,
)
from callgate.errors import JournalCorruptError
from callgate.schedule import Released, Schedule


class Execute(msgspec.Struct, frozen=True, gc=False):
    """Run the tool of this call now; its ``Started`` entry is written."""

    key: CallKey


class Stop(msgspec.Struct, frozen=True, gc=False):
    """Ask the running tool of this call to stop."""

    key: CallKey


class Close(msgspec.Struct, frozen=True, gc=False):
    """Record that nobody need decide about this call any more: what it waited for came to nothing."""

    key: CallKey


Command = Execute | Stop | Close


@dataclass(slots=True)
class CallState:
    """Where one call stands, and the entries that brought it there."""

    call: ToolCall
    state: State = State.CREATED
    effect: Effect = Effect.IRREVERSIBLE
    idempotent: bool = False
    accesses: tuple[Access, ...] = ()
    definition: str = ""
    held: bool = False
    attempt: int = 0
    idempotency_key: str = ""
    cancel_requested: bool = False
    findings: tuple[Finding, ...] = ()
    asked: ApprovalAsked | None = None
    code: str = ""
    because: CallKey | None = None
    outcome: Returned | Raised | LostSight | Reconciled | Decided | None = None

    @property
    def repeatable(self) -> bool:
        """Whether running it once more can do no harm."""
        return self.idempotent or self.effect is Effect.READ


@dataclass(slots=True)
class TurnState:
    """One attempt at a turn.

    ``heard`` is None while the reply has not ended. ``running`` counts its calls that run. ``reopened``: the
    run had ended, and went on with it.
    """

    number: int
    attempt: int
    asked: TurnAsked | None = None
    heard: TurnHeard | None = None
    keys: tuple[CallKey, ...] = ()
    running: int = 0
    reopened: bool = False


@dataclass(slots=True)
class RunState:
    """A run as its entries tell it. ``cancels`` counts how often all of it was to stop."""

    run: str
    started: RunStarted | None = None
    ended: RunEnded | None = None
    cancels: int = 0
    turns: list[TurnState] = field(default_factory=list)
    calls: dict[CallKey, CallState] = field(default_factory=dict)
    startable: dict[CallKey, None] = field(default_factory=dict)
    schedule: Schedule = field(default_factory=Schedule)

    def turn(self, number: int, attempt: int) -> TurnState | None:
        """That attempt at that turn, if it was asked or heard."""
        for turn in reversed(self.turns):
            if turn.number == number and turn.attempt == attempt:
                return turn
        return None

    @property
    def running(self) -> int:
        """How many calls run, in all turns."""
        return sum(turn.running for turn in self.turns)

    def is_quiet(self, turn: TurnState) -> bool:
        """Whether nothing more can come of a turn without a person or a new event."""
        if turn.heard is None or turn.running:
            return False
        waiting = any(self.calls[key].state is State.VALIDATED for key in turn.keys)
        return not waiting or not (self.running or self.startable)

    def in_state(self, state: State) -> list[CallState]:
        """The calls in one state, in call order."""
        return [call for call in self.calls.values() if call.state is state]


def evolve(run: RunState, entry: Entry) -> list[Command]:
    """Apply one entry; the commands it calls for.

    Raises:
        IllegalTransitionError: The entry cannot follow what stands before it.
        JournalCorruptError: The entry speaks of a call or a turn that was never heard.
    """
    return _EVOLVE[type(entry)](run, entry)


def _run_started(run: RunState, entry: RunStarted) -> list[Command]:
    run.schedule = Schedule(entry.writes)
    run.started = entry
    return []


def _run_ended(run: RunState, entry: RunEnded) -> list[Command]:
    run.ended = entry
    return []


def _turn_asked(run: RunState, entry: TurnAsked) -> list[Command]:
    run.turns.append(TurnState(entry.turn, entry.attempt, asked=entry, reopened=_goes_on(run)))
    return []


def _turn_heard(run: RunState, entry: TurnHeard) -> list[Command]:
    turn = run.turn(entry.turn, entry.attempt)
    if turn is None:
        turn = TurnState(entry.turn, entry.attempt, reopened=_goes_on(run))
        run.turns.append(turn)
    turn.heard = entry
    turn.keys = tuple(call.key for call in entry.calls)
    for call in entry.calls:
        state = CallState(call)
        if entry.why_not:
            state.state = step(state.state, Event.CANCELLED, call.key)
            state.code = entry.why_not
        run.calls[call.key] = state
    return []


def _admitted(run: RunState, entry: Admitted) -> list[Command]:
    key = entry.key
    call = _call(run, key)
    call.state = step(call.state, Event.ADMITTED, key)
    call.effect = entry.effect
    call.idempotent = entry.idempotent
    call.accesses = entry.accesses
    call.definition = entry.definition
    call.held = entry.held
    for ready in run.schedule.add(key, entry.accesses, serial=entry.serial, held=entry.held):
        run.startable[ready] = None
    return []


def _refused(run: RunState, entry: Refused) -> list[Command]:
    call = _call(run, entry.key)
    call.state = step(call.state, Event.REFUSED, entry.key)
    call.findings = entry.findings
    call.code = entry.findings[0].code
    return []


def _approval_asked(run: RunState, entry: ApprovalAsked) -> list[Command]:
    call = _call(run, entry.key)
    call.state = step(call.state, Event.ASKED, entry.key)
    call.asked = entry
    return []


def _decided(run: RunState, entry: Decided) -> list[Command]:
    call = _call(run, entry.key)
    if entry.approved and not entry.findings:
        call.state = step(call.state, Event.APPROVED, entry.key)
        call.held = False
        for ready in run.schedule.release(entry.key):
            run.startable[ready] = None
        return []
    call.state = step(call.state, Event.REFUSED if entry.approved else Event.DENIED, entry.key)
    call.outcome = entry
    call.findings = entry.findings
    call.code = entry.findings[0].code if entry.findings else entry.code
    return _follow(run, run.schedule.withdraw(entry.key))


def _started(run: RunState, entry: Started) -> list[Command]:
    key = entry.key
    call = _call(run, key)
    if call.state is not State.RUNNING:
        _turn_of(run, key).running += 1
    call.state = step(call.state, Event.STARTED if call.state is State.VALIDATED else Event.RETRIED, key)
    call.attempt = entry.attempt
    call.idempotency_key = entry.idempotency_key
    call.outcome = None
    run.startable.pop(key, None)
    return [Execute(key)]


def _returned(run: RunState, entry: Returned) -> list[Command]:
    return _settle(run, entry, Event.RETURNED, ok=True)


def _raised(run: RunState, entry: Raised) -> list[Command]:
    _call(run, entry.key).code = entry.code
    return _settle(run, entry, Event.RAISED, ok=False)


def _lost_sight(run: RunState, entry: LostSight) -> list[Command]:
    call = _call(run, entry.key)
    call.code = "OUTCOME_UNKNOWN"
    return _settle(run, entry, Event.LOST, ok=False)


def _reconciled(run: RunState, entry: Reconciled) -> list[Command]:
    call = _call(run, entry.key)
    call.code = "" if entry.happened else "DID_NOT_HAPPEN"
    return _settle(run, entry, Event.HAPPENED if entry.happened else Event.DID_NOT_HAPPEN, ok=entry.happened)


def _settle(
    run: RunState, entry: Returned | Raised | LostSight | Reconciled, event: Event, *, ok: bool
) -> list[Command]:
    key = entry.key
    call = _call(run, key)
    was_running = call.state is State.RUNNING
    call.state = step(call.state, event, key)
    call.outcome = entry
    if was_running:
        _turn_of(run, key).running -= 1
    # What was lost left the schedule then; what becomes of it later changes the record and no order.
    return _follow(run, run.schedule.done(key, ok)) if key in run.schedule else []


def _cancel_requested(run: RunState, entry: CancelRequested) -> list[Command]:
    commands: list[Command] = []
    run.cancels += entry.key is None
    # The last first: each is cancelled for its own sake, not skipped for another's.
    keys = [entry.key] if entry.key is not None else list(reversed(run.calls))
    for key in keys:
        call = _call(run, key)
        if call.state in FINAL:
            continue
        call.cancel_requested = True
        if call.state is State.RUNNING:
            commands.append(Stop(key))
        elif call.state is not State.UNKNOWN:
            call.state = step(call.state, Event.CANCELLED, key)
            call.code = "CANCELLED"
            run.startable.pop(key, None)
            if key in run.schedule:
                commands += _follow(run, run.schedule.withdraw(key))
    return commands


_EVOLVE: Final[dict[type, Callable[[RunState, Any], list[Command]]]] = {
    RunStarted: _run_started,
    TurnAsked: _turn_asked,
    TurnHeard: _turn_heard,
    Admitted: _admitted,
    Refused: _refused,
    ApprovalAsked: _approval_asked,
    Decided: _decided,
    Started: _started,
    Returned: _returned,
    Raised: _raised,
    LostSight: _lost_sight,
    Reconciled: _reconciled,
    CancelRequested: _cancel_requested,
    RunEnded: _run_ended,
}


def _call(run: RunState, key: CallKey) -> CallState:
    try:
        return run.calls[key]
    except KeyError:
        message = "an entry speaks of a call that was never heard"
        raise JournalCorruptError(message, run=run.run, key=str(key)) from None


def _turn_of(run: RunState, key: CallKey) -> TurnState:
    turn = run.turn(key.turn, key.attempt)
    if turn is None:
        message = "an entry speaks of a turn that was never heard"
        raise JournalCorruptError(message, run=run.run, key=str(key))
    return turn


def _goes_on(run: RunState) -> bool:
    """A turn is asked for or heard: whether the run had ended, which it has no longer."""
    had_ended, run.ended = run.ended is not None, None
    return had_ended


def _follow(run: RunState, released: Released) -> list[Command]:
    commands: list[Command] = []
    for ready in released.ready:
        run.startable[ready] = None
    for skipped in released.skipped:
        call = _call(run, skipped.key)
        # One that waits for a person has no way to skipped; it is cancelled, for the same reason.
        call.state = step(call.state, Event.CANCELLED if skipped.held else Event.SKIPPED, skipped.key)
        call.code = skipped.code
        call.because = skipped.because
        run.startable.pop(skipped.key, None)
        if skipped.held:
            commands.append(Close(skipped.key))
    return commands
