"""One call, and one choice, while they are received; and the one reading of a call's arguments.

In: fragments that a dialect gathered. Out: a ``ToolCall``. Promise: fragments are joined once and read
once, when the call is closed; what nothing closed is incomplete, whatever its text looks like; what cannot
be encoded as UTF-8 gets no further than here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import jiter

from callgate.calls import (
    EMPTY,
    MAX_CHARACTERS,
    CallKey,
    CallKind,
    Finding,
    Finish,
    FrozenDict,
    ServerCall,
    ToolCall,
    parse_arguments,
)

from ._loose import has_half, joined, whole
from ._sse import EVENT_BYTES, LINE_BYTES

GOOD: Final = frozenset((Finish.STOP, Finish.TOOL_CALLS))
TWO: Final = Finding("TWO_ARGUMENTS", expected="one JSON object; two different ones came under one call")

_NEVER_CLOSED: Final = Finding("CALL_INCOMPLETE", expected="a call that the reply itself closed")
_DECODER: Final = json.JSONDecoder()
_BLANKS: Final = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """How much one reply may hold: a limit against a peer that never stops."""

    line_bytes: int = LINE_BYTES
    event_bytes: int = EVENT_BYTES
    argument_characters: int = MAX_CHARACTERS
    calls: int = 1024


@dataclass(frozen=True, slots=True)
class Terms:
    """What a decoder knows of the request.

    ``names``: the name on the wire → the tool's own. ``undo``: the tool's own name → what turns arguments
    of its strict form into those of its schema. ``max_tokens``: the cap that was asked for.
    """

    dialect: str
    names: Mapping[str, str] = field(default_factory=dict)
    undo: Mapping[str, Callable[[FrozenDict], FrozenDict]] = field(default_factory=dict)
    limits: StreamLimits = StreamLimits()
    max_tokens: int | None = None


class Slot:
    """One call. ``kind`` is ``None`` for a call that the provider runs itself.

    ``given``: the arguments in one piece, where the dialect sends them so (too). ``closed``: the dialect
    ended the call. ``repeated``: its arguments came twice, the same both times.
    """

    __slots__ = (
        *("call_id", "closed", "fault", "given", "kind", "names", "parts", "position"),
        *("reading", "repeated", "size"),
    )

    def __init__(self, position: int, kind: CallKind | None, call_id: str | None) -> None:
        self.position = position
        self.kind = kind
        self.call_id = call_id
        self.names: list[str] = []
        self.parts: list[str] = []
        self.size = 0
        self.given = ""
        self.closed = False
        self.repeated = False
        self.fault: Finding | None = None
        self.reading: tuple[str, FrozenDict | Finding] | None = None

    def copy(self) -> Slot:
        """The same state, to go on from independently."""
        other = Slot(self.position, self.kind, self.call_id)
        other.names, other.parts, other.size = self.names[:], self.parts[:], self.size
        other.given, other.closed, other.repeated = self.given, self.closed, self.repeated
        other.fault, other.reading = self.fault, self.reading
        return other


class Draft:
    """One choice of the response."""

    __slots__ = ("finish", "finish_raw", "number", "reasoning", "refusal", "server", "slots", "text")

    def __init__(self, number: int) -> None:
        self.number = number
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.refusal: list[str] = []
        self.slots: list[Slot] = []
        self.server: list[Slot] = []
        self.finish: Finish | None = None
        self.finish_raw = ""

    def copy(self) -> Draft:
        """The same state, to go on from independently."""
        other = Draft(self.number)
        other.text, other.reasoning, other.refusal = self.text[:], self.reasoning[:], self.refusal[:]
        other.slots, other.server = [s.copy() for s in self.slots], [s.copy() for s in self.server]
        other.finish, other.finish_raw = self.finish, self.finish_raw
        return other


def outcome(draft: Draft) -> Finish | None:
    """How a choice ended: what it holds says more than the word the server used."""
    if draft.finish not in GOOD:
        return draft.finish
    if draft.refusal:
        return Finish.REFUSAL
    if draft.slots:
        return Finish.TOOL_CALLS
    return Finish.STOP if draft.text or draft.server else Finish.EMPTY


def paired(old: Draft, new: Draft) -> dict[int, Slot]:
    """By the identity of a slot in a draft: the one that stands for it in the draft's copy."""
    both = zip([*old.slots, *old.server], [*new.slots, *new.server], strict=True)
    return {id(before): after for before, after in both}


