"""A process of its own that writes a journal, for the tests that kill it, starve it or work beside it.

python appender.py append PATH RUN SIZE    append groups of SIZE for ever; a line for each that is durable
python appender.py full PATH RUN BYTES     append until the file may not grow; say how far that went
python appender.py post PATH RUN COUNT     answer COUNT questions of a run; a line for each answer
python appender.py take PATH RUN           try to take the run; say what came of it
"""

from __future__ import annotations

import resource
import signal
import sys

import anyio

from callgate.calls import Returned
from callgate.errors import JournalUnavailableError, LeaseHeldError
from callgate.journal import Store, open_journal
from tests.journal.stores import NOW, decision, key


def say(*words: object) -> None:
    print(*words, flush=True)  # noqa: T201 - this is how it answers


async def append(store: Store, run: str, size: int) -> None:
    """Entry n of group g holds [g, n]: whoever reads can tell a torn group."""
    lease = await store.acquire(run, "appender", 600, NOW)
    group = 0
    while True:
        entries = [Returned(key(run, at), NOW, content=[group, at], note="x" * 300) for at in range(size)]
        await store.append(lease, entries)
        say(group)
        group += 1


async def full(store: Store, run: str, limit: int) -> None:
    lease = await store.acquire(run, "appender", 600, NOW)
    # A write beyond the limit fails with EFBIG, as one on a full disk fails with ENOSPC.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    group = 0
    try:
        while True:
            await store.append(lease, [Returned(key(run, group), NOW, content="x" * 20_000)])
            group += 1
    except JournalUnavailableError:
        seen = len(await store.read(run))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await store.append(lease, [Returned(key(run, group), NOW, content="there is room again")])
        say(group, seen, len(await store.read(run)))


async def post(store: Store, run: str, count: int) -> None:
    answered = 0
    while answered < count:
        for asked in await store.waiting(run):
            if await store.post(decision(run, asked.key.position)):
                say(asked.key.position)
                answered += 1


async def take(store: Store, run: str) -> None:
    try:
        lease = await store.acquire(run, "appender", 30, NOW)
    except LeaseHeldError as held:
        say("held", held.facts["holder"])
    else:
        say("taken", lease.fence)


async def main(what: str, path: str, run: str, number: int = 0) -> None:
    store = await open_journal(f"sqlite:{path}")
    if what == "take":
        await take(store, run)
    else:
        await {"append": append, "full": full, "post": post}[what](store, run, number)
    await store.close()


if __name__ == "__main__":
    what, path, run, *number = sys.argv[1:]
    anyio.run(main, what, path, run, int(number[0]) if number else 0)
