"""What is promised of the record."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from callgate.calls import ApprovalAsked, CallKey, Decided, Returned, RunStarted, Started
from callgate.errors import JournalUnavailableError, LeaseLostError
from callgate.journal import Decision, Store, open_journal

pytestmark = pytest.mark.anyio

C1 = CallKey("r", 0, 0, 0)
ASKED = ApprovalAsked(C1, 3.0, "digest of c1", ("it deletes",))
YES = Decision(C1, "digest of c1", approved=True, by="ada", reason="", at=4.0)

KILLED = """
import sys, os, signal, anyio
from callgate.calls import CallKey, Started
from callgate.journal import open_journal

async def main():
    store = await open_journal(sys.argv[1])
    lease = await store.acquire("r", "first", 30, 0.0)
    await store.append(lease, [Started(CallKey("r"), 1.0, "cg_1")])
    os.kill(os.getpid(), signal.SIGKILL)

anyio.run(main)
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'run.db'}"


async def lease_and_append(store: Store, holder: str, at: float) -> None:
    lease = await store.acquire("r", holder, 30, at)
    await store.append(lease, [RunStarted("r", at)])


async def test_a_call_that_had_started_is_known_after_kill_9(url: str) -> None:
    """R060: the intent is durable before the tool starts, so what may have happened is never forgotten."""
    killed = subprocess.run([sys.executable, "-c", KILLED, url], check=False)
    assert killed.returncode == -9
    store = await open_journal(url)
    assert [record.entry for record in await store.read("r")] == [Started(CallKey("r"), 1.0, "cg_1")]
    await store.close()


async def test_what_cannot_be_written_is_said_before_anything_starts(url: str, tmp_path: Path) -> None:
    """R060: if the intent cannot be written, the append raises, so the tool does not run."""
    store = await open_journal(url, wait_seconds=0.01)
    lease = await store.acquire("r", "me", 30, 0.0)
    with closing(sqlite3.connect(tmp_path / "run.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalUnavailableError):
            await store.append(lease, [Started(C1, 1.0, "cg_1")])
    assert await store.read("r") == []
    await store.close()


async def test_a_process_that_was_paused_and_comes_back_can_write_nothing(url: str) -> None:
    """One writer a run, by a fence and not by a clock."""
    paused, other = await open_journal(url), await open_journal(url)
    lease = await paused.acquire("r", "paused", 30, 0.0)
    await lease_and_append(other, "other", 31.0)
    with pytest.raises(LeaseLostError):
        await paused.append(lease, [Started(C1, 32.0, "cg_1")])
    assert len(await other.read("r")) == 1
    await paused.close()
    await other.close()


async def test_an_answer_given_while_nobody_listens_is_there_when_the_run_is_taken_up_again(url: str) -> None:
    """R077: request approval, kill, start, list pending, answer yes, answer yes again."""
    store = await open_journal(url)
    await store.append(await store.acquire("r", "killed", 30, 0.0), [RunStarted("r", 0.0), ASKED])
    await store.close()

    terminal = await open_journal(url)
    assert await terminal.waiting() == [ASKED]
    assert await terminal.post(YES)
    assert not await terminal.post(YES)
    await terminal.close()

    store = await open_journal(url)
    lease = await store.acquire("r", "next", 30, 60.0)
    assert await store.take("r") == [YES]
    await store.append(lease, [Decided(C1, 61.0, YES.digest, approved=True, by="ada")])
    assert await store.take("r") == []
    assert not await store.post(YES)
    await store.close()


async def test_the_same_position_in_another_turn_is_another_call(url: str) -> None:
    """R044: providers number calls anew in each turn."""
    store = await open_journal(url)
    lease = await store.acquire("r", "me", 30, 0.0)
    later = CallKey("r", 1, 0, 0)
    await store.append(lease, [ASKED, ApprovalAsked(later, 5.0, "digest of the later one")])
    await store.append(lease, [Decided(C1, 6.0, ASKED.digest, approved=False, by="ada")])
    assert [asked.key for asked in await store.waiting("r")] == [later]
    await store.close()


async def test_an_outcome_that_was_improved_afterwards_is_found(url: str, tmp_path: Path) -> None:
    store = await open_journal(url)
    lease = await store.acquire("r", "me", 30, 0.0)
    outcomes = [Returned(CallKey("r", 0, 0, at), float(at), content=f"paid {at} euros") for at in range(3)]
    await store.append(lease, outcomes)
    assert await store.verify() == []
    with closing(sqlite3.connect(tmp_path / "run.db")) as other, other:
        other.execute("UPDATE entries SET line = replace(line, 'paid 1', 'paid 9')")
    [fault] = await store.verify()
    assert (fault.run, fault.sequence, fault.code) == ("r", 1, "EDITED")
    await store.close()
