"""Newline-delimited JSON: bytes to lines, however the network cuts them.

In: chunks of bytes. Out: the lines that hold something, as bytes. Promise: the same bytes give the same
lines for every way of cutting them; linear in time; never raises on data: a line over the limit becomes
``fault``, and nothing after it is read.

Lines end in LF or CRLF; white space around a value is JSON's own (RFC 8259 section 2).
"""

from __future__ import annotations

from copy import copy as shallow
from typing import Final, Self

from callgate.calls import StreamFault

from ._sse import LINE_BYTES

_BLANK: Final = b" \t\r"


class NdjsonParser:
    """The state between two chunks: the beginning of a line."""

    __slots__ = ("_line_bytes", "_rest", "_rest_size", "fault")

    def __init__(self, *, line_bytes: int = LINE_BYTES) -> None:
        self._line_bytes = line_bytes
        self._rest: list[bytes] = []
        self._rest_size = 0
        self.fault: StreamFault | None = None

    def copy(self) -> Self:
        """The same state, to go on from independently."""
        other = shallow(self)
        other._rest = self._rest[:]  # noqa: SLF001 - of its own class
        return other

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, without the blank ones."""
        if self.fault:
            return []
        lines = chunk.split(b"\n")
        last = lines.pop()
        found: list[bytes] = []
        if lines:
            lines[0] = b"".join((*self._rest, lines[0]))
            self._rest, self._rest_size = [], 0
            for line in lines:
                if len(line) > self._line_bytes:
                    self._exceed()
                    return found
                if value := line.strip(_BLANK):
                    found.append(value)
        if last:
            self._rest.append(last)
            self._rest_size += len(last)
            if self._rest_size > self._line_bytes:
                self._exceed()
        return found

    def blocks(self, chunk: bytes) -> list[tuple[bytes, bytes]]:
        """The same as events without a name."""
        return [(b"", line) for line in self.feed(chunk)]

    def end(self) -> list[tuple[bytes, bytes]]:
        """The line that has begun."""
        return self.blocks(b"\n")

    def plain(self, chunk: bytes) -> bytes | None:
        """The data of a chunk that is one line of JSON; else ``None``, nothing read."""
        is_one = not self._rest and chunk.startswith(b"{") and chunk.find(b"\n") == len(chunk) - 1
        return chunk if is_one and len(chunk) <= self._line_bytes and self.fault is None else None

    def _exceed(self) -> None:
        self._rest = []
        self.fault = StreamFault("TOO_LARGE", f"a line of the stream has more than {self._line_bytes} bytes")