def call_of(slot: Slot, terms: Terms, *, is_well: bool) -> ToolCall:
    """A call as it stands. ``is_well``: nothing speaks against the reply so far.

    Where something does, an empty text is no arguments at all, and a broken one was cut.
    """
    text, read = _read(slot, terms)
    is_read = isinstance(read, FrozenDict)
    is_whole = is_well or (is_read and bool(text.strip()))
    return ToolCall(
        name=own_name(slot, terms),
        arguments=read if isinstance(read, FrozenDict) and is_whole else EMPTY,
        arguments_text=text,
        call_id=slot.call_id,
        key=CallKey("", 0, 0, slot.position),
        complete=is_whole and is_read,
        fault=_NEVER_CLOSED if not is_whole else None if isinstance(read, FrozenDict) else read,
        kind=slot.kind or CallKind.FUNCTION,
    )


def server_call_of(slot: Slot) -> ServerCall:
    """A call that the provider runs itself."""
    return ServerCall(_told(slot.names), slot.call_id, whole("".join(slot.parts)) or whole(slot.given))


def own_name(slot: Slot, terms: Terms) -> str:
    """The tool's own name: of the ways to read the fragments, the one that names a tool."""
    name = _told(slot.names)
    for candidate in (name, "".join(slot.names), *slot.names[:1]):
        if candidate in terms.names:
            return terms.names[candidate]
    return name


def is_open(text: str) -> bool:
    """Whether a text is the beginning of a JSON value and breaks off before its end."""
    try:
        jiter.from_json(text.encode())
    except ValueError as problem:
        return "EOF" in str(problem)
    return False


def _told(names: Sequence[str]) -> str:
    """A name from its fragments: a repeat of it says nothing new, anything else is its next part."""
    name = ""
    for part in names:
        name = name if part == name else name + part
    return name


def _read(slot: Slot, terms: Terms) -> tuple[str, FrozenDict | Finding]:
    if slot.reading is not None:
        return slot.reading
    text = joined("".join(slot.parts))
    if slot.given and not text.strip():
        text = joined(slot.given)
    if not slot.closed:
        return whole(text), _NEVER_CLOSED
    if slot.fault is not None:
        slot.reading = whole(text), slot.fault
    elif slot.kind is CallKind.CUSTOM:
        slot.reading = whole(text), _free_text(slot, text)
    else:
        text, read = _parsed(slot, text, terms)
        slot.reading = whole(text), read
    return slot.reading


def _free_text(slot: Slot, text: str) -> FrozenDict | Finding:
    """The input of a custom tool is no JSON."""
    if slot.given and slot.given != text:
        return TWO
    return Finding("TEXT_NOT_UNICODE", "/input") if has_half(text) else FrozenDict(input=text)


def _parsed(slot: Slot, text: str, terms: Terms) -> tuple[str, FrozenDict | Finding]:
    read = parse_arguments(text)
    if isinstance(read, Finding) and read.code == "NOT_JSON" and len(values := _values(text)) > 1:
        if len(set(values)) > 1:
            return text, TWO
        slot.repeated = True
        text, read = values[0], parse_arguments(values[0])
    if slot.given and slot.given != text and parse_arguments(slot.given) != read:
        return text, TWO
    undo = terms.undo.get(own_name(slot, terms))
    return text, undo(read) if undo is not None and isinstance(read, FrozenDict) else read


def _values(text: str) -> list[str]:
    """The JSON objects that stand one after another in a text, verbatim; none if anything else is in it."""
    found, end, text = [], 0, text.strip()
    while end < len(text):
        start = end
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        found.append(text[start:end])
        blanks = _BLANKS.match(text, end)
        end = blanks.end() if blanks else end
    return found
