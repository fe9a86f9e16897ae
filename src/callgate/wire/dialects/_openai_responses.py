"""OpenAI Responses.

In: events of a ``responses`` stream. Out: calls, text, reasoning, usage and the end of the response.
Promise: items are told apart by ``output_index`` (ids may change in every event); a call is closed by its
item's ``done``, and the turn by ``response.completed`` alone; an event that comes twice counts once.

OpenAI API reference, "Responses, Streaming events".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Self

import msgspec

from callgate.calls import ArgumentsDelta, CallKind, Finish, StreamEvent, TextDelta
from callgate.wire._assembly import Assembly, counted, is_item, provider_fault
from callgate.wire._dialect import Decoding
from callgate.wire._loose import opened, verbatim, whole
from callgate.wire._slot import Slot, paired

_OURS: Final = {
    "function_call": CallKind.FUNCTION,
    "custom_tool_call": CallKind.CUSTOM,
    "mcp_approval_request": CallKind.BUILTIN,
}
_THEIRS: Final = frozenset(
    (
        *("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"),
        *("mcp_call", "tool_search_call"),
    )
)
_INCOMPLETE: Final = {"max_output_tokens": Finish.LENGTH, "content_filter": Finish.FILTERED}


class _Item(msgspec.Struct, gc=False):
    """What of an output item tells what it is, and a call's arguments."""

    type: str | None = None
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    input: str | None = None
    status: str | None = None
    execution: str | None = None
    environment: Any = None
    content: Any = None


class _Cached(msgspec.Struct, gc=False):
    cached_tokens: int | None = None


class _Reasoned(msgspec.Struct, gc=False):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _Cached | None = None
    output_tokens_details: _Reasoned | None = None


class _Reason(msgspec.Struct, gc=False):
    reason: str | None = None


class _Response(msgspec.Struct, gc=False):
    id: str | None = None
    usage: _Usage | None = None
    error: Any = None
    incomplete_details: _Reason | None = None
    output: list[msgspec.Raw] | None = None


class _Event(msgspec.Struct, gc=False):
    type: str
    sequence_number: int | None = None
    output_index: int | None = None
    item_id: str | None = None
    item: msgspec.Raw = msgspec.Raw()
    delta: str | None = None
    arguments: str | None = None
    input: str | None = None
    response: _Response | None = None
    error: Any = None
    code: Any = None
    message: str | None = None


class _Open:
    """An output item. ``spoke``: some of its text came in deltas. ``done``: its end came."""

    __slots__ = ("done", "slot", "spoke", "type")

    def __init__(self, type_: str, slot: Slot | None = None) -> None:
        self.type = type_
        self.slot = slot
        self.spoke = self.done = False

    def copy(self, slots: dict[int, Slot]) -> _Open:
        other = _Open(self.type, slots[id(self.slot)] if self.slot else None)
        other.spoke, other.done = self.spoke, self.done
        return other

    def is_of(self, head: _Item) -> bool:
        """Whether an item's end is the end of this one, or tells it again."""
        if self.type != (head.type or self.type):
            return False
        return not (self.done and self.slot and head.call_id) or self.slot.call_id == whole(head.call_id)


