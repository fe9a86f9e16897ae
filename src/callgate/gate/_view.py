"""A run as it stands, for those who show it or go on with it.

A fold over its entries, made anew at each look.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from callgate.calls import (
    CODES,
    STATUS,
    CallKey,
    Decided,
    Entry,
    Layer,
    LostSight,
    Raised,
    Reconciled,
    Returned,
    State,
    Status,
    ToolCall,
    ToolResult,
    Turn,
    TurnAsked,
    TurnHeard,
    Usage,
)

from ._decide import HEARD
from ._machine import CallState, RunState, TurnState, evolve
from ._results import result_of


@dataclass(frozen=True, slots=True)
class TurnView:
    """One attempt at a turn.

    ``turn`` is None while the reply has not ended; ``results`` stand in call order. ``reopened``: the run had
    ended, and went on with this turn.
    """

    number: int
    attempt: int
    asked: TurnAsked | None
    turn: Turn | None
    results: tuple[ToolResult, ...]
    reopened: bool = False


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A call that waits for a person, whole: what is approved is what stands here."""

    key: CallKey
    call: ToolCall
    digest: str
    reasons: tuple[str, ...]
    asked_at: float
    expires_at: float | None


@dataclass(frozen=True, slots=True)
class CallView:
    """One call as it stands.

    ``code`` says why where it did not go well, else "". ``attempt`` counts the tries that started.
    ``reasons`` are why a person was asked, ``decided_by`` is who answered, or who ended the unknown.
    ``outcome`` is the entry that it ended with; None while it has not, and where it never ran for another
    reason than a no.
    """

    call: ToolCall
    state: State
    code: str
    attempt: int
    reasons: tuple[str, ...]
    decided_by: str
    outcome: Returned | Raised | LostSight | Reconciled | Decided | None

    @property
    def layer(self) -> Layer | None:
        """The question that was answered with no; None where the code is a tool's own, or there is none."""
        known = CODES.get(self.code)
        return known.layer if known else None


@dataclass(frozen=True, slots=True)
class RunView:
    """A run: what was asked, its turns in order, and how it ended ("" while it has not).

    ``admitted`` counts its calls that may run, ``cancels`` how often all of it was to stop.
    """

    run: str
    task: str
    system: str
    turns: tuple[TurnView, ...]
    ended: str
    text: str
    pending: tuple[PendingApproval, ...]
    usage: Usage
    admitted: int
    cancels: int


def view(run: RunState) -> RunView:
    """The view of a run's state."""
    return RunView(
        run.run,
        run.started.task if run.started else "",
        run.started.system if run.started else "",
        tuple(_turn_view(run, turn) for turn in run.turns),
        run.ended.reason if run.ended else "",
        run.ended.text if run.ended else "",
        pending(run),
        _usage(run),
        sum(1 for call in run.calls.values() if call.definition),
        run.cancels,
    )


class Replay:
    """A run read from its entries, one at a time: the same fold that the gate keeps of a run it holds.

    For those who watch a run, or read a journal that they do not write.
    """

    __slots__ = ("_decided_by", "_state")

    def __init__(self, run: str) -> None:
        self._state = RunState(run)
        self._decided_by: dict[CallKey, str] = {}

    def add(self, entry: Entry) -> None:
        """Take the run's next entry.

        Raises:
            IllegalTransitionError: It cannot follow what stands before it.
            JournalCorruptError: It speaks of a call or a turn that was never heard.
        """
        evolve(self._state, entry)
        if isinstance(entry, Decided | Reconciled):
            self._decided_by[entry.key] = entry.by

    @property
    def calls(self) -> tuple[CallView, ...]:
        """Every call as it stands now, in the order they were made."""
        return tuple(
            _call_view(call, self._decided_by.get(key, "")) for key, call in self._state.calls.items()
        )

    def view(self) -> RunView:
        """The run as it stands now."""
        return view(self._state)


def replay(run: str, entries: Iterable[Entry]) -> RunView:
    """The view of a run read from a journal, without holding it: a fold over its entries and nothing else.

    Raises as ``Replay.add``.
    """
    fold = Replay(run)
    for entry in entries:
        fold.add(entry)
    return fold.view()


def results(run: RunState, turn: TurnState) -> list[ToolResult]:
    """One result for each call of a turn, in call order."""
    return [result_of(run.calls[key]) for key in turn.keys]


def pending(run: RunState) -> tuple[PendingApproval, ...]:
    """The calls that wait for a person."""
    return tuple(_waiting(call) for call in run.in_state(State.AWAITING_APPROVAL))


def heard(entry: TurnHeard) -> Turn:
    """The turn that an entry recorded."""
    return Turn(
        calls=entry.calls,
        executable=not entry.why_not,
        why_not=entry.why_not,
        digest=entry.digest,
        **{name: getattr(entry, name) for name in HEARD},
    )


def _turn_view(run: RunState, turn: TurnState) -> TurnView:
    told = heard(turn.heard) if turn.heard else None
    return TurnView(turn.number, turn.attempt, turn.asked, told, tuple(results(run, turn)), turn.reopened)


def _call_view(call: CallState, decided_by: str) -> CallView:
    # A code outlives what it was about: of a call that was lost and returned, or runs again, it says nothing.
    is_well = STATUS[call.state] in (Status.OK, Status.PENDING)
    reasons = call.asked.reasons if call.asked else ()
    code = "" if is_well else call.code
    return CallView(call.call, call.state, code, call.attempt, reasons, decided_by, call.outcome)


def _waiting(call: CallState) -> PendingApproval:
    asked = call.asked
    return PendingApproval(
        call.call.key,
        call.call,
        call.call.digest,
        asked.reasons if asked else (),
        asked.at if asked else 0.0,
        asked.expires_at if asked else None,
    )


def _usage(run: RunState) -> Usage:
    counted = [turn.heard.usage for turn in run.turns if turn.heard and turn.heard.usage]
    return Usage(
        sum(usage.input_tokens for usage in counted),
        sum(usage.output_tokens for usage in counted),
        sum(usage.cached_tokens for usage in counted),
        sum(usage.reasoning_tokens for usage in counted),
        next((usage.estimator for usage in counted if usage.estimator), ""),
    )
