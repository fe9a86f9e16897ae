"""Anthropic Messages.

In: events of a ``messages`` stream. Out: calls, text, thinking, usage and the end of the message. Promise:
a call is closed by its ``content_block_stop`` alone, and the turn by ``message_stop`` alone.

Anthropic API reference, "Streaming Messages"; block types and stop reasons as in "Messages".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Self

import msgspec

from callgate.calls import ArgumentsDelta, CallKind, Finish, StreamEvent, StreamFault, TextDelta, Usage
from callgate.wire._assembly import Assembly, is_item, provider_fault
from callgate.wire._dialect import Decoding
from callgate.wire._loose import opened, verbatim, whole
from callgate.wire._slot import Slot, paired

_FINISH: Final = {
    **dict.fromkeys(("end_turn", "stop_sequence", "pause_turn"), Finish.STOP),
    "tool_use": Finish.TOOL_CALLS,
    **dict.fromkeys(("max_tokens", "model_context_window_exceeded"), Finish.LENGTH),
    "refusal": Finish.REFUSAL,
}
_KINDS: Final[dict[str, CallKind | None]] = {
    "tool_use": CallKind.FUNCTION,
    "server_tool_use": None,
    "mcp_tool_use": None,
}
_SECOND: Final = StreamFault(
    "SECOND_MESSAGE", "the message began a second time; what came of the first one is dropped", fatal=False
)


class _Delta(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    signature: str | None = None
    stop_reason: str | None = None


class _Usage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Message(msgspec.Struct, gc=False):
    id: str | None = None
    usage: _Usage | None = None


class _Content(msgspec.Struct, gc=False):
    """The head of a content block."""

    type: str | None = None
    id: str | None = None
    name: str | None = None
    text: str | None = None
    thinking: str | None = None
    input: msgspec.Raw = msgspec.Raw()


class _Event(msgspec.Struct, gc=False):
    type: str
    index: int | None = None
    delta: _Delta | None = None
    content_block: msgspec.Raw = msgspec.Raw()
    message: _Message | None = None
    usage: _Usage | None = None
    error: Any = None


class _Block:
    """A content block while it is received; ``head`` is how it began."""

    __slots__ = ("head", "parts", "signature", "slot", "type")

    def __init__(self, type_: str, head: msgspec.Raw, slot: Slot | None) -> None:
        self.type = type_
        self.head = head
        self.slot = slot
        self.parts: list[str] = []
        self.signature: list[str] = []

    def copy(self, slots: dict[int, Slot]) -> _Block:
        other = _Block(self.type, self.head, slots[id(self.slot)] if self.slot else None)
        other.parts, other.signature = self.parts[:], self.signature[:]
        return other


class _State:
    """One response. ``blocks``: index → the block that stands there; ``every``: all of the message."""

    __slots__ = ("assembly", "blocks", "every", "reason", "usage")

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.blocks: dict[int | None, _Block] = {}
        self.every: list[_Block] = []
        self.reason = ""
        self.usage = _Usage()

    def copy(self, assembly: Assembly) -> Self:
        """The same state over a copy of the assembly."""
        other = type(self)(assembly)
        slots = paired(self.assembly.draft(0), assembly.draft(0))
        copies = {id(block): block.copy(slots) for block in self.every}
        other.every = list(copies.values())
        other.blocks = {index: copies[id(block)] for index, block in self.blocks.items()}
        other.reason, other.usage = self.reason, self.usage
        return other

    def take_all(self, events: Iterable[_Event], out: list[StreamEvent]) -> None:
        """The quick way, for more of a call's input and for more text; it does what ``take`` does."""
        limit, texts = self.assembly.terms.limits.argument_characters, self.assembly.draft(0).text
        blocks, add = self.blocks, out.append
        is_quick = not self.assembly.held
        for event in events:
            if (
                is_quick
                and event.type == "content_block_delta"
                and (delta := event.delta) is not None
                and (block := blocks.get(event.index)) is not None
            ):
                text = delta.partial_json
                slot = block.slot
                if (
                    text
                    and slot is not None
                    and slot.kind is not None
                    and not slot.closed
                    and (size := slot.size + len(text)) <= limit
                ):
                    slot.size = size
                    slot.parts.append(text)
                    add(ArgumentsDelta(slot.position, text))
                    continue
                if block.type == "text" and (text := delta.text):
                    texts.append(text)
                    add(TextDelta(text))
                    continue
            self.take(event, out)
            is_quick = not self.assembly.held

    def take(self, event: _Event, out: list[StreamEvent]) -> None:
        """One event; nothing where its type is not known."""
        step = _STEPS.get(event.type)
        if step is not None:
            step(self, event, out)

    def end(self) -> None:
        """Keep what the next request has to repeat: every block that is neither text nor a call of ours."""
        kept = [
            _rebuilt(block)
            for block in self.every
            if block.type != "text" and (block.slot is None or block.slot.kind is None)
        ]
        self.assembly.kept = list(filter(is_item, kept))