class _State:
    """One response. ``items``: output index → the item there; ``last``: the last numbered event."""

    __slots__ = ("assembly", "items", "last", "number")

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.items: dict[int | str | None, _Open] = {}
        self.number = -1
        self.last: _Event | None = None

    def copy(self, assembly: Assembly) -> Self:
        """The same state over a copy of the assembly."""
        other = type(self)(assembly)
        slots = paired(self.assembly.draft(0), assembly.draft(0))
        other.items = {key: item.copy(slots) for key, item in self.items.items()}
        other.number, other.last = self.number, self.last
        return other

    def take_all(self, events: Iterable[_Event], out: list[StreamEvent]) -> None:
        """The quick way, for more of a call's arguments and for more text; it does what ``take`` does."""
        limit, texts = self.assembly.terms.limits.argument_characters, self.assembly.draft(0).text
        items, add = self.items, out.append
        is_quick = not self.assembly.held
        for event in events:
            if (
                is_quick
                and (text := event.delta)
                and (number := event.sequence_number) is not None
                and number > self.number
                and (item := items.get(event.output_index)) is not None
            ):
                slot = item.slot
                if event.type == "response.output_text.delta" and item.spoke:
                    self.number, self.last = number, event
                    texts.append(text)
                    add(TextDelta(text))
                    continue
                if (
                    event.type == "response.function_call_arguments.delta"
                    and slot is not None
                    and slot.kind is CallKind.FUNCTION
                    and not slot.closed
                    and (size := slot.size + len(text)) <= limit
                ):
                    self.number, self.last = number, event
                    slot.size = size
                    slot.parts.append(text)
                    add(ArgumentsDelta(slot.position, text))
                    continue
            self.take(event, out)
            is_quick = not self.assembly.held

    def take(self, event: _Event, out: list[StreamEvent]) -> None:
        """One event; nothing where its type is not known, or it came before."""
        number = event.sequence_number
        if number is not None:
            if number < self.number or (number == self.number and event == self.last):
                return
            self.number, self.last = number, event
        step = _STEPS.get(event.type)
        if step is not None:
            step(self, event, out)

    def end(self) -> None:
        """The stream's end closes nothing."""


# ---------------------------------------------------------------- items


