"""What an event makes of a run: ``decide`` turns it into entries.

It alone consults the checks, the tools and the policy.
In: an event with the facts the shell gathered for it. Out: journal entries, nothing done yet. Promise: no
I/O, no clock, no randomness; every event of every state has an answer, and one that comes too late or twice
is no entry at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from callgate.calls import (
    FINAL,
    Admitted,
    ApprovalAsked,
    CallKey,
    CancelRequested,
    Decided,
    Effect,
    Entry,
    Finding,
    Finish,
    LostSight,
    Raised,
    Reconciled,
    Refused,
    Returned,
    Started,
    State,
    ToolCall,
    Turn,
    TurnHeard,
    idempotency_key,
    turn_digest,
)
from callgate.checks import Case, Policy, Sources, judge
from callgate.tools import NO_FACTS, Facts, Tool

from ._machine import CallState, RunState

HEARD: Final = (
    "finish",
    "finish_raw",
    "text",
    "reason",
    "usage",
    "possibly_truncated",
    "faults",
    "refusal",
    "server_calls",
    "kept",
    "response_id",
    "dialect",
)
"""What a turn and the entry about it have in common, by the same names."""
_NO_SOURCES: Final = Sources()
_SERIAL: Final = frozenset({Effect.IRREVERSIBLE, Effect.EXECUTE})


@dataclass(frozen=True, slots=True)
class Bench:
    """What decisions consult.

    The tools, the policy, whether anybody can be asked, how long an approval may wait, and how the writes of
    a run that begins are scheduled.
    """

    tools: Mapping[str, Tool]
    policy: Policy
    can_ask: bool = True
    approval_seconds: float | None = None
    writes: str = "by-resource"


class TurnReceived(msgspec.Struct, frozen=True, gc=False):
    """A whole turn arrived.

    ``facts`` stand by position; ``budget`` is how many of its calls may be admitted, None for all.
    """

    number: int
    attempt: int
    turn: Turn
    offered: frozenset[str]
    facts: tuple[Facts, ...]
    at: float
    budget: int | None = None
    body_digest: str = ""
    body: bytes = b""


class Dispatch(msgspec.Struct, frozen=True, gc=False):
    """There is room to start these calls. ``fence`` is the token of the lease they are started under."""

    keys: tuple[CallKey, ...]
    fence: int
    at: float


class Ended(msgspec.Struct, frozen=True, gc=False):
    """The executor has an outcome; the shell made the entry, ``decide`` says whether it still counts."""

    entry: Returned | Raised | LostSight | Reconciled


class Answered(msgspec.Struct, frozen=True, gc=False):
    """A person, or the clock, decided about a waiting call; ``facts`` are fresh."""

    key: CallKey
    digest: str
    approved: bool
    by: str
    at: float
    reason: str = ""
    code: str = ""
    facts: Facts = NO_FACTS


class CancelAsked(msgspec.Struct, frozen=True, gc=False):
    """Someone wants the run, or one call, to stop."""

    by: str
    at: float
    key: CallKey | None = None


class Reopened(msgspec.Struct, frozen=True, gc=False):
    """The run was read back from the journal; whatever ran then runs no longer."""

    fence: int
    at: float


class Noted(msgspec.Struct, frozen=True, gc=False):
    """An entry that needs no decision: a run's begin and end, a turn asked."""

    entry: Any


Happening = TurnReceived | Dispatch | Ended | Answered | CancelAsked | Reopened | Noted


def decide(run: RunState, event: Happening, bench: Bench) -> list[Entry]:
    """The entries an event makes, in order; none where it comes too late."""
    return _DECIDE[type(event)](run, event, bench)


def _turn_received(run: RunState, event: TurnReceived, bench: Bench) -> list[Entry]:
    turn, judged = event.turn, []
    entries: list[Entry] = []
    left = len(turn.calls) if event.budget is None else event.budget
    for position, proposed in enumerate(turn.calls):
        key = CallKey(run.run, event.number, event.attempt, position)
        tool = bench.tools.get(proposed.name)
        call = proposed.admitted_as(key, tool.definition.digest if tool else "")
        judged.append(call)
        if not turn.executable:
            continue
        if left <= 0:
            entries.append(Refused(key, event.at, (Finding("CALLS_EXHAUSTED"),)))
            continue
        sources = _sources(run, tool)
        case = Case(tool, event.offered, event.facts[position], bench.policy, sources, bench.can_ask)
        made = _admit(call, case, event.at, bench)
        left -= isinstance(made[0], Admitted)
        entries.extend(made)
    return [_heard(run, event, tuple(judged)), *entries]


def _admit(call: ToolCall, case: Case, at: float, bench: Bench) -> list[Entry]:
    judgement = judge(call, case)
    verdict, tool = judgement.verdict, case.tool
    if tool is None or not verdict.ok:
        return [Refused(call.key, at, verdict.findings)]
    held = bool(verdict.ask)
    admitted = Admitted(
        call.key,
        at,
        call.digest,
        tool.definition.digest,
        tool.effect,
        tool.idempotent,
        judgement.accesses,
        tool.effect in _SERIAL,
        held,
    )
    if not held:
        return [admitted]
    expires = None if bench.approval_seconds is None else at + bench.approval_seconds
    return [admitted, ApprovalAsked(call.key, at, call.digest, verdict.ask, expires)]


