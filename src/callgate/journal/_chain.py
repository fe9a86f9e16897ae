"""The chain of digests that shows tampering.

In: the lines of a run in order. Out: a digest for each. Promise: an edited, dropped, moved or foreign line
changes its digest and every later one.

What it cannot show: whoever can write the store can also drop the tail, or compute the chain anew from the
place of a change. To see that, keep a digest that ``read`` gave somewhere the writer of the store cannot
reach, and compare.
"""

from __future__ import annotations

import hashlib
from typing import Final

GENESIS: Final = b"callgate journal 1\n"
"""Stands before the run's name in what the first digest follows: a line of another run does not fit."""


def genesis(run: str) -> bytes:
    """What the first entry of a run follows."""
    return hashlib.sha256(GENESIS + run.encode("utf-8", "surrogatepass")).digest()


def follow(previous: bytes, line: bytes) -> bytes:
    """SHA-256 over the digest before and the line."""
    return hashlib.sha256(previous + line).digest()
