"""The one result of each call, made from what the record says of it.

In: a ``CallState``. Out: a ``ToolResult``. Promise: the same entries give the same result, in the live
process and after any recovery; what is too large is cut here and nowhere else, stays valid text, says so,
and can be paged by its handle.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from callgate.calls import (
    STATUS,
    Decided,
    LostSight,
    Provenance,
    Raised,
    Range,
    Reconciled,
    Returned,
    State,
    Status,
    ToolResult,
)

from ._machine import CallState

_HEAD_SHARE: Final = 0.75
"""Of a cut text, how much is kept from its beginning; errors and totals tend to stand at the end."""

_LOST_WORDS: Final = {
    "TIMED_OUT": "It did not answer in time and may still happen.",
    "CANCELLED": "It was stopped while running.",
    "PROCESS_DIED": "The process died while it ran.",
    "REPLY_LOST": "The connection broke before the answer came.",
}


def result_of(call: CallState) -> ToolResult:
    """The result as things stand; ``pending`` while the call waits for a person or still runs."""
    if call.state is State.SUCCEEDED:
        return _succeeded(call)
    status = STATUS[call.state]
    made, outcome = call.call, call.outcome
    code, content, evidence = call.code, None, ""
    if isinstance(outcome, Raised):
        content, evidence = _told(outcome), outcome.evidence
    elif isinstance(outcome, LostSight):
        content, evidence = _LOST_WORDS.get(outcome.cause, ""), outcome.evidence
    elif isinstance(outcome, Decided):
        content = outcome.reason or None
    elif isinstance(outcome, Reconciled):
        content = outcome.note or None
    elif call.because is not None:
        content = f"It waited for call {call.because.position + 1} of the turn."
    elif status is Status.PENDING:
        code = "APPROVAL_PENDING" if call.state in (State.AWAITING_APPROVAL, State.VALIDATED) else ""
    return ToolResult(
        made.key,
        made.call_id,
        made.name,
        status,
        code,
        content,
        call.findings,
        evidence=evidence,
        provenance=Provenance(made.name),
    )


def page(call: CallState, start: int, end: int | None = None) -> tuple[str, Range]:
    """Characters ``start`` to ``end`` (exclusive) of the whole text of a result, and the range they are.

    A value that is no text is paged as its JSON text.
    """
    text = as_text(call.outcome.content if isinstance(call.outcome, Returned | Reconciled) else None)
    stop = len(text) if end is None else min(end, len(text))
    first = min(max(start, 0), stop)
    return text[first:stop], Range(first, stop, "characters", len(text))


def as_text(content: Any) -> str:
    """A text as it is; any other JSON value as its JSON text."""
    return content if isinstance(content, str) else msgspec.json.encode(content).decode()


def _succeeded(call: CallState) -> ToolResult:
    made, outcome = call.call, call.outcome
    if not isinstance(outcome, Returned | Reconciled):
        return ToolResult(made.key, made.call_id, made.name, Status.OK)
    content, truncated, following = cut(outcome.content, outcome.limit)
    is_returned = isinstance(outcome, Returned)
    return ToolResult(
        made.key,
        made.call_id,
        made.name,
        Status.OK,
        outcome.note if is_returned else "",
        content if is_returned or content is not None else outcome.note or None,
        resource=outcome.resource,
        version=outcome.version,
        truncated=truncated,
        next_range=following or getattr(outcome, "next_range", None),
        handle=str(made.key) if truncated else "",
        provenance=Provenance(made.name, getattr(outcome, "trusted", False)),
    )


def cut(content: Any, limit: int) -> tuple[Any, bool, Range | None]:
    """A value whose text is longer than ``limit`` as head and tail; whether it was; what is left out."""
    if not limit or content is None or isinstance(content, bool | int | float):
        return content, False, None
    if isinstance(content, str):
        text = content
    else:
        encoded = msgspec.json.encode(content)
        if len(encoded) <= limit:
            return content, False, None
        text = encoded.decode()
    if len(text) <= limit:
        return content, False, None
    head = int(limit * _HEAD_SHARE)
    tail = limit - head
    left_out = len(text) - limit
    cut = f"{text[:head]}\n[… {left_out} of {len(text)} characters left out …]\n{text[-tail:]}"
    return cut, True, Range(head, len(text) - tail, "characters", len(text))


def _told(outcome: Raised) -> str | dict[str, Any] | None:
    if outcome.facts:
        return {"message": outcome.message, **outcome.facts}
    return outcome.message or None
