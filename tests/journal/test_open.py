"""Addresses of journals, and what is told of one that cannot be opened."""

import os
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from callgate.errors import (
    ConfigurationError,
    JournalCorruptError,
    JournalUnavailableError,
    JournalVersionError,
)
from callgate.journal import MemoryStore, SqliteStore, open_journal
from callgate.journal._schema import MIGRATIONS
from tests.journal.stores import NOW, opened, started

pytestmark = pytest.mark.anyio


def writers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "callgate-journal"]


@pytest.mark.parametrize(
    "url", ["", "memory", "memory:x", "sqlite:", "sqlite", "postgres:x", "run.db", "MEMORY:"]
)
async def test_an_address_of_no_known_kind_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        await open_journal(url)
    assert repr(url) in str(caught.value)


async def test_the_address_says_which_store(tmp_path: Path) -> None:
    async with opened("memory:") as store:
        assert isinstance(store, MemoryStore)
    async with opened(f"sqlite:{tmp_path}/a:b?c#d%20.db") as store:
        assert isinstance(store, SqliteStore)
        await store.append(await store.acquire("r", "me", 1, NOW), started("r", 0))
        assert len(await store.read("r")) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a:b?c#d%20.db"]


async def test_a_path_is_taken_from_where_the_process_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened("sqlite:run.db") as store:
        monkeypatch.chdir("/")
        await store.acquire("r", "me", 1, NOW)
        assert await store.read("r") == []
    assert (tmp_path / "run.db").exists()


async def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        async with opened(f"sqlite:{tmp_path}/run.db") as store:
            await store.acquire("r", "me", 1, NOW)
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(["run.db", "run.db-wal", "run.db-shm"], 0o600)


async def test_a_directory_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(JournalUnavailableError) as caught:
        await open_journal(f"sqlite:{tmp_path}/no/such/run.db")
    assert "no/such/run.db" in str(caught.value)
    assert not (tmp_path / "no").exists()
    with pytest.raises(JournalUnavailableError):
        await open_journal(f"sqlite:{tmp_path}")


async def test_a_file_that_is_no_database_is_called_damaged(tmp_path: Path) -> None:
    (tmp_path / "run.db").write_bytes(b"not a database, but long enough to look like one " * 40)
    with pytest.raises(JournalCorruptError):
        await open_journal(f"sqlite:{tmp_path}/run.db")
    assert writers() == []


async def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE users (name TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match="another program"):
        await open_journal(f"sqlite:{path}")
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["other.db"]


async def test_a_newer_file_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    async with opened(f"sqlite:{path}"):
        pass
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(JournalVersionError) as caught:
        await open_journal(f"sqlite:{path}")
    assert caught.value.facts == {"found": len(MIGRATIONS) + 1, "known": len(MIGRATIONS)}


async def test_closing_leaves_no_thread_and_no_file_beside(tmp_path: Path) -> None:
    async with opened(f"sqlite:{tmp_path}/run.db") as store:
        await store.append(await store.acquire("r", "me", 1, NOW), started("r", 0))
        assert len(writers()) == 1
    assert writers() == []
    assert [path.name for path in tmp_path.iterdir()] == ["run.db"]
