"""A journal in a SQLite file: many readers and posters, one writing thread a process, one writer a run."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
from anyio import to_thread

from callgate.calls import ApprovalAsked, CallKey, Entry
from callgate.errors import JournalCorruptError, LeaseHeldError, LeaseLostError, UnknownRunError

from ._chain import follow, genesis
from ._codec import decode_entry, encode_entry
from ._folds import CLOSING, SPEAKING, ended, open_questions
from ._port import Decision, Fault, Lease, Record, RunInfo
from ._schema import connect, typed
from ._verify import Row, first_fault
from ._writer import Writer

T = TypeVar("T")

_QUESTIONS = (
    "SELECT CAST(line AS BLOB) FROM entries WHERE run_id = ? AND question IS NOT NULL ORDER BY sequence"
)


async def open_sqlite(path: Path, wait_seconds: float) -> SqliteStore:
    """The store in a file. Raises as ``open_journal`` does."""
    connection = await to_thread.run_sync(connect, path, wait_seconds)
    return SqliteStore(path, wait_seconds, Writer(connection))


class SqliteStore:
    """A ``Store`` in one file. Reading never waits for writing, nor the reverse."""

    def __init__(self, path: Path, wait_seconds: float, writer: Writer) -> None:
        self._path = path
        self._wait_seconds = wait_seconds
        self._writer = writer

    async def append(self, lease: Lease, entries: Sequence[Entry]) -> None:
        """See ``Journal.append``."""
        lines = [(entry, encode_entry(entry)) for entry in entries]
        await self._writer.run(partial(_append, lease, lines))

    async def read(self, run: str, start: int = 0) -> list[Record]:
        """See ``Journal.read``."""
        return await self._reading(partial(_read, run, start))

    async def runs(self) -> list[RunInfo]:
        """See ``Journal.runs``."""
        return await self._reading(_runs)

    async def verify(self, run: str | None = None) -> list[Fault]:
        """See ``Journal.verify``."""
        return await self._reading(partial(_verify, run))

    async def close(self) -> None:
        """See ``Journal.close``."""
        await self._writer.close()

    async def acquire(self, run: str, holder: str, seconds: float, at: float, takes_over: str = "") -> Lease:
        """See ``Leases.acquire``."""
        return await self._writer.run(partial(_acquire, Lease(run, holder, 0, at + seconds), at, takes_over))

    async def renew(self, lease: Lease, seconds: float, at: float) -> Lease:
        """See ``Leases.renew``."""
        return await self._writer.run(partial(_renew, msgspec.structs.replace(lease, until=at + seconds)))

    async def release(self, lease: Lease) -> None:
        """See ``Leases.release``."""
        await self._writer.run(partial(_release, lease))

    async def post(self, decision: Decision) -> bool:
        """See ``Inbox.post``."""
        return await self._writer.run(partial(_post, decision))

    async def take(self, run: str) -> list[Decision]:
        """See ``Inbox.take``."""
        return await self._reading(partial(_take, run))

    async def waiting(self, run: str | None = None) -> list[ApprovalAsked]:
        """See ``Inbox.waiting``."""
        return await self._reading(partial(_waiting, run))

    async def _reading(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await to_thread.run_sync(_with_reader, self._path, self._wait_seconds, work)


def _with_reader(path: Path, wait_seconds: float, work: Callable[[sqlite3.Connection], T]) -> T:
    try:
        # mode=rw: a file that is gone must not come back empty.
        address = f"{path.as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, wait_seconds, isolation_level=None, uri=True)) as connection:
            # One transaction: what is read is the state at one moment.
            connection.execute("BEGIN")
            return work(connection)
    except sqlite3.Error as problem:
        raise typed(problem, path) from problem


def _held(lease: Lease, connection: sqlite3.Connection) -> tuple[int, int, bytes, str]:
    """Row id, number of entries, head and end of the lease's run, when the lease still holds."""
    found = connection.execute(
        "SELECT id, entries, head, ended FROM runs WHERE run = ? AND fence = ?", (lease.run, lease.fence)
    ).fetchone()
    if found is None:
        message = "the run was taken by another"
        raise LeaseLostError(message, run=lease.run, fence=lease.fence)
    row: tuple[int, int, bytes, str] = found
    return row


