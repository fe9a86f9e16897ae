"""One run while it is open: its state, its lease, and the pump that is the only writer of its entries.

In: events from callers, workers, people and the clock. Out: durable entries, started jobs, results.
Promise: decide, evolve, append, obey, in that order, for all events that wait at once; one pump at a time;
when the journal refuses, nothing more is started and every waiter is told.
"""

from __future__ import annotations

import contextvars
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import anyio

from callgate.calls import CallKey, CancelRequested, Entry, RunStarted
from callgate.errors import CallgateError, GateClosedError, GateError
from callgate.journal import Lease, Store

from ._decide import Bench, CancelAsked, Dispatch, Happening, decide
from ._machine import Close, Command, Execute, RunState, Stop, evolve
from ._slots import Slots


class Host(Protocol):
    """What a session needs of the gate that holds it."""

    store: Store
    bench: Bench
    slots: Slots

    @property
    def clock(self) -> Callable[[], float]:
        """Unix seconds."""
        ...

    def schedule_pump(self, session: Session) -> None:
        """Have a worker run the session's pump."""
        ...

    def execute(self, session: Session, keys: list[CallKey]) -> None:
        """Start the jobs of calls whose ``Started`` entries are durable."""
        ...

    def stop(self, key: CallKey) -> None:
        """Give up a running call."""
        ...

    def dropped(self, session: Session) -> None:
        """The session can write no more; who needs its run opens it anew, from the journal."""
        ...

    def told(self, entries: list[Entry]) -> None:
        """Entries became durable: tell who listens."""
        ...

    async def kept(self, session: Session, entries: Iterable[Entry]) -> None:
        """Entries became durable: tell the world what it need not hold on to any more."""
        ...


@dataclass(slots=True)
class Opening:
    """With what a run begins when the journal does not know it.

    ``nested``: a tool made it, and waits for it.
    """

    policy: str = ""
    task: str = ""
    system: str = ""
    nested: bool = False


class Session:
    """A run held by this process."""

    def __init__(self, host: Host, lease: Lease, state: RunState, opening: Opening) -> None:
        self.host = host
        self.lease = lease
        self.state = state
        self.opening = opening
        self.is_nested = opening.nested
        self.scope: anyio.CancelScope | None = None
        self.receiving = anyio.Lock(fast_acquire=True)
        self.context = contextvars.copy_context()
        self.variables: dict[tuple[int, int], contextvars.Context] = {}
        self._queue: deque[Happening] = deque()
        self._pumping = False
        self._waiting: list[anyio.Event] = []
        self._broken: Exception | None = None

    def post(self, event: Happening) -> None:
        """Take an event; it is decided at the next turn of the event loop."""
        if self._broken is not None:
            return
        self._queue.append(event)
        self.kick()

    def kick(self) -> None:
        """Have the pump run: there is an event, or room to start calls."""
        if not self._pumping and self._broken is None:
            self._pumping = True
            self.host.schedule_pump(self)

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait until a condition on the state holds.

        Raises:
            JournalError: The journal refused this run's entries.
            GateClosedError: The gate was closed meanwhile.
        """
        while True:
            if self._broken is not None:
                raise self._broken
            if not self._queue and not self._pumping and reached():
                return
            event = anyio.Event()
            self._waiting.append(event)
            await event.wait()

    async def cancel(self, by: str, keys: Iterable[CallKey | None] = (None,)) -> None:
        """Stop the run, or some of its calls, and wait until nothing of it runs."""
        for key in keys:
            self.post(CancelAsked(by, self.host.clock(), key))
        await self.until(lambda: not self.state.running)

    @property
    def is_idle(self) -> bool:
        """Whether nothing happens here, and nobody waits for it to."""
        return not (self._queue or self._pumping or self._waiting or self.receiving.locked())

    def fail(self, problem: Exception) -> None:
        """No entry can be written any more: tell every waiter, start nothing."""
        self._broken = self._broken or problem
        self._queue.clear()
        self.host.dropped(self)
        self._tell_waiters()

    async def run(self) -> None:
        """The pump, as a piece of work for a worker; never raises."""
        try:
            while self._broken is None and await self._round():
                pass
        except CallgateError as problem:
            self.fail(problem)
        except Exception as problem:  # noqa: BLE001 - one run that cannot be decided must not end the others
            broken = GateError(
                "the run cannot be gone on with here; it stands in the journal", run=self.state.run
            )
            broken.__cause__ = problem
            self.fail(broken)
        except anyio.get_cancelled_exc_class():
            self.fail(
                GateClosedError(
                    "the gate was closed while this run's entries were written", run=self.state.run
                )
            )
            raise
        finally:
            self._pumping = False
            self._tell_waiters()
            self.host.slots.passed(self)
        if self._queue:
            self.kick()

    async def _round(self) -> bool:
        """Decide, evolve, append, obey, once; whether there may be more to do."""
        entries, commands, reserved = self._step()
        try:
            if entries:
                await self.host.store.append(self.lease, entries)
                await self.host.kept(self, entries)
                if self._broken is not None:
                    return False
                self._obey(commands)
        finally:
            self.host.slots.unreserve(reserved)
        self.host.told(entries)
        return bool(entries) and bool(self._queue or self.state.startable)

    def _step(self) -> tuple[list[Entry], list[Command], int]:
        """Decide and evolve all that waits; nothing leaves until it is appended."""
        state, bench = self.state, self.host.bench
        entries: list[Entry] = []
        commands: list[Command] = []
        if state.started is None:
            opening = self.opening
            said = opening.task, opening.system, opening.policy, bench.writes
            begun = RunStarted(state.run, self.host.clock(), *said)
            evolve(state, begun)
            entries.append(begun)
        while self._queue:
            self._apply(decide(state, self._queue.popleft(), bench), entries, commands)
        reserved = self.host.slots.reserve(self, len(state.startable)) if state.startable else 0
        if reserved:
            keys = tuple(state.startable)[:reserved]
            event = Dispatch(keys, self.lease.fence, self.host.clock())
            self._apply(decide(state, event, bench), entries, commands)
        return entries, commands, reserved

    def _apply(self, made: list[Entry], entries: list[Entry], commands: list[Command]) -> None:
        for entry in made:
            entries.append(entry)
            for command in evolve(self.state, entry):
                if isinstance(command, Close):
                    # It is over already, so that this changes nothing but what the journal says is asked.
                    entries.append(CancelRequested(self.state.run, entry.at, "the schedule", command.key))
                else:
                    commands.append(command)

    def _obey(self, commands: list[Command]) -> None:
        starting = [command.key for command in commands if isinstance(command, Execute)]
        if starting:
            self.host.execute(self, starting)
        for command in commands:
            if isinstance(command, Stop):
                self.host.stop(command.key)

    def _tell_waiters(self) -> None:
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            event.set()
