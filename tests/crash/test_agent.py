"""A run is killed at every append to its journal, before and after, and goes on in another process."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from callgate.agent import Outcome, Reason
from callgate.calls import Status
from callgate.journal import open_journal
from callgate.workspace import version_of
from tests.agent.speaking import SPECS, Call, scripted
from tests.corpus import ROOT
from tests.crash.crashing import Order, work
from tests.models.loopback import Loopback

pytestmark = pytest.mark.anyio

BEFORE, AFTER = "version 1\n", "version 2\n"
RAISE = {"old": "version 1", "new": "version 2", "expected_version": version_of(BEFORE.encode())}
"""An edit that can tell after a crash whether it was made."""
TURNS: list[list[Call]] = [
    [("c0", "read_file", {"path": "a.md"}), ("c1", "replace_in_file", {"path": "a.md", **RAISE})],
    [("c0", "replace_in_file", {"path": "资料/说明.md", **RAISE}), ("c1", "append_line", {"line": "好"})],
]
FILES = ("a.md", "资料/说明.md")
ANSWER = "Done: 版本 2."


class Crasher:
    """The process whose forks die."""

    def __init__(self) -> None:
        path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("crashing.py"))],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run(self, order: Order) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(order)).encode() + b"\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=120)


@pytest.fixture(scope="module")
def crasher() -> Iterator[Crasher]:
    process = Crasher()
    yield process
    process.close()


@pytest.fixture
def order(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Order]:
    dialect = str(request.param)
    with Loopback(scripted(dialect, [*TURNS, ANSWER])) as server:
        yield Order(str(tmp_path), server.url, dialect)


def fresh(order: Order, name: str) -> Order:
    folder = Path(order.folder) / name
    for file in FILES:
        (folder / "files" / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / "files" / file).write_text(BEFORE, encoding="utf-8")
    return replace(order, folder=str(folder))


async def check(order: Order, outcome: Outcome) -> None:
    """Answered; each effect once where a result says so, else at most once; the record clean."""
    assert (outcome.reason, outcome.text) == (Reason.ANSWERED, ANSWER)
    folder = Path(order.folder)
    (read, first), (second, appended) = [exchange.results for exchange in outcome.exchanges]
    assert (read.status, read.content) == (Status.OK, BEFORE)
    for file, result in zip(FILES, (first, second), strict=True):
        text = (folder / "files" / file).read_text(encoding="utf-8")
        # The edit is asked after a crash: what it did is never unknown.
        assert (result.status, text) in {(Status.OK, AFTER), (Status.ERROR, BEFORE)}
    log = folder / "log"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    assert len(lines) == 1 if appended.status is Status.OK else len(lines) <= 1
    assert appended.status in {Status.OK, Status.UNKNOWN} or not lines
    assert set(lines) <= {f"{appended.key} 好"}
    store = await open_journal(f"sqlite:{folder / 'run.db'}")
    assert await store.verify(None) == []
    await store.close()


@pytest.mark.parametrize("order", SPECS, indirect=True)
async def test_killed_at_any_append_each_effect_happened_once_or_is_unknown(
    order: Order, crasher: Crasher
) -> None:
    whole = fresh(order, "whole")
    appends = crasher.run(whole)
    await check(whole, (await work(whole))[0])
    assert appends >= 9
    # Before an append is after the one before it, and after all that happened between them.
    moments = (True, False) if order.dialect == "openai-chat" else (True,)
    told: Counter[Status] = Counter()
    for append in range(1, appends + 1):
        for before in moments:
            here = fresh(order, f"{append}-{before}")
            assert crasher.run(replace(here, append=append, before=before)) == -signal.SIGKILL
            outcome, _ = await work(here)
            await check(here, outcome)
            told[outcome.exchanges[1].results[1].status] += 1
    # Killed between its start and its end nobody can know of the last call, and killed during the call it
    # waited for, it was not run; anywhere else it was.
    assert 0 < told[Status.UNKNOWN] <= len(moments)
    assert told[Status.NOT_RUN] <= len(moments)
    assert told[Status.OK] == appends * len(moments) - told[Status.UNKNOWN] - told[Status.NOT_RUN]


@pytest.mark.parametrize("order", ["openai-chat"], indirect=True)
async def test_a_recovery_that_is_killed_too_changes_nothing(order: Order, crasher: Crasher) -> None:
    middle = crasher.run(fresh(order, "whole")) // 2
    for append in range(1, 20):
        here = fresh(order, f"{append}")
        assert crasher.run(replace(here, append=middle)) == -signal.SIGKILL
        ended = crasher.run(replace(here, append=append))
        outcome, _ = await work(here)
        await check(here, outcome)
        if ended != -signal.SIGKILL:
            break
    assert append > 4
