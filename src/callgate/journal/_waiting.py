"""Which questions to people are open: a fold over the entries of one run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from callgate.calls import ApprovalAsked, CallKey, CancelRequested, Decided, Entry, Refused

SPEAKING: Final = (ApprovalAsked, Decided, Refused, CancelRequested)
"""The entries that open or close a question."""


def open_questions(entries: Iterable[Entry]) -> list[ApprovalAsked]:
    """The questions nobody answered, oldest first. A cancelled or refused call waits for nobody."""
    asked: dict[CallKey, ApprovalAsked] = {}
    for entry in entries:
        if isinstance(entry, ApprovalAsked):
            asked[entry.key] = entry
        elif isinstance(entry, Decided | Refused):
            asked.pop(entry.key, None)
        elif isinstance(entry, CancelRequested):
            if entry.key is None:
                asked.clear()
            else:
                asked.pop(entry.key, None)
    return list(asked.values())