def _append(lease: Lease, lines: Sequence[tuple[Entry, bytes]], connection: sqlite3.Connection) -> None:
    run_id, count, head, reason = _held(lease, connection)
    if not lines:
        return
    rows = []
    for place, (entry, line) in enumerate(lines, count):
        head = follow(head, line)
        rows.append((run_id, place, line, head, 1 if isinstance(entry, SPEAKING) else None))
    connection.executemany(
        "INSERT INTO entries (run_id, sequence, line, digest, question) VALUES (?, ?, ?, ?, ?)", rows
    )
    reason = ended((entry for entry, _ in lines), reason)
    connection.execute(
        "UPDATE runs SET entries = ?, head = ?, last_at = ?, ended = ?,"
        " first_at = CASE entries WHEN 0 THEN ? ELSE first_at END WHERE id = ?",
        (count + len(lines), head, lines[-1][0].at, reason, lines[0][0].at, run_id),
    )
    if any(isinstance(entry, CLOSING) for entry, _ in lines):
        _tidy_inbox(run_id, connection)


def _tidy_inbox(run_id: int, connection: sqlite3.Connection) -> None:
    """Drop what people decided about calls that wait for nobody any more."""
    rows = connection.execute("SELECT call FROM inbox WHERE run_id = ?", (run_id,)).fetchall()
    if rows:
        waiting = {_call(asked.key) for asked in _questions(run_id, connection)}
        gone = [(run_id, call) for (call,) in rows if call not in waiting]
        connection.executemany("DELETE FROM inbox WHERE run_id = ? AND call = ?", gone)


def _acquire(wanted: Lease, at: float, takes_over: str, connection: sqlite3.Connection) -> Lease:
    row = connection.execute("SELECT holder, fence, until FROM runs WHERE run = ?", (wanted.run,)).fetchone()
    holder, fence, until = row or ("", 0, 0.0)
    if holder not in {"", wanted.holder, takes_over} and until > at:
        message = "another process holds the run"
        raise LeaseHeldError(message, run=wanted.run, holder=holder, until=until)
    connection.execute(
        "INSERT INTO runs (run, holder, fence, until, entries, head, first_at, last_at, ended)"
        " VALUES (?, ?, ?, ?, 0, ?, 0, 0, '') ON CONFLICT (run) DO UPDATE"
        " SET holder = excluded.holder, fence = excluded.fence, until = excluded.until",
        (wanted.run, wanted.holder, fence + 1, wanted.until, genesis(wanted.run)),
    )
    return msgspec.structs.replace(wanted, fence=fence + 1)


def _renew(lease: Lease, connection: sqlite3.Connection) -> Lease:
    run_id, *_ = _held(lease, connection)
    connection.execute("UPDATE runs SET until = ? WHERE id = ?", (lease.until, run_id))
    return lease


def _release(lease: Lease, connection: sqlite3.Connection) -> None:
    connection.execute(
        "UPDATE runs SET holder = '', until = 0, fence = fence + 1 WHERE run = ? AND fence = ?",
        (lease.run, lease.fence),
    )


