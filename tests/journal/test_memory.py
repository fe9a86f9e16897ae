"""What the journal in memory promises beyond the suite."""

import gc

import pytest

from callgate.errors import JournalUnavailableError
from callgate.journal import MemoryStore
from tests.journal.stores import KINDS, NOW, immediate, started


def test_it_waits_for_nothing() -> None:
    store = MemoryStore()
    lease = immediate(store.acquire("r", "me", 30, NOW))
    immediate(store.append(lease, started("r", 0, 1)))
    assert [record.sequence for record in immediate(store.read("r"))] == [0, 1]
    assert immediate(store.verify()) == []
    immediate(store.close())
    with pytest.raises(JournalUnavailableError):
        immediate(store.read("r"))


def test_what_was_read_is_not_what_is_kept() -> None:
    store = MemoryStore()
    lease = immediate(store.acquire("r", "me", 30, NOW))
    entries = started("r", 0)
    immediate(store.append(lease, entries))
    entries.clear()
    immediate(store.read("r")).clear()
    immediate(store.take("r")).clear()
    assert [record.entry for record in immediate(store.read("r"))] == started("r", 0)


def test_entries_are_nothing_the_garbage_collector_walks() -> None:
    assert not any(gc.is_tracked(entry) for entry in started("r", 0, 1))
    assert "memory" in KINDS
