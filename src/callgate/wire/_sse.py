"""Server-sent events: bytes to events, however the network cuts them.

In: chunks of bytes. Out: events, as text for everyone (``feed``) or with their data as bytes for the dialects
(``blocks``, ``plain``). Promise: the same bytes give the same events for every way of cutting them; linear in
time; never raises on data: a line or an event over its limit becomes ``fault``, and nothing after it is read.

WHATWG HTML, sections 9.2.5 "Parsing an event stream" and 9.2.6 "Interpreting an event stream". Lines are
kept as bytes: a line end is never part of a UTF-8 sequence, so decoding field by field gives what decoding
the stream gives.
"""

from __future__ import annotations

from typing import Final, Self

import msgspec

from callgate.calls import StreamFault

LINE_BYTES: Final = 16 * 1024 * 1024
EVENT_BYTES: Final = 16 * 1024 * 1024
STRAY: Final = b"\n"
"""Name of a block that is no event: bare lines of JSON, as some servers send an error."""

_BOM: Final = b"\xef\xbb\xbf"
_LF: Final = 10
_COLON: Final = 58
_RETRY_DIGITS: Final = 18
_NOT_FOUND: Final = 6
"""Where the data would start if ``find`` found nothing."""

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
        *("_after_cr", "_data", "_event_bytes", "_id", "_line_bytes", "_name", "_size", "_started", "_stray"),
        *("fault", "idle", "last_event_id", "limit", "rest", "rest_size", "retry"),
    )

    def __init__(self, *, line_bytes: int = LINE_BYTES, event_bytes: int = EVENT_BYTES) -> None:
        self._line_bytes = line_bytes
        self._event_bytes = event_bytes
        self._started = False
        self._after_cr = False
        self._data: list[bytes] = []
        self._size = 0
        self._name = b""
        self._id = ""
        self._stray: list[bytes] = []
        self.limit = min(line_bytes, event_bytes)
        self.idle = False
        self.rest: list[bytes] = []
        self.rest_size = 0
        self.fault: StreamFault | None = None
        self.last_event_id = ""
        self.retry: int | None = None

    def copy(self) -> Self:
        """The same state, to go on from independently."""
        other = type(self)()
        for slot in SseParser.__slots__:
            value = getattr(self, slot)
            setattr(other, slot, value[:] if isinstance(value, list) else value)
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

    def plain(self, chunk: bytes) -> bytes | None:
        """The data of a chunk that is one event of one line of JSON; else ``None``, and nothing is read."""
        if not self.idle or self.rest:
            return None
        if chunk.startswith(b"data: {"):
            start, lines = 6, 2
        elif chunk.startswith(b"event: ") and not chunk.startswith(b"event: error\n"):
            start, lines = chunk.find(b"\ndata: {") + 7, 3
            if start == _NOT_FOUND:
                return None
        else:
            return None
        # The newlines at its end, and the one after its name, are then all there are.
        is_one = chunk.endswith(b"}\n\n") and chunk.count(b"\n") == lines and b"\r" not in chunk
        return chunk[start:-2] if is_one and len(chunk) <= self.limit else None

    def salvage(self) -> list[Block]:
        """What a stream without its last blank line ends in. The standard drops it; many servers mean it."""
        return self.blocks(b"\n\n") if self.rest or self._data or self._stray else []

    def _read(self, chunk: bytes, found: list[tuple[bytes, bytes, str]]) -> None:
        if not self._started:
            chunk = self._begin(chunk)
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk[1:] if chunk[0] == _LF else chunk
        if b"\r" in chunk:
            # A CR at the end is a line end at once; a LF that follows in the next chunk belongs to it.
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if self.fault is not None or not chunk:
            return
        *lines, last = chunk.split(b"\n")
        if lines:
            lines[0] = b"".join((*self.rest, lines[0]))
            self.rest, self.rest_size = [], 0
            for line in lines:
                self._line(line, found)
                if self.fault is not None:
                    return
        if last:
            self.rest.append(last)
            self.rest_size += len(last)
            if self.rest_size > self._line_bytes:
                self._exceed("line", self._line_bytes)
        self.idle = not (self._data or self._name or self._stray or self._after_cr or self.fault)

    def _begin(self, chunk: bytes) -> bytes:
        """Drop the byte order mark, which counts only at the very start."""
        chunk = b"".join((*self.rest, chunk))
        self.rest = []
        if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
            self.rest = [chunk]
            return b""
        self._started = True
        return chunk.removeprefix(_BOM)

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
        if name == b"data":
            self._keep(value, self._data)
        elif name == b"event":
            self._name = value
        elif name == b"id":
            if b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
        elif name == b"retry":
            if value.isdigit() and len(value) <= _RETRY_DIGITS:
                self.retry = int(value)
        elif self._stray or line.startswith((b"{", b"[")):
            self._keep(line, self._stray)

    def _keep(self, value: bytes, lines: list[bytes]) -> None:
        lines.append(value)
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
        self.fault = StreamFault("TOO_LARGE", f"a {what} of the stream has more than {limit} bytes")
