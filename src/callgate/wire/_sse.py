"""Server-sent events: bytes to events, however the network cuts them.

In: chunks of bytes. Out: events, as text for everyone (``feed``) or with their data as bytes for the dialects
(``blocks``, ``plain``). Promise: the same bytes give the same events for every way of cutting them; linear in
time; never raises on data: a line or an event over its limit becomes ``fault``, and nothing after it is read.

WHATWG HTML, sections 9.2.5 "Parsing an event stream" and 9.2.6 "Interpreting an event stream". Lines are
kept as bytes: a line end is never part of a UTF-8 sequence, so decoding field by field gives what decoding
the stream gives.
"""

from __future__ import annotations

import re
from copy import copy as shallow
from typing import Final, Self

import msgspec

from callgate.calls import StreamFault

LINE_BYTES: Final = 16 * 1024 * 1024
EVENT_BYTES: Final = 16 * 1024 * 1024
STRAY: Final = b"\n"
"""Name of a block that is no event: bare lines of JSON, as some servers send an error."""

_BOM: Final = b"\xef\xbb\xbf"
_MANY: Final = re.compile(rb"\n{3,}")
_LF: Final = 10
_CR: Final = 13
_BRACE: Final = 125
_COLON: Final = 58
_RETRY_DIGITS: Final = 4000

Block = tuple[bytes, bytes]
"""The name and the data of an event, not yet decoded."""


class ServerEvent(msgspec.Struct, frozen=True, gc=False):
    """One event as the standard dispatches it."""

    type: str
    data: str
    last_event_id: str = ""


