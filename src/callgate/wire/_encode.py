"""Meaning → a provider's messages: the way out.

In: a turn and its results, or a whole request. Out: JSON in one dialect. Promise: every call stands beside
exactly one result, in call order, paired by identity; what cannot be paired is refused here and never sent;
ids are unique in what goes out and the same each time; the input is not changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from callgate.calls import CallKey, ToolDefinition, ToolResult, Turn
from callgate.errors import LocalProtocolError, UnknownDialectError

from ._lower import Lowered, lower_by
from ._names import WireIds
from ._request import Answered, Encoded, Exchange, Loss, Request
from ._writing import Told, Writing
from .dialects import WRITINGS


def encode(dialect: str, turn: Turn, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
    """The assistant's message, then the results of its calls as the dialect wants them.

    The results may come in any order; they go out in call order. A turn without calls gives the assistant's
    message alone.

    Raises:
        UnknownDialectError: No file of ``wire`` speaks the dialect.
        LocalProtocolError: A call has no result or two, or a result answers no call of this turn.
    """
    writing = _writing(dialect)
    return writing.heard(turn, _answered(turn, results, WireIds(writing.ids)))


def encode_request(dialect: str, request: Request) -> Encoded:
    """A whole request: system prompt, history, tools and parameters, streaming on.

    Without tools no field that speaks of tools is sent: some providers refuse an empty list.

    Raises:
        UnknownDialectError: No file of ``wire`` speaks the dialect.
        LocalProtocolError: As ``encode``; or ``tool_choice`` asks for what is not offered.
    """
    writing = _writing(dialect)
    ids = WireIds(writing.ids)
    messages: list[dict[str, Any]] = []
    for item in request.history:
        if isinstance(item, Exchange):
            messages += writing.heard(item.turn, _answered(item.turn, item.results, ids))
        else:
            messages += writing.said(item)
    strict = bool(request.parameters.get("strict"))
    told = [Told(tool, lower_by(writing.rules, tool, strict=strict)) for tool in request.tools]
    encoded = writing.body(request, messages, told)
    most = writing.rules.most_tools
    if not most or len(told) <= most:
        return encoded
    # Which ones to leave out is the host's to say; a compatible server may take them all.
    loss = Loss("", "/tools", f"{len(told)} tools are offered; the provider takes {most}")
    return replace(encoded, losses=(loss, *encoded.losses))


def lower(dialect: str, definition: ToolDefinition, *, strict: bool = False) -> Lowered:
    """A tool as a dialect's provider is told of it, and what was lost.

    Raises:
        UnknownDialectError: No file of ``wire`` speaks the dialect.
    """
    return lower_by(_writing(dialect).rules, definition, strict=strict)


def _writing(dialect: str) -> Writing:
    if dialect not in WRITINGS:
        raise UnknownDialectError("no such dialect to write in", dialect=dialect, known=sorted(WRITINGS))
    return WRITINGS[dialect]


def _answered(turn: Turn, results: Sequence[ToolResult], ids: WireIds) -> list[Answered]:
    paired = _paired(turn, results)
    return [
        Answered(wire_id, call, result)
        for wire_id, call, result in zip(ids.of(turn.calls, paired), turn.calls, paired, strict=True)
    ]


def _paired(turn: Turn, results: Sequence[ToolResult]) -> list[ToolResult]:
    """The results in call order."""
    slots: list[ToolResult | None] = [None] * len(turn.calls)
    for result in results:
        place = _place(turn, result)
        if place is None:
            message = "a result answers no call of this turn; give encode() the results of this very turn"
            raise LocalProtocolError(message, key=str(result.key), call_id=result.call_id, name=result.name)
        if slots[place] is not None:
            raise LocalProtocolError(
                "a call has two results; it gets exactly one", key=str(result.key), call_id=result.call_id
            )
        slots[place] = result
    found = [result for result in slots if result is not None]
    if len(found) < len(slots):
        open_ = [call for call, slot in zip(turn.calls, slots, strict=True) if slot is None]
        raise LocalProtocolError(
            "a call has no result; each gets exactly one, also one that was refused or not run",
            missing=[f"{call.call_id} ({call.name})" for call in open_],
        )
    if len({(result.key.run, result.key.turn, result.key.attempt) for result in found}) > 1:
        raise LocalProtocolError(
            "the results are of different turns", keys=[str(result.key) for result in found]
        )
    return found


def _place(turn: Turn, result: ToolResult) -> int | None:
    """Which call a result answers: by its key, and where it has none, by the provider's id."""
    for place, call in enumerate(turn.calls):
        # A decoder knows a call's position only; the gate knows the rest of the key.
        key = result.key if call.key.run else CallKey(position=result.key.position)
        if key == (call.key if call.key.run else CallKey(position=place)):
            if result.call_id == call.call_id and result.name == call.name:
                return place
            break
    if result.key != CallKey() or not result.call_id:
        return None
    same = [place for place, call in enumerate(turn.calls) if call.call_id == result.call_id]
    return same[0] if len(same) == 1 else None
