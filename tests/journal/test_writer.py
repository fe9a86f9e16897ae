"""The writing thread: what shares a commit, who waits, who is told what."""

import asyncio
import os
import sqlite3
import threading
import warnings
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from anyio.abc import TaskStatus

from callgate.errors import JournalUnavailableError, LeaseLostError
from callgate.journal._schema import connect
from callgate.journal._writer import Writer

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])]


@pytest.fixture
def statements() -> list[str]:
    return []


@pytest.fixture
async def writer(tmp_path: Path, statements: list[str]) -> AsyncIterator[Writer]:
    connection = connect(tmp_path / "run.db", 0.05)
    connection.execute("CREATE TABLE told (what INTEGER NOT NULL)")
    connection.set_trace_callback(statements.append)
    it = Writer(connection)
    yield it
    await it.close()


class Telling:
    """Work that writes a number, when it may."""

    def __init__(self, what: int | None, may: threading.Event | None = None) -> None:
        self.what = what
        self.may = may

    def __call__(self, connection: sqlite3.Connection) -> int | None:
        if self.may is not None:
            assert self.may.wait(30)
        connection.execute("INSERT INTO told VALUES (?)", (self.what,))
        return self.what


def told(connection: sqlite3.Connection) -> list[int]:
    return [what for (what,) in connection.execute("SELECT what FROM told ORDER BY what")]


def refuse(connection: sqlite3.Connection) -> None:
    message = "gone"
    raise LeaseLostError(message)


async def together(
    writer: Writer, works: list[Telling], may: threading.Event
) -> list[int | Exception | None]:
    """Have all of them wait while the thread is busy with the first, then let it go on."""
    answers: list[int | Exception | None] = [None] * len(works)

    async def ask(at: int, *, task_status: TaskStatus[None]) -> None:
        task_status.started()
        try:
            answers[at] = await writer.run(works[at])
        except JournalUnavailableError as problem:
            answers[at] = problem

    async with anyio.create_task_group() as group:
        for at in range(len(works)):
            await group.start(ask, at)
        await anyio.sleep(0.01)
        may.set()
    return answers


async def test_all_that_waits_shares_one_commit(writer: Writer, statements: list[str]) -> None:
    may = threading.Event()
    works = [Telling(0, may), *map(Telling, range(1, 50))]
    assert await together(writer, works, may) == list(range(50))
    # The first may have gone alone; the other forty-nine waited for it.
    assert statements.count("COMMIT") <= 2
    assert await writer.run(told) == list(range(50))


async def test_a_piece_that_breaks_takes_no_other_with_it(writer: Writer) -> None:
    may = threading.Event()
    answers = await together(writer, [Telling(0, may), Telling(1), Telling(None), Telling(3)], may)
    assert [answers[at] for at in (0, 1, 3)] == [0, 1, 3]
    assert isinstance(answers[2], JournalUnavailableError)
    assert await writer.run(told) == [0, 1, 3]


async def test_what_a_piece_read_is_still_so_when_it_writes(writer: Writer, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "run.db", 0, isolation_level=None, check_same_thread=False)

    def read_then_write(connection: sqlite3.Connection) -> None:
        (count,) = connection.execute("SELECT count(*) FROM told").fetchone()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("INSERT INTO told VALUES (7)")
        connection.execute("INSERT INTO told VALUES (?)", (count,))

    await writer.run(read_then_write)
    other.close()
    assert await writer.run(told) == [0]


