"""What a file holds: read within a bound, and its version, a hash of it.

In: bytes, or an open file. Out: a reader, or 32 hexadecimal digits. Promise: the same bytes have the same
version on every machine, other bytes another one; a file that grows while it is read is not read for ever.
"""

from __future__ import annotations

import hashlib
import io
from typing import BinaryIO, Final

from callgate.errors import ToolError

VERSION_DIGITS: Final = 32
"""128 bits of the SHA-256: short enough for a model to copy, and no two files share one by chance."""

_CHUNK: Final = 1 << 16


class _Bounded(io.FileIO):
    """A file of which at most ``limit`` bytes are handed out, whatever size it claimed to have."""

    def __init__(self, fd: int, limit: int) -> None:
        super().__init__(fd, "rb")
        self._limit = limit

    def readinto(self, buffer: bytearray | memoryview) -> int | None:  # type: ignore[override]
        count = super().readinto(buffer)
        self._check()
        return count

    def readall(self) -> bytes:
        data = super().read(max(0, self._limit + 1 - self.tell()))
        self._check()
        return data or b""

    def _check(self) -> None:
        if self.tell() > self._limit:
            message = f"the file has more than {self._limit} bytes"
            raise ToolError(message, tool_code="PATH_UNUSABLE")


def bounded(fd: int, limit: int) -> BinaryIO:
    """Read an open file; the reader owns the descriptor.

    Reading past ``limit`` bytes raises ``ToolError`` (``PATH_UNUSABLE``).
    """
    return io.BufferedReader(_Bounded(fd, limit))


def version_of(data: bytes) -> str:
    """The version of content at hand."""
    return hashlib.sha256(data).hexdigest()[:VERSION_DIGITS]


def version_of_file(source: BinaryIO) -> str:
    """The version of what is left to read of a file."""
    digest = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()[:VERSION_DIGITS]
