"""The public decoder: bytes in, stream events out, the whole turn at the end.

In: chunks of a response body in any dialect of the table. Out: ``StreamEvent`` values, and one ``Turn``.
Promise: the same bytes give the same events and the same turn, however the network cuts them; time is
linear in the bytes; what the peer gets wrong is a value and never an exception.

Each event is decoded typed, many at once where the framing proves that they stand one to a line; an event
that typed decoding refuses is read tolerantly, alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy as shallow
from functools import partial
from typing import Any, Final, Self

import msgspec

from callgate.calls import FrozenDict, StreamEvent, StreamFault, ToolDefinition, Turn
from callgate.errors import LocalProtocolError, UnknownDialectError
from callgate.schema import undo

from ._assembly import Assembly, provider_fault
from ._dialect import Decoding, DialectState
from ._encode import lower
from ._loose import Loose, fit, parsed, read
from ._names import wire_name
from ._ndjson import NdjsonParser
from ._runs import DONE, Run, take
from ._slot import StreamLimits, Terms
from ._sse import STRAY, Block, SseParser
from ._turn import build
from .dialects import DIALECTS

_LIMITS: Final = StreamLimits()
_UNREADABLE: Final = StreamFault("EVENT_UNREADABLE", "an event of the stream is not JSON")
_IGNORED: Final = StreamFault("EVENT_IGNORED", "an event of the stream is no JSON object", fatal=False)
_STRAY: Final = "bare text that is neither an event nor JSON: "
_WORDS: Final = 400
"""Bytes of such a text that are told."""
_ERROR_BEGUN: Final = re.compile(rb'\s*\{\s*"error"\s*:\s*[{"]')
"""How an event begins that tells an error and nothing else, though its end was cut off."""
_TOO_DEEP: Final = StreamFault("TOO_DEEP", "an event of the stream is nested too deeply")
_ERRORS: Final = (STRAY, b"error")
_NO_STREAM: Final = StreamFault("NOT_A_STREAM", "one JSON value came where a stream was asked for")


class Decoder:
    """One response.

    Args:
        dialect: A name of ``DIALECTS``.
        tools: The tools that were offered: they tell how a name in pieces is meant, and undo the strict form.
        strict: The tools went out in the provider's strict form, where ``null`` may mean nothing is given.
        limits: How much the response may hold.
        max_tokens: The cap on output tokens that was asked for: a reply of as many may be a cut one.

    Raises:
        UnknownDialectError: No dialect has this name.
    """

    __slots__ = (
        "_assembly",
        "_decode",
        "_decoder",
        "_dialect",
        "_parser",
        "_plain",
        "_state",
        "_take_all",
        "_turn",
    )

    def __init__(
        self,
        dialect: str,
        tools: Sequence[ToolDefinition] = (),
        *,
        strict: bool = False,
        limits: StreamLimits = _LIMITS,
        max_tokens: int | None = None,
    ) -> None:
        if dialect not in DIALECTS:
            raise UnknownDialectError("no such dialect", dialect=dialect, known=sorted(DIALECTS))
        self._dialect: Decoding = DIALECTS[dialect]
        self._decoder = msgspec.json.Decoder(self._dialect.event)
        self._decode = self._decoder.decode
        self._parser: SseParser | NdjsonParser | None = None
        self._plain: Callable[[bytes], bytes | None] = _not_plain
        if self._dialect.framing == "sse":
            self._parser = SseParser(line_bytes=limits.line_bytes, event_bytes=limits.event_bytes)
        elif self._dialect.framing == "ndjson":
            self._parser = NdjsonParser(line_bytes=limits.line_bytes)
        if self._parser is not None:
            self._plain = self._parser.plain
        names = {wire_name(tool.name): tool.name for tool in tools}
        undoing = _undoing(dialect, tools) if strict else {}
        self._assembly = Assembly(Terms(dialect, names, undoing, limits, max_tokens))
        self._state: DialectState = self._dialect.state(self._assembly)
        self._take_all = self._state.take_all
        self._turn: Turn | None = None

    def copy(self) -> Self:
        """A snapshot that goes on independently; its cost is that of what was gathered, not of the bytes."""
        other = shallow(self)
        # ruff: noqa: SLF001 - of its own class
        other._assembly = self._assembly.copy()
        other._state = self._state.copy(other._assembly)
        other._take_all = other._state.take_all
        if self._parser is not None:
            other._parser = self._parser.copy()
            other._plain = other._parser.plain
        return other

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """The events that this chunk completes.

        Raises:
            LocalProtocolError: The decoder was closed.
        """
        if self._turn is not None:
            raise LocalProtocolError("the decoder is closed; a new response needs a new decoder")
        out: list[StreamEvent] = []
        try:
            data = self._plain(chunk)
            if data is not None:
                try:
                    event = self._decode(data)
                except msgspec.DecodeError:
                    pass
                else:
                    self._take_all((event,), out)
                    return out
            self._feed(chunk, out)
        except RecursionError:
            self._skip(out)
        return out

    def close(self) -> Turn:
        """The whole turn; the same one however often it is asked for."""
        if self._turn is None:
            try:
                self._finish([])
                self._turn = build(self._assembly)
            except RecursionError:
                self._assembly.kept = []
                self._assembly.fault(_TOO_DEEP, [])
                self._turn = build(self._assembly)
        return self._turn

    def _finish(self, out: list[StreamEvent]) -> None:
        if self._parser is not None:
            for name, data in self._parser.end():
                # An event that was cut is no fault of its own, the turn is cut; an error is one also in part.
                if name in _ERRORS or _ERROR_BEGUN.match(data) or data == DONE or _is_whole(data):
                    self._take(name, data, out)
            if self._parser.fault is not None:
                self._assembly.fault(self._parser.fault, out)
        self._state.end()

    def _feed(self, chunk: bytes, out: list[StreamEvent]) -> None:
        parser = self._parser
        if parser is None:
            self._state.take(chunk, out)
            return
        parts: Sequence[Block | Run]
        parts = take(parser, chunk) if isinstance(parser, SseParser) else parser.blocks(chunk)
        for part in parts:
            if not isinstance(part, Run):
                self._take(*part, out)
            elif not self._take_run(part, out):
                for name, data in zip(part.names, part.blob.split(b"\r"), strict=True):
                    self._take(name, data, out)
        if parser.fault is not None:
            self._assembly.fault(parser.fault, out)

    def _take_run(self, run: Run, out: list[StreamEvent]) -> bool:
        try:
            events = self._decoder.decode_lines(run.blob)
        except (msgspec.DecodeError, RecursionError):
            return False
        if len(events) != len(run.names):
            return False
        rest = iter(events)
        while not self._has_taken(rest, out):
            pass
        return True

    def _has_taken(self, rest: Iterator[Any], out: list[StreamEvent]) -> bool:
        """Whether all was taken; else up to an event that is nested too deeply, and without it."""
        try:
            self._take_all(rest, out)
        except RecursionError:
            self._skip(out)
            return False
        return True

    def _take(self, name: bytes, data: bytes, out: list[StreamEvent]) -> None:
        try:
            if name in _ERRORS:
                self._take_error(name, data, out)
            elif data == DONE:
                self._assembly.certain = True
            elif (event := self._event(name, data, out)) is not None:
                self._state.take(event, out)
        except RecursionError:
            self._skip(out)
        self._assembly.loose = None

    def _skip(self, out: list[StreamEvent]) -> None:
        """Leave out one event that is nested too deeply; what follows it is read as ever."""
        self._assembly.loose = None
        self._assembly.fault(_TOO_DEEP, out)

    def _event(self, name: bytes, data: bytes, out: list[StreamEvent]) -> Any:
        try:
            return self._decode(data)
        except msgspec.DecodeError:
            loose = read(data)
        if loose is None:
            if data.strip():
                self._assembly.fault(_UNREADABLE if data.lstrip().startswith(b"{") else _IGNORED, out)
            return None
        # Where the data does not say its type, the event's name does.
        value = {"type": name.decode("utf-8", "replace"), **loose.value}
        self._assembly.loose = loose
        return fit(self._dialect.event, self._dialect.mend(Loose(value, loose.text, loose.damaged)))

    def _take_error(self, name: bytes, data: bytes, out: list[StreamEvent]) -> None:
        value = parsed(data)
        if isinstance(value, list):
            value = next((item for item in value if isinstance(item, dict)), {})
        error = value.get("error") if isinstance(value, dict) else None
        words = data[:_WORDS].decode("utf-8", "replace")
        if error or name != STRAY:
            self._assembly.fault(provider_fault(error or (words if value is None else value)), out)
        elif value is None:
            self._assembly.fault(StreamFault("EVENT_UNREADABLE", _STRAY + words), out)
        else:
            self._assembly.fault(_NO_STREAM, out)


def _undoing(
    dialect: str, tools: Sequence[ToolDefinition]
) -> Mapping[str, Callable[[FrozenDict], FrozenDict]]:
    """For the tools that went out in strict form: their arguments, as the tool's own schema means them."""
    told = {tool.name: lower(dialect, tool, strict=True) for tool in tools}
    return {name: partial(undo, lowered.plain) for name, lowered in told.items() if lowered.strict}


def _is_whole(data: bytes) -> bool:
    try:
        return read(data) is not None
    except RecursionError:
        # Whole or not, it is too deep.
        return True


def _not_plain(_: bytes) -> None:
    """Of a framing without events no chunk is one."""