def _read(run: str, start: int, connection: sqlite3.Connection) -> list[Record]:
    """The chain is checked from the entry before ``start`` on, and that it goes as far as it was written."""
    # CAST: whoever edits by hand may leave text where bytes were.
    rows = connection.execute(
        "SELECT sequence, CAST(line AS BLOB), CAST(digest AS BLOB) FROM entries JOIN runs ON runs.id = run_id"
        " WHERE run = ? AND sequence >= ? ORDER BY sequence",
        (run, max(start - 1, 0)),
    )
    written = connection.execute(
        "SELECT entries, CAST(head AS BLOB) FROM runs WHERE run = ?", (run,)
    ).fetchone() or (0, genesis(run))
    records, head, place = [], genesis(run), start
    for sequence, line, digest in rows:
        if sequence == start - 1:
            head = digest
            continue
        head = follow(head, line)
        if sequence != place or head != digest:
            raise _changed(run, place)
        records.append(Record(place, _decoded(run, place, line), head.hex()))
        place += 1
    if start <= written[0] and (place, head) != written:
        raise _changed(run, min(place, written[0] - 1))
    return records


def _changed(run: str, sequence: int) -> JournalCorruptError:
    message = "the record is not as it was written; verify says what happened to it"
    return JournalCorruptError(message, run=run, sequence=sequence)


def _decoded(run: str, sequence: int, line: bytes) -> Entry:
    try:
        return decode_entry(line)
    except JournalCorruptError as problem:
        message = "an entry cannot be read"
        raise JournalCorruptError(message, run=run, sequence=sequence, **problem.facts) from None


def _runs(connection: sqlite3.Connection) -> list[RunInfo]:
    rows = connection.execute(
        "SELECT run, runs.entries, first_at, last_at, ended, holder, until FROM runs"
        " LEFT JOIN entries ON run_id = runs.id AND sequence = runs.entries - 1"
        " WHERE runs.entries > 0 ORDER BY entries.rowid DESC"
    )
    return [RunInfo(*row) for row in rows]


def _call(key: CallKey) -> str:
    return f"{key.turn}.{key.attempt}.{key.position}"


def _verify(run: str | None, connection: sqlite3.Connection) -> list[Fault]:
    runs = connection.execute(
        "SELECT id, run, entries, CAST(head AS BLOB) FROM runs WHERE ?1 IS NULL OR run = ?1 ORDER BY id",
        (run,),
    )
    faults = [
        first_fault(name, partial(_rows, run_id, connection), count, head)
        for run_id, name, count, head in runs.fetchall()
    ]
    return [fault for fault in faults if fault is not None]


def _rows(run_id: int, connection: sqlite3.Connection) -> Iterable[Row]:
    return connection.execute(
        "SELECT sequence, CAST(line AS BLOB), CAST(digest AS BLOB), question FROM entries"
        " WHERE run_id = ? ORDER BY sequence",
        (run_id,),
    )


def _questions(run_id: int, connection: sqlite3.Connection) -> list[ApprovalAsked]:
    rows = connection.execute(_QUESTIONS, (run_id,))
    return open_questions(decode_entry(line) for (line,) in rows)


def _post(decision: Decision, connection: sqlite3.Connection) -> bool:
    row = connection.execute("SELECT id FROM runs WHERE run = ?", (decision.key.run,)).fetchone()
    if row is None:
        message = "no such run"
        raise UnknownRunError(message, run=decision.key.run)
    if all(asked.key != decision.key for asked in _questions(row[0], connection)):
        return False
    stored = connection.execute(
        "INSERT INTO inbox (run_id, call, digest, decision) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (row[0], _call(decision.key), decision.digest, msgspec.json.encode(decision)),
    )
    return bool(stored.rowcount == 1)


def _take(run: str, connection: sqlite3.Connection) -> list[Decision]:
    rows = connection.execute(
        "SELECT decision FROM inbox JOIN runs ON runs.id = run_id WHERE run = ? ORDER BY inbox.id", (run,)
    )
    return [msgspec.json.decode(decision, type=Decision) for (decision,) in rows]


def _waiting(run: str | None, connection: sqlite3.Connection) -> list[ApprovalAsked]:
    runs = connection.execute("SELECT id FROM runs WHERE ?1 IS NULL OR run = ?1 ORDER BY id", (run,))
    return [asked for (run_id,) in runs.fetchall() for asked in _questions(run_id, connection)]
