"""What the journal in a file promises beyond the suite: crashes, other processes, full disks, tampering."""

import itertools
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from callgate.calls import Returned
from callgate.errors import JournalCorruptError, JournalUnavailableError, LeaseHeldError, LeaseLostError
from callgate.journal import Store, follow, open_journal
from tests.corpus import ROOT
from tests.journal.stores import NOW, asked, decided, decision, entries_of, key, opened, started

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


@pytest.fixture
async def store(path: Path, anyio_backend: str) -> AsyncIterator[Store]:
    async with opened(f"sqlite:{path}") as it:
        yield it


@contextmanager
def process(*arguments: object) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "tests.journal.appender", *map(str, arguments)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.kill()


def said(*arguments: object) -> list[str]:
    """What a process says that ends by itself."""
    with process(*arguments) as child:
        out, _ = child.communicate(timeout=120)
    assert child.returncode == 0
    return out.split()


# ---------------------------------------------------------------- crashes


async def after_a_kill(path: Path, size: int, seed: int, acknowledged: int) -> int:
    """Kill an appender after it said so often that a group is durable; how many groups are found."""
    chance = random.Random(seed)
    with process("append", path, "r", size) as child:
        assert child.stdout is not None
        for _ in range(acknowledged + 1):
            last = child.stdout.readline()
        time.sleep(chance.uniform(0, 0.01))
        child.send_signal(signal.SIGKILL)
        heard = [int(line) for line in child.stdout.read().split()]
    async with opened(f"sqlite:{path}") as store:
        contents = [entry.content for entry in await entries_of(store, "r") if isinstance(entry, Returned)]
        groups, torn = divmod(len(contents), size)
        assert torn == 0
        assert contents == [[group, at] for group in range(groups) for at in range(size)]
        assert groups > (heard[-1] if heard else int(last))
        assert await store.verify() == []
        # Whoever finds the holder dead goes on where it stopped.
        with pytest.raises(LeaseHeldError):
            await store.acquire("r", "next", 30, NOW)
        lease = await store.acquire("r", "next", 30, NOW, takes_over="appender")
        await store.append(lease, started("r", 0))
        assert await store.verify() == []
    return groups


@pytest.mark.parametrize("seed", range(4))
async def test_a_killed_process_loses_nothing_that_was_acknowledged_and_tears_nothing(
    path: Path, seed: int
) -> None:
    """R060: a torn record is not there at all."""
    assert await after_a_kill(path, [1, 7, 60, 7][seed], seed, [0, 25, 5, 3][seed]) > 0


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100))
async def test_a_hundred_kills_lose_and_tear_nothing(path: Path, seed: int) -> None:
    chance = random.Random(1000 + seed)
    assert await after_a_kill(path, chance.choice([1, 2, 7, 60, 400]), seed, chance.randrange(60)) > 0


async def test_a_store_that_was_never_closed_is_read_by_the_next(path: Path) -> None:
    left = await open_journal(f"sqlite:{path}")
    lease = await left.acquire("r", "me", 30, NOW)
    await left.append(lease, started("r", 0, 1))
    async with opened(f"sqlite:{path}") as store:
        assert await entries_of(store, "r") == started("r", 0, 1)
    await left.close()


# ---------------------------------------------------------------- other processes


async def test_two_processes_do_not_hold_one_run(store: Store, path: Path) -> None:
    mine = await store.acquire("r", "me", 30, NOW)
    assert said("take", path, "r") == ["held", "me"]
    await store.release(mine)
    [word, fence] = said("take", path, "r")
    assert (word, int(fence) > mine.fence) == ("taken", True)
    with pytest.raises(LeaseLostError):
        await store.append(mine, started("r", 0))


async def test_another_process_answers_while_this_one_writes(store: Store, path: Path) -> None:
    """R077: the terminal that approves is not the one that runs."""
    count = 12
    lease = await store.acquire("r", "me", 30, NOW)
    await store.append(lease, [asked("r", at) for at in range(count)])
    answered: list[int] = []
    with process("post", path, "r", count):
        position = 100
        while len(answered) < count:
            await store.append(lease, started("r", position))
            position += 1
            for one in await store.take("r"):
                answered.append(one.key.position)
                await store.append(lease, [decided("r", one.key.position)])
    assert sorted(answered) == list(range(count))
    assert await store.take("r") == []
    assert await store.verify() == []


async def test_a_new_file_may_be_opened_by_many_processes_at_once(path: Path) -> None:
    children = [process("take", path, f"r{at}") for at in range(4)]
    running = [child.__enter__() for child in children]
    assert [child.communicate(timeout=120)[0].split()[0] for child in running] == ["taken"] * 4
    for child in children:
        child.__exit__(None, None, None)


async def test_two_stores_on_one_file_write_different_runs(store: Store, path: Path) -> None:
    async def write(by: Store, run: str) -> None:
        lease = await by.acquire(run, run, 30, NOW)
        for position in range(20):
            await by.append(lease, started(run, position))

    async with opened(f"sqlite:{path}") as other:
        async with anyio.create_task_group() as group:
            group.start_soon(write, store, "a")
            group.start_soon(write, other, "b")
        for run in ("a", "b"):
            assert await entries_of(store, run) == await entries_of(other, run) == started(run, *range(20))
        assert await store.verify() == await other.verify() == []


async def test_what_is_read_beside_a_writer_is_one_state_and_never_a_mixture(
    store: Store, path: Path
) -> None:
    lease = await store.acquire("r", "me", 30, NOW)

    async def write() -> None:
        for position in itertools.count():
            await store.append(lease, [asked("r", position), decided("r", position)])

    async with opened(f"sqlite:{path}") as other, anyio.create_task_group() as group:
        group.start_soon(write)
        for _ in range(30):
            assert await other.verify() == []
            assert await other.waiting() == []
            assert len(await other.read("r")) % 2 == 0
        group.cancel_scope.cancel()