async def test_the_first_of_a_crowd_does_not_wait_for_all_of_it(
    writer: Writer, statements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("callgate.journal._writer._GROUP", 3)
    may = threading.Event()
    assert await together(writer, [Telling(0, may), *map(Telling, range(1, 9))], may) == list(range(9))
    assert statements.count("COMMIT") >= 3


async def test_a_connection_that_is_lost_is_told_to_everyone(writer: Writer) -> None:
    await writer.run(Telling(1))
    for lost in (sqlite3.Connection.close, told, told):
        with pytest.raises(JournalUnavailableError):
            await writer.run(lost)


async def test_a_refusal_is_told_to_the_one_it_concerns(writer: Writer) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(writer.run, Telling(1))
        with pytest.raises(LeaseLostError):
            await writer.run(refuse)
        group.start_soon(writer.run, Telling(2))
    assert await writer.run(told) == [1, 2]


async def test_an_error_that_is_not_sqlites_reaches_the_caller_as_it_is(writer: Writer) -> None:
    def divide(connection: sqlite3.Connection) -> float:
        return 1 / 0

    with pytest.raises(ZeroDivisionError):
        await writer.run(divide)
    assert await writer.run(told) == []


async def test_while_another_process_writes_the_loop_goes_on_and_nothing_is_written(
    writer: Writer, tmp_path: Path
) -> None:
    """The other one holds the file for longer than this one waits."""
    other = sqlite3.connect(tmp_path / "run.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.001)
            ticks += 1

    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        with pytest.raises(JournalUnavailableError, match="locked"):
            await writer.run(Telling(1))
        group.cancel_scope.cancel()
    other.execute("ROLLBACK")
    other.close()
    assert ticks >= 3
    assert await writer.run(told) == []
    assert await writer.run(Telling(2)) == 2


async def test_a_cancelled_task_still_learns_that_it_is_written(writer: Writer) -> None:
    may = threading.Event()
    heard: list[int | None] = []

    async def ask() -> None:
        heard.append(await writer.run(Telling(1, may)))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await anyio.sleep(0.01)
        group.cancel_scope.cancel()
        threading.Timer(0.05, may.set).start()
    assert heard == []
    # The group ended only after the commit: nothing is under way behind the caller's back.
    assert await writer.run(told) == [1]


async def test_asyncios_own_cancellation_waits_for_the_commit_too(writer: Writer, anyio_backend: str) -> None:
    if anyio_backend != "asyncio":
        pytest.skip("a cancellation that only asyncio has")
    may = threading.Event()
    task = asyncio.ensure_future(writer.run(Telling(1, may)))
    await anyio.sleep(0.01)
    task.cancel()
    await anyio.sleep(0.01)
    assert not task.done()
    may.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await writer.run(told) == [1]


async def test_a_loop_that_ended_is_passed_over(writer: Writer) -> None:
    """Another thread's loop dies with a piece on its way; the thread and everyone else go on."""
    may = threading.Event()

    async def ask_and_leave() -> None:
        asyncio.get_running_loop().call_later(0.01, may.set)
        task = asyncio.ensure_future(writer.run(Telling(1, may)))
        await asyncio.sleep(0)
        assert not task.done()

    def other_loop() -> None:
        loop = asyncio.new_event_loop()
        loop.run_until_complete(ask_and_leave())
        may.set()
        for task in asyncio.all_tasks(loop):
            # As a program does that ends without waiting for its tasks.
            task._log_destroy_pending = False  # type: ignore[attr-defined]
        loop.close()

    await anyio.to_thread.run_sync(other_loop)
    assert await writer.run(Telling(2)) == 2
    assert await writer.run(told) == [1, 2]


async def test_several_loops_share_one_writer(writer: Writer) -> None:
    async def ask(first: int) -> None:
        for what in range(first, first + 10):
            assert await writer.run(Telling(what)) == what

    async def ask_elsewhere(first: int) -> None:
        await anyio.to_thread.run_sync(lambda: asyncio.run(ask(first)))

    async with anyio.create_task_group() as group:
        for at in range(3):
            group.start_soon(ask_elsewhere, 100 * at)
        await ask(900)
    assert len(await writer.run(told)) == 40


async def test_closing_finishes_what_waits_and_refuses_what_comes(writer: Writer, tmp_path: Path) -> None:
    may = threading.Event()
    heard: list[int | None] = []

    async def ask(what: int) -> None:
        heard.append(await writer.run(Telling(what, may)))

    async with anyio.create_task_group() as group:
        for what in range(5):
            group.start_soon(ask, what)
        await anyio.sleep(0.01)
        group.start_soon(writer.close)
        await anyio.sleep(0.01)
        with pytest.raises(JournalUnavailableError, match="closed"):
            await writer.run(Telling(9))
        may.set()
    assert sorted(heard, key=str) == list(range(5))
    with sqlite3.connect(tmp_path / "run.db") as connection:
        assert told(connection) == list(range(5))
    connection.close()


async def test_a_forked_child_is_told_that_the_journal_is_not_its_own(writer: Writer) -> None:
    with warnings.catch_warnings():
        # Python 3.12 warns of any fork beside threads, which is what this is about.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 1
        try:
            writer.run(Telling(1)).send(None)
        except JournalUnavailableError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert await writer.run(Telling(2)) == 2
