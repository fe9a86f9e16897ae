"""The tables of a SQLite journal, and bringing an older file forward."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from callgate.errors import JournalCorruptError, JournalUnavailableError, JournalVersionError, LeaseLostError
from callgate.journal._schema import APPLICATION, MIGRATIONS, connect, migrate, typed

STEP = "ALTER TABLE runs ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';\nCREATE TABLE notes (note TEXT);\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


def version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def tables(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return {name for (name,) in rows}


def test_a_commit_is_on_the_disk_when_it_returns(path: Path) -> None:
    with closing(connect(path, 1.0)) as connection:
        settings = [
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
        ]
    # synchronous 2 is FULL: in WAL mode every commit is followed by an fsync.
    assert settings == ["wal", 2]


def test_a_new_file_takes_every_step(path: Path) -> None:
    with closing(connect(path, 1.0)) as connection:
        assert version(connection) == len(MIGRATIONS)
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
        assert tables(connection) == {"runs", "entries", "inbox"}


def test_an_older_file_is_brought_forward_with_what_is_in_it(path: Path) -> None:
    with closing(connect(path, 1.0)) as connection:
        connection.execute("INSERT INTO runs VALUES (1, 'r', '', 3, 0, 0, x'00', 0, 0, '')")
    with closing(connect(path, 1.0, (*MIGRATIONS, STEP))) as connection:
        assert version(connection) == len(MIGRATIONS) + 1
        assert connection.execute("SELECT run, fence, colour FROM runs").fetchall() == [("r", 3, "grey")]
    with closing(connect(path, 1.0, (*MIGRATIONS, STEP))) as connection:
        assert version(connection) == len(MIGRATIONS) + 1
    with pytest.raises(JournalVersionError):
        connect(path, 1.0)


def test_a_step_that_breaks_is_undone_whole(path: Path) -> None:
    with closing(connect(path, 1.0)) as connection:
        with pytest.raises(sqlite3.Error):
            migrate(connection, (*MIGRATIONS, STEP + "CREATE TABLE runs (again TEXT);\n"))
        assert not connection.in_transaction
        assert version(connection) == len(MIGRATIONS)
        assert "notes" not in tables(connection)


def test_the_search_for_questions_uses_its_index(path: Path) -> None:
    with closing(connect(path, 1.0)) as connection:
        plan = connection.execute(
            "EXPLAIN QUERY PLAN SELECT line FROM entries WHERE run_id = 1 AND question IS NOT NULL"
            " ORDER BY sequence"
        ).fetchall()
    assert [row[-1] for row in plan] == ["SEARCH entries USING INDEX questions (run_id=?)"]


def test_failures_of_sqlite_are_told_by_what_can_be_done_about_them(path: Path) -> None:
    problem = sqlite3.OperationalError("database is locked")
    assert isinstance(typed(problem, path), JournalUnavailableError)
    assert typed(problem, path).facts == {"path": str(path), "why": "database is locked"}  # type: ignore[attr-defined]
    damaged = sqlite3.DatabaseError("database disk image is malformed")
    damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    assert isinstance(typed(damaged), JournalCorruptError)
    for other in (LeaseLostError("gone"), ValueError("no")):
        assert typed(other) is other
