"""Where a run's record stops being what was written.

In: the rows of a run as they lie in a store. Out: the first fault, or None. Promise: an edited, dropped,
repeated or moved entry is found, and the first place that is known to be wrong is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from callgate.errors import JournalError

from ._chain import follow, genesis
from ._codec import decode_entry
from ._folds import SPEAKING
from ._port import Fault

MISSING: Final = "MISSING"
MOVED: Final = "MOVED"
EDITED: Final = "EDITED"
UNREADABLE: Final = "UNREADABLE"

Row = tuple[int, bytes, bytes, int | None]
"""Sequence, line and digest of an entry, and the mark of one that speaks of a question."""


def first_fault(run: str, rows: Callable[[], Iterable[Row]], count: int, last: bytes) -> Fault | None:
    """Walk the chain.

    Args:
        run: Its name, which the first digest follows.
        rows: Gives the rows in order of their sequence, anew each time it is called.
        count: How many entries the store says the run has.
        last: What it says the last digest is.
    """
    head, place = genesis(run), 0
    for sequence, line, digest, question in rows():
        if sequence != place:
            return Fault(run, place, MISSING, f"entry {place} is not there; the next one is {sequence}")
        head = follow(head, line)
        if head != digest:
            return Fault(run, place, *_unchained(run, line, digest, rows()))
        try:
            entry = decode_entry(line)
        except JournalError as problem:
            return Fault(run, place, UNREADABLE, str(problem))
        if isinstance(entry, SPEAKING) != bool(question):
            return Fault(
                run, place, EDITED, "it is not filed under what it is: a question, an answer, or neither"
            )
        place += 1
    if place != count:
        return Fault(run, place, MISSING, f"{count} entries were written and {place} are there")
    if head != last:
        return Fault(run, place - 1, EDITED, "its digest is not the one that was noted as the last")
    return None


def _unchained(run: str, line: bytes, digest: bytes, rows: Iterable[Row]) -> tuple[str, str]:
    """What happened to an entry whose digest does not follow from the one before it."""
    if follow(genesis(run), line) == digest:
        return MOVED, "it was written as the first entry of the run"
    for sequence, _, other, _ in rows:
        if follow(other, line) == digest:
            return MOVED, f"it was written right after what is entry {sequence} here"
    return EDITED, "its digest does not follow from the entry before it and its own text"