class SseParser:
    """The state between two chunks.

    ``retry`` is the last reconnection time in milliseconds; ``last_event_id`` that of the last event
    dispatched. ``idle``: no event has begun, but for what ``rest``, the line that has begun, may hold.
    ``limit``: so many bytes break no limit, whatever they are.
    """

    __slots__ = (
        *("_after_cr", "_data", "_event_bytes", "_head", "_id", "_lead", "_line_bytes", "_name", "_size"),
        *("_started", "_stray", "_unread"),
        *("fault", "fresh", "idle", "last_event_id", "limit", "rest", "rest_size", "retry"),
    )

    def __init__(self, *, line_bytes: int = LINE_BYTES, event_bytes: int = EVENT_BYTES) -> None:
        self._line_bytes = line_bytes
        self._event_bytes = event_bytes
        self._started = False
        self._lead = b""
        self._after_cr = False
        self._unread = False
        self._data: list[bytes] = []
        self._size = 0
        self._name = b""
        self._id = ""
        self._stray: list[bytes] = []
        self._head = b"data: {"
        self.limit = min(line_bytes, event_bytes)
        self.idle = False
        self.fresh = False
        self.rest: list[bytes] = []
        self.rest_size = 0
        self.fault: StreamFault | None = None
        self.last_event_id = ""
        self.retry: int | None = None

    def copy(self) -> Self:
        """The same state, to go on from independently."""
        other = shallow(self)
        # ruff: noqa: SLF001 - of its own class
        other._data, other._stray, other.rest = self._data[:], self._stray[:], self.rest[:]
        return other

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that this chunk completes, as the standard dispatches them."""
        found: list[tuple[bytes, bytes, str]] = []
        self._read(chunk, found)
        return [
            ServerEvent(
                name.decode("utf-8", "replace") or "message", data.decode("utf-8", "replace"), last_id
            )
            for name, data, last_id in found
            if name != STRAY
        ]

    def blocks(self, chunk: bytes) -> list[Block]:
        """The same, undecoded, and with them what is no event."""
        found: list[tuple[bytes, bytes, str]] = []
        self._read(chunk, found)
        return [(name, data) for name, data, _ in found]

    def end(self) -> list[Block]:
        """What the end of the stream cuts off, for those who want to look at it: the standard drops it."""
        found = self.blocks(b"")
        if self.rest:
            found += self.blocks(b"\n")
        if self._name == b"error":
            # An error that has not said what it is, is one.
            self._data = self._data or [b""]
        return found + self.blocks(b"\n\n")

    def plain(self, chunk: bytes) -> bytes | None:
        """The data of a chunk that is one event of one line of JSON; else ``None``, and nothing is read."""
        # Events come in runs of one kind: what the last one began with, the next one mostly does too.
        head, size = self._head, len(chunk)
        if not chunk.startswith(head):
            head = self._head = _head(chunk) or head
        # Only the newlines of the head and the two at the end: all of it is one event, and its data one line.
        if (
            self.fresh
            and chunk.startswith(head)
            and chunk.find(_LF, len(head)) == size - 2
            and chunk[-1] == _LF
            and chunk[-3] == _BRACE
            and _CR not in chunk
            and size <= self.limit
        ):
            return chunk[len(head) - 1 : -2]
        return None

    def hold(self, chunk: bytes) -> None:
        """Keep the beginning of an event unread, until more of it comes."""
        self.rest, self.rest_size = [chunk] if chunk else [], len(chunk)
        self._unread = bool(chunk)
        self.fresh = self.idle and not chunk

    def begin(self, chunk: bytes) -> bytes:
        """The chunk without the byte order mark, which counts only at the very start."""
        if self._started:
            return chunk
        chunk = self._lead + chunk
        if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
            self._lead = chunk
            return b""
        self._started = self.idle = self.fresh = True
        return chunk.removeprefix(_BOM)

    def _read(self, chunk: bytes, found: list[tuple[bytes, bytes, str]]) -> None:
        if self.fault is not None:
            return
        is_more = self.rest and not self._unread and _LF not in chunk and _CR not in chunk
        *lines, last = [chunk] if is_more else self._normal(chunk).split(b"\n")
        if lines:
            lines[0] = b"".join((*self.rest, lines[0]))
            self.rest, self.rest_size = [], 0
            for line in lines:
                self._line(line, found)
                if self.fault is not None:
                    return
            self.idle = not (self._data or self._name or self._stray or self._after_cr)
        if last:
            self.rest.append(last)
            self.rest_size += len(last)
            if self.rest_size > self._line_bytes:
                self._exceed("line", self._line_bytes)
        self.fresh = self.idle and not self.rest

    def _normal(self, chunk: bytes) -> bytes:
        """The chunk with what was left unread before it, every line end a LF, and no byte order mark."""
        chunk = self.begin(chunk)
        if self._unread:
            chunk = b"".join((*self.rest, chunk))
            self.hold(b"")
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk[1:] if chunk[0] == _LF else chunk
        if b"\r" in chunk:
            # A CR at the end is a line end at once; a LF that follows in the next chunk belongs to it.
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        # The second of two blank lines dispatches nothing.
        return _MANY.sub(b"\n\n", chunk) if b"\n\n\n" in chunk else chunk

    def _line(self, line: bytes, found: list[tuple[bytes, bytes, str]]) -> None:  # noqa: C901 - a branch a field
        if not line:
            self._dispatch(found)
            return
        if len(line) > self._line_bytes:
            self._exceed("line", self._line_bytes)
            return
        if line[0] == _COLON:
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        kept = None
        if name == b"data":
            kept = self._data
        elif name == b"event":
            self._name = value
        elif name == b"id":
            if b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
        elif name == b"retry":
            if value.isdigit() and len(value) <= _RETRY_DIGITS:
                self.retry = int(value)
        elif self._stray or line.startswith((b"{", b"[")):
            kept, value = self._stray, line
        if kept is not None:
            kept.append(value)
            self._size += len(value) + 1
            if self._size > self._event_bytes:
                self._exceed("event", self._event_bytes)

    def _dispatch(self, found: list[tuple[bytes, bytes, str]]) -> None:
        self.last_event_id = self._id
        if self._stray:
            found.append((STRAY, b"\n".join(self._stray), self._id))
            self._stray = []
        if self._data:
            found.append((self._name, b"\n".join(self._data), self._id))
            self._data = []
        self._name, self._size = b"", 0

    def _exceed(self, what: str, limit: int) -> None:
        self.rest, self._data, self._stray, self.idle = [], [], [], False
        self.fresh = False
        self.fault = StreamFault("TOO_LARGE", f"a {what} of the stream has more than {limit} bytes")


def _head(chunk: bytes) -> bytes:
    """How a chunk begins that may be one event of one line of JSON: up to its first brace."""
    end = chunk.find(b"data: {") + 7
    head = chunk[:end]
    is_named = (
        head.startswith(b"event: ") and head.find(b"\n") == end - 8 and head != b"event: error\ndata: {"
    )
    return head if head == b"data: {" or is_named else b""
