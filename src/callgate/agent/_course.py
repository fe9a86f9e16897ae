"""Where a run stands: a fold over its turns, the same for a live run and for one read back from the journal.

In: each turn with its results. Out: the history, the counts, and whether to go on. Promise: consults
nothing but what it was given.

A turn whose reply was used up counts and goes into the history. One that broke off, failed in passing or
was empty is left, and asked for again as another attempt at the same turn; so is the last one of a run that
is taken up again after it ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from callgate.calls import AttemptKind, Finish, Status, ToolResult, Turn, Usage
from callgate.wire import Exchange

from ._limits import Limits, Outcome, Reason
from ._progress import Progress, warned

_ENDS: Final = {Finish.REFUSAL: Reason.REFUSED, Finish.FILTERED: Reason.FILTERED}
"""Ends the run, whatever else the turn holds."""
_AGAIN: Final = {Finish.CUT: Reason.CUT, Finish.ERROR: Reason.MODEL_ERROR, Finish.EMPTY: Reason.EMPTY}
"""Asked for again first; ends the run when that does not help."""


@dataclass(slots=True)
class Course:
    """A run on its way.

    ``number`` and ``attempt`` are those of the turn to ask for next. ``costs`` are the tokens of the
    exchanges, estimated where they were needed. ``codes`` are those of the last results, as far as they may
    end the run. ``cancels`` is how often the run had been cancelled before, ``cancelled``: it was since.
    """

    run: str
    task: str
    system: str
    limits: Limits
    progress: Progress = field(default_factory=Progress)
    number: int = 0
    attempt: int = 0
    kind: AttemptKind = AttemptKind.FIRST
    resent: int = 0
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    exchanges: list[Exchange] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)
    results: tuple[ToolResult, ...] = ()
    codes: frozenset[str] = frozenset()
    text: str = ""
    detail: str = ""
    cancels: int = 0
    cancelled: bool = False

    @property
    def is_last_turn(self) -> bool:
        """Whether no turn is left to hear the results of the next turn's calls."""
        return self.number + 1 >= self.limits.turns

    def budget(self, usage: Usage | None) -> int | None:
        """How many calls of the turn being heard may be admitted.

        ``usage`` is what it took itself. None for all.
        """
        tokens, calls = self.limits.tokens, self.limits.calls
        if self.is_last_turn or (tokens is not None and _sum(self.usage, usage).total >= tokens):
            return 0
        return None if calls is None else max(0, calls - self.calls)

    def hear(self, turn: Turn, results: Sequence[ToolResult]) -> Reason | None:
        """Take a turn in; the reason to end the run, or None to go on."""
        self.usage = _sum(self.usage, turn.usage)
        self.results, self.text = tuple(results), turn.text
        self.detail = next((fault.message for fault in turn.faults if fault.fatal), turn.reason)
        self.codes = frozenset(result.code for result in results)
        reason = _reason(turn)
        if reason is None:
            self._go_on(turn)
            return None
        self.attempt += 1
        self.kind = AttemptKind.RESENT if turn.digest else AttemptKind.REGENERATED
        # A reply without a digest was closed by a recovery: it was never heard, and speaks neither for nor
        # against the model.
        if not turn.digest:
            return None
        if turn.finish not in _AGAIN:
            return reason
        self.resent += 1
        return reason if self.resent > self.limits.resends or not _passes(turn) else None

    def stop(self, *, late: bool = False) -> Reason | None:
        """Why no further turn may be asked for, or None. ``late``: the time is up."""
        limits, codes = self.limits, self.codes
        checks = (
            (Reason.PENDING, any(result.status is Status.PENDING for result in self.results)),
            (Reason.MAX_SECONDS, late),
            (Reason.CANCELLED, self.cancelled),
            (Reason.MAX_TURNS, self.number >= limits.turns),
            (Reason.MAX_TOKENS, limits.tokens is not None and self.usage.total >= limits.tokens),
            (Reason.MAX_CALLS, "CALLS_EXHAUSTED" in codes),
            (Reason.REPEATED, self.progress.times >= limits.repeats),
            (Reason.STUCK_MENDABLE, self.progress.stuck >= limits.stuck_rounds),
            (Reason.STUCK_UNMENDABLE, self.progress.stuck_unmendable >= limits.stuck_unmendable_rounds),
        )
        return next((reason for reason, holds in checks if holds), None)

    def reopen(self) -> None:
        """Go on after the run had ended: what was counted against it is forgiven, what it used is not."""
        self.progress.forgive()
        self.resent = 0
        self.codes = frozenset()
        self.kind = AttemptKind.REGENERATED if self.attempt else AttemptKind.FIRST

    def outcome(self, reason: Reason) -> Outcome:
        """How the run ended."""
        return Outcome(
            run=self.run,
            reason=reason,
            text=self.text,
            detail=self.detail,
            turns=self.number + (reason is Reason.ANSWERED),
            calls=self.calls,
            usage=self.usage,
            results=self.results,
            exchanges=tuple(self.exchanges),
        )

    def _go_on(self, turn: Turn) -> None:
        times = self.progress.add(turn.calls, self.results)
        if times >= self.limits.repeats_warned:
            self.results = warned(self.results, times)
        self.exchanges.append(Exchange(turn, self.results))
        self.number += 1
        self.attempt = self.resent = 0
        self.kind = AttemptKind.FIRST


def _reason(turn: Turn) -> Reason | None:
    """Why the run cannot go on after this turn as it stands.

    None when its calls were answered and the model goes on.
    """
    if turn.finish in _ENDS:
        return _ENDS[turn.finish]
    if turn.finish in _AGAIN:
        return _AGAIN[turn.finish]
    if turn.calls:
        return None
    return Reason.LENGTH if turn.why_not == "TURN_CAPPED" else Reason.ANSWERED


def _passes(turn: Turn) -> bool:
    """Whether the same request may do better; a reply that just ended may."""
    fatal = [fault for fault in turn.faults if fault.fatal]
    return any(fault.retryable for fault in fatal) or not (fatal or turn.finish is Finish.ERROR)


def _sum(one: Usage, other: Usage | None) -> Usage:
    if other is None:
        return one
    return Usage(
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
        one.cached_tokens + other.cached_tokens,
        one.reasoning_tokens + other.reasoning_tokens,
        one.estimator or other.estimator,
    )