def _message_start(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    message = event.message or _Message()
    if state.every:
        _abandon(state, out)
    state.assembly.response_id = whole(message.id or "") or state.assembly.response_id
    _count(state, message.usage)


def _abandon(state: _State, out: list[StreamEvent]) -> None:
    """A gateway began anew in mid message: the calls so far stay visible and can never run."""
    draft = state.assembly.draft(0)
    state.assembly.fault(_SECOND, out)
    for slot in draft.slots:
        slot.closed, slot.reading = False, None
    state.blocks.clear()
    state.every, state.reason = [], ""
    for parts in (draft.text, draft.reasoning, draft.server):
        parts.clear()


def _block_start(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    assembly, draft = state.assembly, state.assembly.draft(0)
    head, loose = opened(_Content, event.content_block)
    before, assembly.loose = assembly.loose, loose or assembly.loose
    type_, slot = head.type or "", None
    if type_.endswith("tool_use"):
        slot = assembly.open(draft, _KINDS.get(type_, CallKind.BUILTIN), head.id, out)
        assembly.name(draft, slot, head.name or "", out)
        given = bytes(head.input).decode("utf-8", "replace")
        if given.strip("{} \t\r\n") not in ("", "null"):
            assembly.give(slot, given, out)
    block = _Block(type_, event.content_block, slot)
    state.blocks[event.index] = block
    state.every.append(block)
    _more(state, block, (head.text, head.thinking), out)
    assembly.loose = before


def _block_delta(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    block, delta = state.blocks.get(event.index), event.delta
    if block is None or delta is None:
        return
    if block.slot is not None:
        state.assembly.arguments(state.assembly.draft(0), block.slot, delta.partial_json or "", out)
    _more(state, block, (delta.text, delta.thinking), out)
    if delta.signature:
        block.signature.append(delta.signature)


def _more(state: _State, block: _Block, told: tuple[str | None, str | None], out: list[StreamEvent]) -> None:
    draft = state.assembly.draft(0)
    text, thinking = told
    state.assembly.say(draft, "text", text or "", out)
    state.assembly.say(draft, "reasoning", thinking or "", out)
    if block.type != "text":
        block.parts += filter(None, told)


def _block_stop(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    block = state.blocks.pop(event.index, None)
    if block is not None and block.slot is not None:
        state.assembly.close(state.assembly.draft(0), block.slot, out)


def _message_delta(state: _State, event: _Event, _: list[StreamEvent]) -> None:
    _count(state, event.usage)
    if event.delta is not None and event.delta.stop_reason:
        state.reason = event.delta.stop_reason


def _message_stop(state: _State, _: _Event, out: list[StreamEvent]) -> None:
    state.assembly.certain = True
    if state.reason:
        finish = _FINISH.get(state.reason, Finish.ERROR)
        state.assembly.end(state.assembly.draft(0), finish, state.reason, out)


def _error(state: _State, event: _Event, out: list[StreamEvent]) -> None:
    state.assembly.fault(provider_fault(event.error or "the server reported an error"), out)


def _count(state: _State, told: _Usage | None) -> None:
    """Take in usage; a later event tells what changed."""
    if told is None:
        return
    changed = {name: value for name, value in msgspec.structs.asdict(told).items() if value is not None}
    now = state.usage = msgspec.structs.replace(state.usage, **changed)
    read, written = now.cache_read_input_tokens or 0, now.cache_creation_input_tokens or 0
    state.assembly.usage = Usage((now.input_tokens or 0) + read + written, now.output_tokens or 0, read)


def _rebuilt(block: _Block) -> Any:
    """The block as it would have come in one piece."""
    value = verbatim(block.head)
    if not isinstance(value, dict):
        return value
    text = whole("".join(block.parts))
    if block.slot is not None and (told := whole("".join(block.slot.parts)).strip()):
        value["input"] = verbatim(msgspec.Raw(told.encode()))
    for name in ("thinking", "text"):
        if text and name in value:
            value[name] = text
    return {**value, "signature": whole("".join(block.signature))} if block.signature else value


_STEPS: Final[dict[str, Callable[[_State, _Event, list[StreamEvent]], None]]] = {
    "message_start": _message_start,
    "content_block_start": _block_start,
    "content_block_delta": _block_delta,
    "content_block_stop": _block_stop,
    "message_delta": _message_delta,
    "message_stop": _message_stop,
    "error": _error,
}

DECODING: Final = Decoding(framing="sse", state=_State, event=_Event)
