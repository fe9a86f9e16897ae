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
from tests.agent.crashing import Order, work
from tests.agent.speaking import SPECS, Call, scripted
from tests.corpus import ROOT
from tests.models.loopback import Loopback

pytestmark = pytest.mark.anyio

EDITS: list[list[Call]] = [
    [("c0", "read_text", {}), ("c1", "replace_text", {"old": "1", "new": "2"})],
    [("c0", "replace_text", {"old": "甲", "new": "乙"}), ("c1", "replace_text", {"old": "x", "new": "y"})],
]
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
        self._process.communicate(timeout=30)


@pytest.fixture(scope="module")
def crasher() -> Iterator[Crasher]:
    process = Crasher()
    yield process
    process.close()


@pytest.fixture
def order(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Order]:
    dialect = str(request.param)
    with Loopback(scripted(dialect, [*EDITS, ANSWER])) as server:
        yield Order(str(tmp_path), server.url, dialect)


def fresh(order: Order, name: str) -> Order:
    folder = Path(order.folder) / name
    folder.mkdir()
    (folder / "说明.md").write_text("1 甲 x\n", encoding="utf-8")
    return replace(order, folder=str(folder))


async def check(order: Order, outcome: Outcome) -> None:
    """Answered; each effect once where the result says so and at most once where it says nobody knows; the
    record clean."""
    folder = Path(order.folder)
    log = folder / "edits.log"
    made = Counter(log.read_text(encoding="utf-8").splitlines() if log.exists() else ())
    results = [result for exchange in outcome.exchanges for result in exchange.results]
    assert (outcome.reason, outcome.text, len(results)) == (Reason.ANSWERED, ANSWER, 4)
    edits = [result for result in results if result.name == "replace_text"]
    for result in edits:
        times = made.pop(str(result.key), 0)
        assert times == 1 if result.status is Status.OK else times <= 1
        # What waited for a call whose end nobody saw was not run.
        assert result.status in {Status.OK, Status.UNKNOWN} or times == 0
    assert not made
    text = (folder / "说明.md").read_text(encoding="utf-8")
    if all(result.status is Status.OK for result in edits):
        assert text == "2 乙 y\n"
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
    unknown = 0
    for append in range(1, appends + 1):
        for before in (True, False):
            here = fresh(order, f"{append}-{before}")
            assert crasher.run(replace(here, append=append, before=before)) == -signal.SIGKILL
            outcome, _ = await work(here)
            await check(here, outcome)
            unknown += any(
                result.status is Status.UNKNOWN for one in outcome.exchanges for result in one.results
            )
    # Killed between a start and its end nobody can know; anywhere else the record tells.
    assert 0 < unknown < appends


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
