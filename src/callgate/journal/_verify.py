"""Where a run's record stopped being what was written.

In: the rows of a run as they lie in the store. Out: the first fault, or None. Promise: an edited, dropped,
repeated or moved entry is found, and the first place that is known to be wrong is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from callgate.errors import JournalError

from ._chain import follow, genesis
from ._codec import decode_entry
from ._port import Fault

MISSING: Final = "MISSING"
MOVED: Final = "MOVED"
EDITED: Final = "EDITED"
UNREADABLE: Final = "UNREADABLE"


class Row(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """An entry as it is stored. ``kind`` is the class name that the store searches by."""

    sequence: int
    kind: str
    line: bytes
    digest: bytes


def first_fault(run: str, rows: Sequence[Row], count: int) -> Fault | None:
    """Walk the chain. ``count`` is how many entries the store says the run has."""
    head = genesis(run)
    for place, row in enumerate(rows):
        if row.sequence != place:
            return Fault(run, place, MISSING, f"entry {place} is not there; the next one is {row.sequence}")
        following = follow(head, row.line)
        if following != row.digest:
            return _unchained(run, place, rows)
        head = following
        try:
            entry = decode_entry(row.line)
        except JournalError as problem:
            return Fault(run, place, UNREADABLE, str(problem))
        if type(entry).__name__ != row.kind:
            return Fault(run, place, EDITED, f"it is filed as {row.kind} and is a {type(entry).__name__}")
    if len(rows) != count:
        return Fault(run, len(rows), MISSING, f"{count} entries were written and {len(rows)} are there")
    return None


def _unchained(run: str, place: int, rows: Sequence[Row]) -> Fault:
    """Say what happened to an entry whose digest does not follow from the one before it."""
    row = rows[place]
    if follow(genesis(run), row.line) == row.digest:
        return Fault(run, place, MOVED, "it was written as the first entry of the run")
    for other in rows:
        if follow(other.digest, row.line) == row.digest:
            return Fault(run, place, MOVED, f"it was written after what is now entry {other.sequence}")
    return Fault(run, place, EDITED, "its digest does not follow from the entry before it and its own text")
