"""One JSON object in plain text, the way in: what a model writes that knows roles and nothing of tools.

In: UTF-8 bytes, cut anywhere. Out: text while it is written, and one call at most. Promise: the reply is
complete only when the object's closing brace and a line break after it were seen; anything less is a cut
turn. Every character is looked at once while it arrives and parsed once at the end.

The form, of which ``_json_mode_request`` tells the model::

    {"tool": "<name>", "arguments": {…}}      a call
    {"text": "…"}                             an answer; beside a call, what is said with it

The names may stand in any order; ``"tool": null`` is no call. Text before the object is text of the turn, and
a Markdown fence around the object is no part of it. The object begins at the first ``{`` that a ``"``
follows. After it only white space (and the end of the fence) may come.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy as shallow
from typing import Final, Self

from callgate.calls import (
    CallKind,
    Finding,
    Finish,
    FrozenDict,
    StreamEvent,
    StreamFault,
    parse_arguments,
    pointer,
)
from callgate.wire._assembly import BROKEN, Assembly
from callgate.wire._dialect import Decoding
from callgate.wire._loose import has_half, whole
from callgate.wire._slot import Slot, paired

_FORM: Final = 'one JSON object with "tool" and "arguments", or with "text"'
_TRAILING: Final = StreamFault("FORM_BROKEN", "more than white space came after the JSON object")

_MARK: Final = re.compile(r'["{}\[\]:,]')
_IN_STRING: Final = re.compile(r'["\\]')
_PAIR: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_HIGH: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_ON_LINE: Final = re.compile(r"[ \t\r]*")
_FENCE: Final = "```"
_NULL: Final = "null"
_HELD: Final = 8
"""Characters of the arguments that are held back while they may still be ``null``."""


class _State:
    """A machine over characters: a function of ``_MODES`` takes text from a place and says how far it came.

    ``envelope``: the object without its arguments, in whose place ``null`` stands. ``awaits``: what comes
    next in the object: a ``key``, a ``colon`` or a ``value``. ``key``: the name whose value is read.
    ``sink``: what the string being read is: ``key``, ``tool``, ``text`` or nothing of interest. ``waiting``:
    arguments that cannot be told yet. ``tail``: the part of an escape that has arrived.
    """

    assembly: Assembly

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.bytes = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self.mode = "prose"
        self.size, self.depth, self.ticks = 0, 0, 0
        self.tail, self.key, self.sink, self.awaits = "", "", "", "key"
        self.prose: list[str] = []
        self.envelope: list[str] = []
        self.string: list[str] = []
        self.waiting: list[str] = []
        self.slot: Slot | None = None
        self.fenced = self.damaged = self.said = self.argued = False

    def copy(self, assembly: Assembly) -> Self:
        """The same state over a copy of the assembly."""
        other = shallow(self)
        other.bytes = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        other.bytes.setstate(self.bytes.getstate())
        other.prose, other.envelope = self.prose[:], self.envelope[:]
        other.string, other.waiting = self.string[:], self.waiting[:]
        if self.slot is not None:
            other.slot = paired(self.assembly.draft(0), assembly.draft(0))[id(self.slot)]
        other.assembly = assembly
        return other

    def take(self, event: bytes, out: list[StreamEvent]) -> None:
        """More bytes."""
        self._read(self.bytes.decode(event), out)

    def take_all(self, events: Iterable[bytes], out: list[StreamEvent]) -> None:
        """More bytes, several times."""
        for chunk in events:
            self.take(chunk, out)

    def end(self) -> None:
        """Nothing more comes: what is not complete is cut. Text without an object is text of the turn."""
        self._read(self.bytes.decode(b"", True), [])
        if self.mode in ("prose", "opening"):
            self.assembly.say(self.assembly.draft(0), "text", whole("".join(self.prose)), [])

    def _read(self, new: str, out: list[StreamEvent]) -> None:
        limit = self.assembly.terms.limits.event_bytes
        left, self.size = limit - self.size, self.size + len(new)
        text, at, self.tail = self.tail + new[: max(left, 0)], 0, ""
        while at < len(text):
            at = _MODES[self.mode](self, text, at, out)
        if self.size > limit and self.mode != "dead":
            self.mode = "dead"
            self.assembly.fault(StreamFault("TOO_LARGE", f"the reply has more than {limit} characters"), out)


# ---------------------------------------------------------------- before and after the object


def _prose(state: _State, text: str, at: int, _: list[StreamEvent]) -> int:
    brace = text.find("{", at)
    state.prose.append(text[at : brace + 1] if brace >= 0 else text[at:])
    if brace < 0:
        return len(text)
    state.mode = "opening"
    return brace + 1


def _opening(state: _State, text: str, at: int, out: list[StreamEvent]) -> int:
    """After a brace: white space says nothing yet, a quote opens the object, anything else is prose."""
    space = _run(_SPACE, text, at)
    state.prose.append(text[at:space])
    if space == len(text):
        return space
    state.mode = "prose"
    if text[space] == '"':
        state.mode, state.depth = "object", 1
        state.envelope.append("{")
        _say_prose(state, out)
    return space


def _say_prose(state: _State, out: list[StreamEvent]) -> None:
    prose = "".join(state.prose).rstrip()[:-1].rstrip()
    head, fence, language = prose.rpartition(_FENCE)
    if fence and (not language or language.isalnum()):
        state.fenced, prose = True, head.rstrip()
    state.said = bool(prose.strip())
    if state.said:
        state.assembly.say(state.assembly.draft(0), "text", whole(prose), out)


def _after(state: _State, text: str, at: int, out: list[StreamEvent]) -> int:
    space = _run(_ON_LINE, text, at)
    if space == len(text):
        return space
    if text[space] != "\n":
        return _junk(state, text, out)
    state.mode = "trail"
    _complete(state, out)
    return space + 1


def _trail(state: _State, text: str, at: int, out: list[StreamEvent]) -> int:
    space = _run(_SPACE, text, at)
    if space == len(text):
        return space
    if text[space] == "`" and state.fenced and state.ticks < len(_FENCE):
        state.ticks += 1
        return space + 1
    return _junk(state, text, out)


def _junk(state: _State, text: str, out: list[StreamEvent]) -> int:
    state.mode = "dead"
    state.assembly.fault(_TRAILING, out)
    return len(text)


def _dead(_state: _State, text: str, _at: int, _out: list[StreamEvent]) -> int:
    return len(text)


# ---------------------------------------------------------------- the object


def _object(state: _State, text: str, at: int, _: list[StreamEvent]) -> int:
    place = _until(_MARK, text, at)
    state.envelope.append(text[at : place + 1])
    if place == len(text):
        return place
    mark, is_top = text[place], state.depth == 1
    if mark == '"':
        state.mode, state.string = "string", []
        is_told = state.awaits == "value" and state.key in ("tool", "text")
        state.sink = "" if not is_top else "key" if state.awaits == "key" else state.key if is_told else ""
    elif mark in "{[":
        state.depth += 1
    elif mark in "}]":
        state.depth -= 1
        if not state.depth:
            state.mode = "after"
    elif is_top and mark == ":":
        if state.awaits == "colon" and state.key == "arguments":
            state.mode = "arguments"
        state.awaits = "value"
    elif is_top:
        state.awaits, state.key = "key", ""
    return place + 1


def _string(state: _State, text: str, at: int, out: list[StreamEvent]) -> int:
    place = _until(_IN_STRING, text, at)
    _sink(state, text[at:place], out)
    state.envelope.append(text[at:place])
    if place == len(text):
        return place
    if text[place] == '"':
        state.envelope.append('"')
        state.mode = "object"
        _end_string(state, out)
        return place + 1
    size = _escape(text, place)
    if not size:
        state.tail = text[place:]
        return len(text)
    written = text[place : place + size]
    state.envelope.append(written)
    try:
        _sink(state, json.loads(f'"{written}"'), out)
    except ValueError:
        # The parse of the envelope will say so.
        _sink(state, written, out)
    return place + size


def _escape(text: str, place: int) -> int:
    """How long the escape is that begins here; 0 where that cannot be told before more arrives."""
    if text[place + 1 : place + 2] != "u":
        return 2 if place + 1 < len(text) else 0
    if _PAIR.match(text, place):
        return 12
    after = text[place + 6 : place + 12]
    if _HIGH.match(text, place) and ("\\u".startswith(after) or (after.startswith("\\u") and len(after) < 6)):
        return 0
    return 6 if place + 6 <= len(text) else 0


def _sink(state: _State, piece: str, out: list[StreamEvent]) -> None:
    if state.sink == "text" and piece:
        gap, state.said = "\n\n" if state.said else "", False
        state.assembly.say(state.assembly.draft(0), "text", gap + whole(piece), out)
    elif state.sink:
        state.string.append(piece)


def _end_string(state: _State, out: list[StreamEvent]) -> None:
    told = whole("".join(state.string))
    if state.sink == "key":
        state.key, state.awaits = told, "colon"
    elif state.sink:
        state.awaits = ""
        if state.sink == "tool" and told and state.slot is None:
            draft = state.assembly.draft(0)
            state.slot = state.assembly.open(draft, CallKind.FUNCTION, None, out)
            state.assembly.name(draft, state.slot, told, out)
            _argue(state, "", out)


def _arguments(state: _State, text: str, at: int, out: list[StreamEvent]) -> int:
    place = _until(_MARK, text, at)
    mark = text[place : place + 1]
    if state.depth == 1 and mark in (",", "}", "]"):
        _argue(state, text[at:place], out)
        # An empty value is no JSON, with its stand-in neither.
        state.envelope.append(_NULL if state.argued else "")
        state.mode, state.awaits = "object", ""
        return place
    _argue(state, text[at : place + 1], out)
    if mark == '"':
        state.mode = "argument string"
    elif mark in ("{", "["):
        state.depth += 1
    elif mark in ("}", "]"):
        state.depth -= 1
    return place + len(mark)


def _argument_string(state: _State, text: str, at: int, out: list[StreamEvent]) -> int:
    place = _until(_IN_STRING, text, at)
    if text[place : place + 1] == "\\":
        if place + 1 == len(text):
            state.tail, size = text[place:], 0
        else:
            size = 2
        _argue(state, text[at : place + size], out)
        return place + size if size else len(text)
    _argue(state, text[at : place + 1], out)
    if place < len(text):
        state.mode = "arguments"
    return place + 1


def _argue(state: _State, piece: str, out: list[StreamEvent]) -> None:
    """More of the arguments; held back while no tool is known, and while they may be ``null`` for none."""
    if has_half(piece):
        state.damaged, piece = True, whole(piece)
    if not state.waiting and not (state.slot and state.slot.parts):
        piece = piece.lstrip()
    if piece:
        state.argued = True
        state.waiting.append(piece)
    if state.slot is None or not state.waiting:
        return
    held = "".join(state.waiting)
    if state.slot.parts or len(held) > _HELD or not _NULL.startswith(held.strip()):
        state.assembly.arguments(state.assembly.draft(0), state.slot, held, out)
        state.waiting = []


# ---------------------------------------------------------------- the end


def _complete(state: _State, out: list[StreamEvent]) -> None:
    assembly, draft, slot = state.assembly, state.assembly.draft(0), state.slot
    fault = _fault(parse_arguments("".join(state.envelope)))
    finish = Finish.TOOL_CALLS if slot is not None else Finish.STOP
    if slot is not None:
        if (held := "".join(state.waiting).strip()) != _NULL:
            assembly.arguments(draft, slot, held, out)
        slot.fault = slot.fault or fault or (BROKEN if state.damaged else None)
        assembly.close(draft, slot, out)
    elif fault is not None:
        place = f" at {fault.where}" if fault.where else ""
        assembly.fault(StreamFault("FORM_BROKEN", f"the reply is not as asked{place}: {fault.expected}"), out)
        finish = Finish.ERROR
    assembly.certain = True
    assembly.end(draft, finish, "", out)


def _fault(envelope: FrozenDict | Finding) -> Finding | None:
    """What is not as the form wants it."""
    if isinstance(envelope, Finding):
        return envelope
    for name in envelope:
        if name not in ("tool", "arguments", "text"):
            return Finding("NOT_JSON", pointer((name,)), _FORM)
    tool, text = envelope.get("tool"), envelope.get("text")
    is_well = (
        (tool is None or (isinstance(tool, str) and tool != ""))
        and (isinstance(text, str) or (text is None and "tool" in envelope))
        and ("tool" in envelope or "arguments" not in envelope)
    )
    return None if is_well else Finding("NOT_JSON", "", _FORM)


def _run(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _until(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.search(text, at)
    return match.start() if match else len(text)


_MODES: Final[Mapping[str, Callable[[_State, str, int, list[StreamEvent]], int]]] = {
    "prose": _prose,
    "opening": _opening,
    "object": _object,
    "string": _string,
    "arguments": _arguments,
    "argument string": _argument_string,
    "after": _after,
    "trail": _trail,
    "dead": _dead,
}

DECODING: Final = Decoding(framing="raw", state=_State)