def _added(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    head, _ = opened(_Item, event.item)
    state.items[_key(event, head)] = _opened(state, head, out)


def _opened(state: _State, head: _Item, out: list[StreamEvent]) -> _Open:
    slot, type_ = None, head.type or ""
    is_ours = type_ in _OURS or (type_.endswith("_call") and not _is_theirs(head))
    if is_ours or type_.endswith("_call"):
        assembly, draft = state.assembly, state.assembly.draft(0)
        kind = _OURS.get(type_, CallKind.BUILTIN) if is_ours else None
        slot = assembly.open(draft, kind, head.call_id or head.id, out)
        name = type_ if kind is CallKind.BUILTIN else head.name or ("" if kind else type_)
        assembly.name(draft, slot, name, out)
    return _Open(type_, slot)


def _done(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    assembly, draft = state.assembly, state.assembly.draft(0)
    head, loose = opened(_Item, event.item)
    key = _key(event, head)
    item = state.items.get(key)
    if item is None or not item.is_of(head):
        item = state.items[key] = _opened(state, head, out)
    slot, item.done = item.slot, True
    before, assembly.loose = assembly.loose, loose or assembly.loose
    if slot is None:
        _said(state, item, head, out)
    elif slot.kind is CallKind.BUILTIN:
        assembly.give(slot, bytes(event.item).decode("utf-8", "replace"), out)
    else:
        assembly.give(slot, head.arguments or head.input or "", out)
        if not slot.names:
            assembly.name(draft, slot, head.name or "", out)
    assembly.loose = before
    # "in_progress" here is a server's slip: the item is done all the same.
    if slot is not None and head.status != "incomplete":
        assembly.close(draft, slot, out)
    if head.type != "message" and (slot is None or slot.kind is None):
        assembly.kept += filter(is_item, [verbatim(event.item)])


def _said(state: _State, item: _Open, head: _Item, out: list[StreamEvent]) -> None:
    """The text of a message that came without deltas."""
    if item.spoke or head.type != "message" or not isinstance(head.content, list):
        return
    for part in head.content:
        for name in ("text", "refusal"):
            if isinstance(part, dict) and isinstance(part.get(name), str):
                state.assembly.say(state.assembly.draft(0), name, part[name], out)


# ---------------------------------------------------------------- deltas


def _arguments(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    slot = _slot(state, event)
    if slot is not None:
        state.assembly.arguments(state.assembly.draft(0), slot, event.delta or "", out)


def _arguments_done(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    slot = _slot(state, event)
    if slot is not None:
        state.assembly.give(slot, event.arguments or event.input or "", out)


def _slot(state: _State, event: _Event) -> Slot | None:
    """The call whose arguments these are. If its beginning was missed, the end of its item has them all."""
    item = state.items.get(_key(event))
    return None if item is None else item.slot


def _text(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    field = "refusal" if event.type == "response.refusal.delta" else "text"
    state.items.setdefault(_key(event), _Open("message")).spoke = True
    state.assembly.say(state.assembly.draft(0), field, event.delta or "", out)


def _reasoning(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    state.assembly.say(state.assembly.draft(0), "reasoning", event.delta or "", out)


# ---------------------------------------------------------------- the response


def _created(state: _State, event: _Event, _: list[StreamEvent]) -> None:
    response = event.response or _Response()
    state.assembly.response_id = state.assembly.response_id or whole(response.id or "")


def _completed(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    response = _ended(state, event, out)
    if not state.items:
        # Nothing was streamed, so the response itself has the items.
        for index, raw in enumerate(response.output or ()):
            _done(state, _Event("", output_index=index, item=raw), out)
    state.assembly.end(state.assembly.draft(0), Finish.STOP, "completed", out)


def _incomplete(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    response = _ended(state, event, out)
    reason = (response.incomplete_details or _Reason()).reason or ""
    finish = _INCOMPLETE.get(reason, Finish.ERROR)
    state.assembly.end(state.assembly.draft(0), finish, f"incomplete/{reason}", out)


def _failed(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    response = _ended(state, event, out)
    word = event.type.removeprefix("response.")
    state.assembly.fault(provider_fault(response.error or f"the response was {word}"), out)
    state.assembly.end(state.assembly.draft(0), Finish.ERROR, word, out)


def _error(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    told = event.error or {"code": event.code, "message": event.message}
    state.assembly.fault(provider_fault(told), out)


def _ended(state: _State, event: _Event, out: list[StreamEvent]) -> _Response:
    _created(state, event, out)
    state.assembly.certain = True
    response = event.response or _Response()
    told = response.usage or _Usage()
    state.assembly.usage = counted(
        state.assembly.usage,
        input_tokens=told.input_tokens,
        output_tokens=told.output_tokens,
        cached_tokens=(told.input_tokens_details or _Cached()).cached_tokens,
        reasoning_tokens=(told.output_tokens_details or _Reasoned()).reasoning_tokens,
    )
    return response


def _key(event: _Event, head: _Item | None = None) -> int | str | None:
    if event.output_index is not None:
        return event.output_index
    return event.item_id or (head.id if head else None)


def _is_theirs(head: _Item) -> bool:
    """Whether the provider runs this call: by its type, unless the item says who does."""
    if head.execution:
        return head.execution == "server"
    if isinstance(head.environment, dict):
        return head.environment.get("type") != "local"
    return head.type in _THEIRS


_STEPS: Final[dict[str, Callable[[_State, _Event, list[StreamEvent]], None]]] = {
    "response.created": _created,
    "response.output_item.added": _added,
    "response.output_item.done": _done,
    "response.function_call_arguments.delta": _arguments,
    "response.function_call_arguments.done": _arguments_done,
    "response.custom_tool_call_input.delta": _arguments,
    "response.custom_tool_call_input.done": _arguments_done,
    "response.mcp_call_arguments.delta": _arguments,
    "response.mcp_call_arguments.done": _arguments_done,
    "response.output_text.delta": _text,
    "response.refusal.delta": _text,
    "response.reasoning_summary_text.delta": _reasoning,
    "response.reasoning_text.delta": _reasoning,
    "response.completed": _completed,
    "response.incomplete": _incomplete,
    "response.failed": _failed,
    "response.cancelled": _failed,
    "error": _error,
}

DECODING: Final = Decoding(framing="sse", state=_State, event=_Event)