async def test_reading_does_not_wait_for_a_writer(store: Store, path: Path) -> None:
    lease = await store.acquire("r", "me", 30, NOW)
    await store.append(lease, started("r", 0))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE runs SET holder = 'half done'")
        assert await entries_of(store, "r") == started("r", 0)
        assert [info.holder for info in await store.runs()] == ["me"]
        other.execute("ROLLBACK")


# ---------------------------------------------------------------- trouble with the disk


async def test_a_full_disk_appends_nothing_and_the_next_append_after_it_works(path: Path) -> None:
    appended, seen, last = map(int, said("full", path, "r", 400_000))
    assert 0 < appended == seen
    assert last == appended + 1
    async with opened(f"sqlite:{path}") as store:
        assert await store.verify() == []


async def test_a_file_held_by_another_program_is_not_waited_for_for_ever(path: Path) -> None:
    async with opened(f"sqlite:{path}", wait_seconds=0.05) as store:
        lease = await store.acquire("r", "me", 30, NOW)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(JournalUnavailableError) as caught:
                await store.append(lease, started("r", 0))
            assert "locked" in caught.value.facts["why"]
            other.execute("ROLLBACK")
        await store.append(lease, started("r", 1))
        assert await entries_of(store, "r") == started("r", 1)


async def test_a_file_that_is_gone_does_not_come_back_empty(store: Store, path: Path) -> None:
    await store.acquire("r", "me", 30, NOW)
    path.unlink()
    with pytest.raises(JournalUnavailableError):
        await store.read("r")
    assert not path.exists()


# ---------------------------------------------------------------- tampering

TAMPERED: dict[str, tuple[str, str, int]] = {
    "edited": ("UPDATE entries SET line = replace(line, 'cg_2', 'cg_9') WHERE sequence = 2", "EDITED", 2),
    "dropped": ("DELETE FROM entries WHERE sequence = 2", "MISSING", 2),
    "cut": ("DELETE FROM entries WHERE sequence = 4", "MISSING", 4),
    "emptied": ("DELETE FROM entries", "MISSING", 0),
    "swapped": ("UPDATE entries SET sequence = 3 - sequence + 200 WHERE sequence IN (1, 2)", "MOVED", 1),
    "refiled": ("UPDATE entries SET question = 1 WHERE sequence = 3", "EDITED", 3),
    "another head": ("UPDATE runs SET head = x'00'", "EDITED", 4),
}


@pytest.mark.parametrize("name", TAMPERED)
async def test_tampering_is_found_and_named(store: Store, path: Path, name: str) -> None:
    lease = await store.acquire("r", "me", 30, NOW)
    await store.append(lease, started("r", 0, 1, 2, 3, 4))
    await store.append(await store.acquire("s", "me", 30, NOW), started("s", 0))
    statement, code, place = TAMPERED[name]
    with closing(sqlite3.connect(path)) as other, other:
        other.execute(statement + (" AND" if "WHERE" in statement else " WHERE") + _run(statement))
        other.execute("UPDATE entries SET sequence = sequence - 200 WHERE sequence >= 200")
    [fault] = await store.verify()
    assert (fault.run, fault.sequence, fault.code) == ("r", place, code)
    assert await store.verify("r") == [fault]
    assert await store.verify("s") == []
    if name != "refiled":  # which says nothing of what was written
        with pytest.raises(JournalCorruptError) as caught:
            await store.read("r")
        assert caught.value.facts == {"run": "r", "sequence": place}


def _run(statement: str) -> str:
    return " run = 'r'" if "UPDATE runs" in statement else " run_id = (SELECT id FROM runs WHERE run = 'r')"


async def test_an_entry_that_is_chained_but_cannot_be_read_says_which_it_is(store: Store, path: Path) -> None:
    lease = await store.acquire("r", "me", 30, NOW)
    await store.append(lease, started("r", 0, 1, 2))
    before = bytes.fromhex((await store.read("r"))[1].digest)
    with closing(sqlite3.connect(path)) as other, other:
        line = b'{"v":1,"type":"Unheard"}'
        other.execute(
            "UPDATE entries SET line = ?, digest = ? WHERE sequence = 2", (line, follow(before, line))
        )
    with pytest.raises(JournalCorruptError) as caught:
        await store.read("r")
    assert (caught.value.facts["run"], caught.value.facts["sequence"]) == ("r", 2)
    [fault] = await store.verify()
    assert (fault.sequence, fault.code) == (2, "UNREADABLE")


@pytest.mark.parametrize("what", ["take", "waiting", "post"])
async def test_decisions_survive_a_restart(path: Path, what: str) -> None:
    async with opened(f"sqlite:{path}") as store:
        lease = await store.acquire("r", "me", 30, NOW)
        await store.append(lease, [asked("r")])
        await store.post(decision("r"))
    async with opened(f"sqlite:{path}") as store:
        answers: dict[str, Callable[[], Any]] = {
            "take": lambda: store.take("r"),
            "waiting": store.waiting,
            "post": lambda: store.post(decision("r")),
        }
        expected = {"take": [decision("r")], "waiting": [asked("r")], "post": False}
        assert await answers[what]() == expected[what]


async def test_large_content_is_kept_whole(store: Store) -> None:
    lease = await store.acquire("r", "me", 30, NOW)
    entry = Returned(key("r"), NOW, content="ä" * 3_000_000)
    await store.append(lease, [entry])
    assert await entries_of(store, "r") == [entry]
    assert await store.verify() == []
