"""What every store of a journal offers, and the values that pass.

A run has one writer: whoever holds its lease. A lease carries a fence, a number that grows with every change
of hands; an append under an older fence is refused, so a process that was paused and came back cannot write.
Others read, and leave decisions in the inbox, which is outside the chain. Times are Unix seconds and come
from the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from callgate.calls import ApprovalAsked, CallKey, Entry


class Lease(msgspec.Struct, frozen=True, gc=False):
    """The right to append to a run. ``until``: when another may take it; ``fence`` tells whether one did."""

    run: str
    holder: str
    fence: int
    until: float


class Record(msgspec.Struct, frozen=True, gc=False):
    """An entry in its place: ``sequence`` from 0. ``digest`` (hexadecimal) covers it and all before it."""

    sequence: int
    entry: Entry
    digest: str


class RunInfo(msgspec.Struct, frozen=True, gc=False):
    """A run in a listing.

    ``ended`` is the reason it ended with, empty while it goes on; ``holder`` who has the lease.
    """

    run: str
    entries: int
    first_at: float
    last_at: float
    ended: str = ""
    holder: str = ""
    until: float = 0.0


class Fault(msgspec.Struct, frozen=True, gc=False):
    """The first entry of a run that is not as it was written, and why that is known."""

    run: str
    sequence: int
    code: str
    why: str


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What a person decided about a waiting call, and about nothing but the call with this digest."""

    key: CallKey
    digest: str
    approved: bool
    by: str
    reason: str
    at: float


class Journal(Protocol):
    """The record itself."""

    async def append(self, lease: Lease, entries: Sequence[Entry]) -> None:
        """Write entries to the end of the lease's run: all of them, durable when this returns, or none.

        Raises:
            LeaseLostError: The run was taken by another, or the lease was given back.
            JournalUnavailableError: The store cannot write now; nothing was appended.
        """
        ...

    async def read(self, run: str, start: int = 0) -> list[Record]:
        """The entries of a run from ``start`` on, in order; empty for a run that is not there.

        Raises:
            JournalCorruptError: The chain does not verify, or an entry cannot be read.
        """
        ...

    async def runs(self) -> list[RunInfo]:
        """Every run that has entries, the one written last first."""
        ...

    async def verify(self, run: str | None = None) -> list[Fault]:
        """The first fault of one run, or of each run; empty when all is as it was written."""
        ...

    async def close(self) -> None:
        """Finish what was begun and let go of the store. More than once is fine."""
        ...


class Leases(Protocol):
    """Who may append."""

    async def acquire(self, run: str, holder: str, seconds: float, at: float, takes_over: str = "") -> Lease:
        """Take a run that is free, expired, or held by ``holder`` itself or by one known to be gone.

        ``takes_over`` names that one: the run is taken from it and from no other.

        Raises:
            LeaseHeldError: Another holds it.
        """
        ...

    async def renew(self, lease: Lease, seconds: float, at: float) -> Lease:
        """Hold it for longer, under the same fence.

        Raises:
            LeaseLostError: Another took it.
        """
        ...

    async def release(self, lease: Lease) -> None:
        """Give it back; nothing happens when it is lost already."""
        ...


class Inbox(Protocol):
    """Decisions on their way to the writer of a run."""

    async def post(self, decision: Decision) -> bool:
        """Leave a decision; false when the call is not waiting, or was answered already.

        Raises:
            UnknownRunError: There is no such run.
        """
        ...

    async def take(self, run: str) -> list[Decision]:
        """The decisions that no ``Decided`` entry confirms yet, oldest first.

        Appending that entry is what removes them.
        """
        ...

    async def waiting(self, run: str | None = None) -> list[ApprovalAsked]:
        """The questions of one run, or of all, that nobody has answered in the chain, oldest first."""
        ...


class Store(Journal, Leases, Inbox, Protocol):
    """All three, over one set of runs."""