def _heard(run: RunState, event: TurnReceived, calls: tuple[ToolCall, ...]) -> TurnHeard:
    turn = event.turn
    return TurnHeard(
        run.run,
        event.number,
        event.attempt,
        event.at,
        digest=turn_digest(turn),
        calls=calls,
        why_not="" if turn.executable else turn.why_not or "TURN_CUT",
        body_digest=event.body_digest,
        body=event.body,
        **{name: getattr(turn, name) for name in HEARD},
    )


def _sources(run: RunState, tool: Tool | None) -> Sources:
    """What a value marked with a source may come from: the user's request, and the results so far."""
    if tool is None or not any(parameter.source for parameter in tool.parameters):
        return _NO_SOURCES
    results = tuple(
        call.outcome.content
        for call in run.calls.values()
        if isinstance(call.outcome, Returned) and call.state is State.SUCCEEDED
    )
    return Sources(run.started.task if run.started else "", results)


def _dispatch(run: RunState, event: Dispatch, _bench: Bench) -> list[Entry]:
    return [
        Started(key, event.at, idempotency_key(key, run.calls[key].call.digest), event.fence, 1)
        for key in event.keys
        if key in run.startable
    ]


def _ended(run: RunState, event: Ended, _bench: Bench) -> list[Entry]:
    entry, call = event.entry, run.calls.get(event.entry.key)
    state = call.state if call is not None else None
    # What a given-up try did late says nothing of the try that runs now.
    counts = (state is State.RUNNING and not getattr(entry, "late", False)) or (
        state is State.UNKNOWN and not isinstance(entry, LostSight)
    )
    return [entry] if counts else []


def _answered(run: RunState, event: Answered, bench: Bench) -> list[Entry]:
    call = run.calls.get(event.key)
    if call is None or call.state is not State.AWAITING_APPROVAL:
        return []
    if event.approved and event.digest != call.call.digest:
        return [_decided(event, "APPROVAL_MISMATCH")]
    expires = call.asked.expires_at if call.asked is not None else None
    if event.approved and expires is not None and event.at > expires:
        return [_decided(event, "APPROVAL_EXPIRED")]
    if not event.approved:
        return [_decided(event, event.code or "APPROVAL_DENIED")]
    return [_decided(event, findings=_judged_again(run, call, event, bench))]


def _decided(event: Answered, code: str = "", findings: tuple[Finding, ...] = ()) -> Decided:
    made = event.key, event.at, event.digest
    return Decided(*made, not code, event.by, event.reason, code, findings)


def _judged_again(run: RunState, call: CallState, event: Answered, bench: Bench) -> tuple[Finding, ...]:
    """What stands against a call that a person allowed: the world may have changed while they thought."""
    tool = bench.tools.get(call.call.name)
    if tool is None:
        return (Finding("TOOL_GONE"),)
    if tool.definition.digest != call.definition:
        return (Finding("APPROVAL_MISMATCH", expected="the definition the call was made under"),)
    case = Case(
        tool, frozenset((tool.definition.name,)), event.facts, bench.policy, _sources(run, tool), can_ask=True
    )
    judgement = judge(call.call, case)
    if judgement.verdict.findings:
        return judgement.verdict.findings
    if judgement.accesses != call.accesses:
        return (Finding("RESOURCE_MOVED", expected="the resource the approval was about"),)
    return ()


def _cancel_asked(run: RunState, event: CancelAsked, _bench: Bench) -> list[Entry]:
    calls = (
        [run.calls[event.key]] if event.key in run.calls else run.calls.values() if event.key is None else ()
    )
    # A run that goes on is to stop even where nothing of it runs: the model may be speaking.
    goes_on = event.key is None and run.ended is None
    if not goes_on and all(call.state in FINAL for call in calls):
        return []
    return [CancelRequested(run.run, event.at, event.by, event.key)]


def _reopened(run: RunState, event: Reopened, _bench: Bench) -> list[Entry]:
    """After a crash.

    A reply that never ended is closed; what ran is run again where that can do no harm, else it is unknown.
    Of a store that lost the end of what was appended together, what was not judged whole is cancelled.
    """
    entries: list[Entry] = [
        TurnHeard(run.run, turn.number, turn.attempt, event.at, Finish.CUT, "", why_not="TURN_CUT")
        for turn in run.turns
        if turn.heard is None
    ]
    for call in run.in_state(State.RUNNING):
        key = call.call.key
        if call.repeatable and not call.cancel_requested:
            entries.append(Started(key, event.at, call.idempotency_key, event.fence, call.attempt + 1))
        elif call.effect is Effect.READ:
            entries.append(Raised(key, event.at, "STOPPED", evidence=f"{key}#{call.attempt}"))
        else:
            entries.append(LostSight(key, event.at, "PROCESS_DIED", evidence=f"{key}#{call.attempt}"))
    entries.extend(
        CancelRequested(run.run, event.at, "recovery", key)
        for key, call in run.calls.items()
        if call.state is State.CREATED or (call.state is State.VALIDATED and call.held)
    )
    return entries


def _noted(_run: RunState, event: Noted, _bench: Bench) -> list[Entry]:
    return [event.entry]


_DECIDE: Final[dict[type, Callable[[RunState, Any, Bench], list[Entry]]]] = {
    TurnReceived: _turn_received,
    Dispatch: _dispatch,
    Ended: _ended,
    Answered: _answered,
    CancelAsked: _cancel_asked,
    Reopened: _reopened,
    Noted: _noted,
}
