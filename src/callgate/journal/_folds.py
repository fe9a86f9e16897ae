"""What the entries of one run, in order, say of it as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from callgate.calls import (
    ApprovalAsked,
    CallKey,
    CancelRequested,
    Decided,
    Entry,
    Refused,
    RunEnded,
    TurnAsked,
    TurnHeard,
)

CLOSING: Final = (Decided, Refused, CancelRequested)
"""The entries that can close a question."""
SPEAKING: Final = (ApprovalAsked, *CLOSING)
"""Those, and the one that opens it."""


def open_questions(entries: Iterable[Entry]) -> list[ApprovalAsked]:
    """The questions to people that nobody answered, oldest first. A cancelled call waits for nobody."""
    asked: dict[CallKey, ApprovalAsked] = {}
    for entry in entries:
        match entry:
            case ApprovalAsked():
                asked[entry.key] = entry
            case Decided() | Refused():
                asked.pop(entry.key, None)
            case CancelRequested(key=None):
                asked.clear()
            case CancelRequested(key=CallKey() as key):
                asked.pop(key, None)
    return list(asked.values())


def ended(entries: Iterable[Entry], before: str = "") -> str:
    """The reason the run ended with, "" while it goes on; ``before``: what it was before these entries."""
    for entry in entries:
        if isinstance(entry, RunEnded):
            before = entry.reason
        elif isinstance(entry, TurnAsked) or (isinstance(entry, TurnHeard) and entry.digest):
            # A reply without a digest is one that a recovery closed, which goes on with nothing.
            before = ""
    return before
