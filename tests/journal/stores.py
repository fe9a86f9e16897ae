"""The stores that the one suite runs on, and short entries to fill them with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from callgate.calls import ApprovalAsked, CallKey, Decided, Entry, Started
from callgate.journal import Decision, Store, open_journal

T = TypeVar("T")

KINDS: Final = ("memory", "sqlite")
NOW: Final = 1_000.0


def address(kind: str, folder: Path) -> str:
    """Where the suite keeps a store."""
    return "memory:" if kind == "memory" else f"sqlite:{folder / 'journal.db'}"


@asynccontextmanager
async def opened(url: str, **options: float) -> AsyncIterator[Store]:
    store = await open_journal(url, **options)
    try:
        yield store
    finally:
        await store.close()


def key(run: str, position: int = 0) -> CallKey:
    return CallKey(run, 0, 0, position)


def started(run: str, *positions: int) -> list[Entry]:
    """Entries that can be told apart by their number."""
    return [Started(key(run, position), NOW + position, f"cg_{position}") for position in positions]


def asked(run: str, position: int = 0) -> ApprovalAsked:
    return ApprovalAsked(key(run, position), NOW, f"d{position}", ("it deletes",))


def decided(run: str, position: int = 0) -> Decided:
    return Decided(key(run, position), NOW, f"d{position}", approved=True, by="ada")


def decision(run: str, position: int = 0, *, approved: bool = True, by: str = "ada") -> Decision:
    return Decision(key(run, position), f"d{position}", approved, by, "", NOW)


async def entries_of(store: Store, run: str) -> list[Entry]:
    return [record.entry for record in await store.read(run)]


def immediate(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns that waits for nothing."""
    try:
        work.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    message = "it waited"
    raise AssertionError(message)
