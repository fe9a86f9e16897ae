"""The version of a file: a hash of its content.

In: bytes, or an open file. Out: 32 hexadecimal digits. Promise: the same bytes have the same version on every
machine, other bytes another one.
"""

from __future__ import annotations

import hashlib
from typing import BinaryIO, Final

VERSION_DIGITS: Final = 32
"""128 bits of the SHA-256: short enough for a model to copy, and no two files share one by chance."""

_CHUNK: Final = 1 << 20


def version_of(data: bytes) -> str:
    """The version of content at hand."""
    return hashlib.sha256(data).hexdigest()[:VERSION_DIGITS]


def version_of_file(source: BinaryIO, limit: int) -> str | None:
    """The version of what is left to read; None when that is more than ``limit`` bytes."""
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK):
        size += len(chunk)
        if size > limit:
            return None
        digest.update(chunk)
    return digest.hexdigest()[:VERSION_DIGITS]
