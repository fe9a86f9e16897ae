"""A journal in memory: for tests, and for runs that need not outlive the process.

Appending stores the entries as they are; lines and digests are computed when somebody reads.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from callgate.calls import ApprovalAsked, Entry
from callgate.errors import JournalUnavailableError, LeaseHeldError, LeaseLostError, UnknownRunError

from ._chain import follow, genesis
from ._codec import encode_entry
from ._folds import ended, open_questions
from ._port import Decision, Fault, Lease, Record, RunInfo


class _Run(msgspec.Struct):
    holder: str = ""
    fence: int = 0
    until: float = 0.0
    entries: list[Entry] = []
    digests: list[bytes] = []
    inbox: list[Decision] = []
    written: int = 0


class MemoryStore:
    """A ``Store`` that is gone with its process. It waits for nothing, so it needs no event loop."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._is_closed = False
        self._appends = 0

    async def append(self, lease: Lease, entries: Sequence[Entry]) -> None:
        """See ``Journal.append``."""
        run = _held(self._opened(), lease)
        run.entries.extend(entries)
        self._appends += 1
        run.written = self._appends
        if run.inbox:
            waiting = {asked.key for asked in open_questions(run.entries)}
            run.inbox = [decision for decision in run.inbox if decision.key in waiting]

    async def read(self, run: str, start: int = 0) -> list[Record]:
        """See ``Journal.read``."""
        kept = self._opened().get(run, _Run())
        head = kept.digests[-1] if kept.digests else genesis(run)
        for entry in kept.entries[len(kept.digests) :]:
            head = follow(head, encode_entry(entry))
            kept.digests.append(head)
        chained = zip(kept.entries, kept.digests, strict=True)
        return [Record(at, entry, digest.hex()) for at, (entry, digest) in enumerate(chained) if at >= start]

    async def runs(self) -> list[RunInfo]:
        """See ``Journal.runs``."""
        runs = [(name, run) for name, run in self._opened().items() if run.entries]
        runs.sort(key=lambda pair: -pair[1].written)
        return [
            RunInfo(
                name,
                len(run.entries),
                run.entries[0].at,
                run.entries[-1].at,
                ended(run.entries),
                run.holder,
                run.until,
            )
            for name, run in runs
        ]

    async def verify(self, run: str | None = None) -> list[Fault]:  # noqa: ARG002 - the port's
        """Nothing can have changed: entries are frozen and nobody else has them."""
        self._opened()
        return []

    async def close(self) -> None:
        """See ``Journal.close``."""
        self._is_closed = True

    async def acquire(self, run: str, holder: str, seconds: float, at: float, takes_over: str = "") -> Lease:
        """See ``Leases.acquire``."""
        kept = self._opened().setdefault(run, _Run())
        if kept.holder not in {"", holder, takes_over} and kept.until > at:
            message = "another process holds the run"
            raise LeaseHeldError(message, run=run, holder=kept.holder, until=kept.until)
        kept.holder, kept.until = holder, at + seconds
        kept.fence += 1
        return Lease(run, holder, kept.fence, kept.until)

    async def renew(self, lease: Lease, seconds: float, at: float) -> Lease:
        """See ``Leases.renew``."""
        run = _held(self._opened(), lease)
        run.until = at + seconds
        return msgspec.structs.replace(lease, until=run.until)

    async def release(self, lease: Lease) -> None:
        """See ``Leases.release``."""
        run = self._opened().get(lease.run)
        if run is not None and run.fence == lease.fence:
            run.holder, run.until = "", 0.0
            run.fence += 1

    async def post(self, decision: Decision) -> bool:
        """See ``Inbox.post``."""
        run = self._opened().get(decision.key.run)
        if run is None:
            message = "no such run"
            raise UnknownRunError(message, run=decision.key.run)
        waiting = {asked.key for asked in open_questions(run.entries)}
        answered = {(other.key, other.digest) for other in run.inbox}
        if decision.key not in waiting or (decision.key, decision.digest) in answered:
            return False
        run.inbox.append(decision)
        return True

    async def take(self, run: str) -> list[Decision]:
        """See ``Inbox.take``."""
        kept = self._opened().get(run)
        return list(kept.inbox) if kept is not None else []

    async def waiting(self, run: str | None = None) -> list[ApprovalAsked]:
        """See ``Inbox.waiting``."""
        names = self._opened() if run is None else [run]
        runs = [self._runs[name] for name in names if name in self._runs]
        return [asked for kept in runs for asked in open_questions(kept.entries)]

    def _opened(self) -> dict[str, _Run]:
        if self._is_closed:
            message = "the journal is closed"
            raise JournalUnavailableError(message)
        return self._runs


def _held(runs: dict[str, _Run], lease: Lease) -> _Run:
    run = runs.get(lease.run)
    if run is None or run.fence != lease.fence:
        message = "the run was taken by another"
        raise LeaseLostError(message, run=lease.run, fence=lease.fence)
    return run
