"""What a durable entry costs, beside plain sqlite3 and LangGraph's SQLite checkpointer.

Every contestant writes records of the same size to a file of its own, with WAL and synchronous=FULL: when an
append returns, an fsync has. Rounds of all contestants are interleaved and medians compared: ratios survive a
noisy machine, absolute times do not.

    python benchmarks/journal.py [--rounds N]
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any

from callgate.calls import CallKey, Entry, Returned, freeze
from callgate.journal import encode_entry, open_journal

GROUP = 50
RUNS = 50
SHARED = 10  # appends of each run in a round, one after another
CONTENT = freeze({"path": "src/app.py", "lines": [f"line {at}" for at in range(20)]})
TARGET_MEMORY_MICROSECONDS = 1.0

Round = Callable[[], Awaitable[int]]
"""Writes once; how many entries that were."""


def entry(run: str, position: int = 0) -> Returned:
    """An entry as a tool's result makes it."""
    return Returned(CallKey(run, 0, 0, position), 1_700_000_000.5, CONTENT, 20_000)


LINE = encode_entry(entry("run-00"))


@asynccontextmanager
async def callgate(url: str, size: int, runs: int = 1) -> AsyncIterator[Round]:
    """Append ``SHARED`` groups of ``size`` in each of ``runs`` at the same time."""
    store = await open_journal(url)
    names = [f"run-{at:02}" for at in range(runs)]
    leases = [await store.acquire(name, "bench", 1e9, 0.0) for name in names]
    groups: list[list[Entry]] = [[entry(name, at) for at in range(size)] for name in names]

    async def several(at: int) -> None:
        for _ in range(SHARED):
            await store.append(leases[at], groups[at])

    async def once() -> int:
        await (several(0) if runs == 1 else asyncio.gather(*map(several, range(runs))))
        return runs * SHARED * size

    yield once
    await store.close()


@asynccontextmanager
async def plain_sqlite(path: Path, size: int) -> AsyncIterator[Round]:
    """The floor: no chain, no lease, no thread."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE entries (run TEXT, sequence INTEGER, line BLOB)")

        async def once() -> int:
            for _ in range(SHARED):
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany("INSERT INTO entries VALUES ('run-00', 1, ?)", [(LINE,)] * size)
                connection.execute("COMMIT")
            return SHARED * size

        yield once


@asynccontextmanager
async def langgraph(path: Path, size: int, runs: int = 1) -> AsyncIterator[Round]:
    """Its asynchronous saver, which keeps the writes of a step."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    text = LINE.decode()
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        await saver.setup()
        task = iter(range(10**9))

        async def put(at: int) -> None:
            config: Any = {
                "configurable": {"thread_id": f"run-{at:02}", "checkpoint_ns": "", "checkpoint_id": "1"}
            }
            await saver.aput_writes(config, [("tools", text)] * size, f"task-{next(task)}")

        async def several(at: int) -> None:
            for _ in range(SHARED):
                await put(at)

        async def once() -> int:
            await (several(0) if runs == 1 else asyncio.gather(*map(several, range(runs))))
            return runs * SHARED * size

        yield once


async def timed(once: Round) -> float:
    """Microseconds an entry."""
    start = time.perf_counter()
    count = await once()
    return (time.perf_counter() - start) / count * 1e6


async def measure(rounds: int, folder: Path) -> dict[str, float]:
    """Median microseconds an entry, by contestant."""
    contestants: dict[str, Any] = {
        "plain sqlite3, a commit an entry": plain_sqlite(folder / "a.db", 1),
        f"plain sqlite3, a commit for {GROUP}": plain_sqlite(folder / "b.db", GROUP),
        "callgate memory, one at a time": callgate("memory:", 1),
        f"callgate memory, groups of {GROUP}": callgate("memory:", GROUP),
        "callgate SQLite, one at a time": callgate(f"sqlite:{folder / 'c.db'}", 1),
        f"callgate SQLite, groups of {GROUP}": callgate(f"sqlite:{folder / 'd.db'}", GROUP),
        f"callgate SQLite, {RUNS} runs at once": callgate(f"sqlite:{folder / 'e.db'}", 1, RUNS),
        "LangGraph, one at a time": langgraph(folder / "f.db", 1),
        f"LangGraph, groups of {GROUP}": langgraph(folder / "g.db", GROUP),
        f"LangGraph, {RUNS} threads at once": langgraph(folder / "h.db", 1, RUNS),
    }
    async with AsyncExitStack() as stack:
        ready: dict[str, Round] = {}
        for name, contestant in contestants.items():
            try:
                ready[name] = await stack.enter_async_context(contestant)
            except ImportError as missing:
                print(f"left out: {name} ({missing.name} is not installed: langgraph-checkpoint-sqlite)")
        spent: dict[str, list[float]] = {name: [] for name in ready}
        for turn in range(rounds + 3):
            for name, once in ready.items():
                taken = await timed(once)
                if turn >= 3:  # the first ones warm up
                    spent[name].append(taken)
    return {name: statistics.median(taken) for name, taken in spent.items()}


def main() -> int:
    """Measure, print the table, and say which targets were met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cost = asyncio.run(measure(asked.rounds, Path(folder)))
    floor = cost["plain sqlite3, a commit an entry"]
    print(f"\nentries of {len(LINE)} bytes, median of {asked.rounds} rounds\n")
    print(f"{'contestant':<36}{'us an entry':>13}{'entries/s':>12}{'x plain commit':>16}")
    for name, spent in cost.items():
        print(f"{name:<36}{spent:>13.1f}{1e6 / spent:>12.0f}{spent / floor:>16.3f}")
    single, shared = cost["callgate SQLite, one at a time"], cost[f"callgate SQLite, {RUNS} runs at once"]
    targets = {
        f"memory under {TARGET_MEMORY_MICROSECONDS} us an entry in groups": cost[
            f"callgate memory, groups of {GROUP}"
        ]
        < TARGET_MEMORY_MICROSECONDS,
        "one at a time costs at most one and a half plain commits": single < floor * 1.5,
        f"{RUNS} runs at once cost a quarter of a commit each, or less": shared < floor / 4,
    }
    if "LangGraph, one at a time" in cost:
        targets[f"{RUNS} runs at once faster than LangGraph"] = (
            shared < cost[f"LangGraph, {RUNS} threads at once"]
        )
    print()
    for target, met in targets.items():
        print(f"{'PASS' if met else 'FAIL'}  {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
