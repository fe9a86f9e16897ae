"""The one thread that writes, and the group commit.

In: pieces of work from any number of tasks, event loops and runs. Out: what each returned, once it is
durable. Promise: all work that waits when the thread wakes shares one transaction and one fsync; a piece that
breaks it takes no other with it; no event loop is ever blocked, and each is woken once a group.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

import anyio
from anyio import get_cancelled_exc_class, to_thread
from anyio.lowlevel import current_token

from callgate.errors import CallgateError, JournalUnavailableError

from ._schema import typed

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
"""Reads and writes for one caller; it refuses, by an error of ours, before it writes anything."""

_GROUP: Final = 1000
"""Pieces in one transaction at most, so that the first of them need not wait for ever."""


class _Piece(Generic[T]):
    """Work on its way through the thread."""

    __slots__ = ("done", "loop", "problem", "value", "work")

    def __init__(self, work: Work[T]) -> None:
        self.work = work
        self.loop: Any = current_token().native_token
        self.done = anyio.Event()
        self.value: T
        self.problem: Exception | None = None


class Writer:
    """Owns the writing connection from here on."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._queue: SimpleQueue[_Piece[Any] | None] = SimpleQueue()
        self._sending = threading.Lock()
        self._is_closed = False
        # A daemon: a program that forgot to close must still end. What was acknowledged is durable by then.
        self._thread = threading.Thread(target=self._serve, name="callgate-journal", daemon=True)
        self._thread.start()

    async def run(self, work: Work[T]) -> T:
        """Do it in a transaction; durable when this returns. A cancelled task still waits for that.

        Raises:
            CallgateError: What the work raised, or that the store cannot be written; nothing was then.
        """
        # A forked child has the object and not the thread.
        if not self._thread.is_alive():
            raise _closed()
        piece = _Piece(work)
        with self._sending:
            if self._is_closed:
                raise _closed()
            self._queue.put(piece)
        try:
            await piece.done.wait()
        except GeneratorExit:
            # The loop ended without waiting for this task.
            raise
        except get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await piece.done.wait()
            raise
        if piece.problem is not None:
            raise piece.problem
        return piece.value

    async def close(self) -> None:
        """Finish what waits, then end the thread."""
        with self._sending:
            # The last word: under the lock nothing comes after it.
            if not self._is_closed:
                self._is_closed = True
                self._queue.put(None)
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._thread.join)

    def _serve(self) -> None:
        is_open = True
        while is_open:
            group, is_open = self._take()
            self._commit(group)
            _wake(group)
        self._connection.close()

    def _take(self) -> tuple[list[_Piece[Any]], bool]:
        """All that waits, at least one piece; False when the last word was to close."""
        group: list[_Piece[Any]] = []
        piece = self._queue.get()
        try:
            while piece is not None:
                group.append(piece)
                if len(group) == _GROUP:
                    return group, True
                piece = self._queue.get_nowait()
        except Empty:
            return group, True
        return group, False

    def _commit(self, group: list[_Piece[Any]]) -> None:
        """One transaction. When a piece breaks it, it is undone and done again without that piece."""
        while group:
            piece: _Piece[Any] | None = None
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                for piece in group:
                    _do(piece, self._connection)
                piece = None
                self._connection.execute("COMMIT")
                return
            except Exception as problem:  # noqa: BLE001 - the thread outlives whatever happens to a piece
                self._undo()
                broken = group if piece is None else [piece]
                for one in broken:
                    one.problem = typed(problem)
                group = [one for one in group if one not in broken]

    def _undo(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            # The next BEGIN fails too, and says so to whoever comes.
            return


def _closed() -> JournalUnavailableError:
    message = "the journal is closed, or was opened before this process was forked"
    return JournalUnavailableError(message)


def _do(piece: _Piece[Any], connection: sqlite3.Connection) -> None:
    piece.problem = None
    try:
        piece.value = piece.work(connection)
    except CallgateError as refusal:
        piece.problem = refusal


def _wake(group: list[_Piece[Any]]) -> None:
    loops: dict[Any, list[_Piece[Any]]] = {}
    for piece in group:
        loops.setdefault(piece.loop, []).append(piece)
    for loop, pieces in loops.items():
        # asyncio's loop and trio's token each have one call that is safe from another thread.
        soon = loop.call_soon_threadsafe if hasattr(loop, "call_soon_threadsafe") else loop.run_sync_soon
        try:
            soon(_set, pieces)
        except RuntimeError:
            # The loop has ended, and with it everyone who waited.
            continue


def _set(pieces: list[_Piece[Any]]) -> None:
    for piece in pieces:
        piece.done.set()
