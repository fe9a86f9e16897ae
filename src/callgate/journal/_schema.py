"""The tables of a SQLite journal: opening the file, bringing it up to date, and what its errors mean.

Promise: the file is readable by its owner alone; a commit is on the disk when it returns (WAL,
``synchronous=FULL``); an older file is brought forward, a newer one is refused, another program's is left
alone.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

from callgate.errors import (
    CallgateError,
    ConfigurationError,
    JournalCorruptError,
    JournalUnavailableError,
    JournalVersionError,
)

APPLICATION: Final = 0x63676A6C
"""``cgjl``: SQLite's application id, at byte 68 of the file."""

MIGRATIONS: Final = (
    """
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        run TEXT NOT NULL UNIQUE,
        holder TEXT NOT NULL,
        fence INTEGER NOT NULL,
        until REAL NOT NULL,
        entries INTEGER NOT NULL,
        head BLOB NOT NULL,
        first_at REAL NOT NULL,
        last_at REAL NOT NULL,
        ended TEXT NOT NULL
    );
    CREATE TABLE entries (
        run_id INTEGER NOT NULL REFERENCES runs (id),
        sequence INTEGER NOT NULL,
        line BLOB NOT NULL,
        digest BLOB NOT NULL,
        question INTEGER
    );
    CREATE UNIQUE INDEX entries_in_order ON entries (run_id, sequence);
    CREATE INDEX questions ON entries (run_id, sequence) WHERE question IS NOT NULL;
    CREATE TABLE inbox (
        id INTEGER PRIMARY KEY,
        run_id INTEGER NOT NULL REFERENCES runs (id),
        call TEXT NOT NULL,
        digest TEXT NOT NULL,
        decision BLOB NOT NULL,
        UNIQUE (run_id, call, digest)
    );
    """,
)
"""Step n brings a file from version n to n + 1. A step is never changed once it was released.

``question`` is 1 where an entry may open or close a question to a person, and NULL elsewhere.
"""

_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def connect(path: Path, wait_seconds: float, migrations: tuple[str, ...] = MIGRATIONS) -> sqlite3.Connection:
    """Open the file for writing, made and brought up to date where needed.

    Raises:
        ConfigurationError: It is another program's database.
        JournalError: It cannot be opened, is damaged, or was written by a newer version.
    """
    try:
        # SQLite would make it readable by all, and gives the files beside it the same mode.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as problem:
        message = "the journal's file cannot be opened for writing"
        raise JournalUnavailableError(message, path=str(path), why=problem.strerror) from None
    try:
        connection = sqlite3.connect(path, wait_seconds, isolation_level=None, check_same_thread=False)
        try:
            _version(connection)  # whose file it is, before anything of it is changed
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            migrate(connection, migrations)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as problem:
        raise typed(problem, path) from problem
    return connection


def migrate(connection: sqlite3.Connection, migrations: tuple[str, ...]) -> None:
    """Take every step the file lacks, each in a transaction of its own.

    Raises:
        ConfigurationError: It is another program's database.
        JournalVersionError: It is newer than the last step.
    """
    while True:
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = _version(connection)
            if version > len(migrations):
                message = "the journal was written by a newer version"
                raise JournalVersionError(message, found=version, known=len(migrations))
            if version == len(migrations):
                return
            for statement in migrations[version].split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def typed(problem: Exception, path: Path | None = None) -> Exception:
    """What a failure of SQLite means to our caller; anything else is itself."""
    if isinstance(problem, CallgateError) or not isinstance(problem, sqlite3.Error):
        return problem
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
    kind, message = (
        (JournalCorruptError, "the journal's file is damaged")
        if code in _DAMAGED
        else (JournalUnavailableError, "the journal cannot be read or written now")
    )
    return kind(message, path=str(path) if path else None, why=str(problem))


def _version(connection: sqlite3.Connection) -> int:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if tables and application != APPLICATION:
        message = "the file is a database of another program; name another file"
        raise ConfigurationError(message, application=application)
    return int(version)
