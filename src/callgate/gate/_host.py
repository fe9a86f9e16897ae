"""The house that sessions live in: the journal, the workers, the executor, the leases, and who listens.

In: sessions that want to write, start, stop. Out: what they need, within the limits. Promise: no more calls
run at once than was said; a lease is renewed long before it ends, and a session that lost it writes nothing
more.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc
import anyio.to_thread

from callgate.calls import HALF, CallKey, Entry, Reconciled, Returned, State
from callgate.errors import CallgateError, GateClosedError, JournalError, LeaseHeldError, LocalProtocolError
from callgate.journal import Lease, Store
from callgate.tools import NO_FACTS, Context, Facts, Hooks, Keeper, Tool, gather, must_look

from ._decide import Bench, Ended, Reopened
from ._holder import is_dead, new_holder
from ._machine import CallState, RunState, evolve
from ._options import GateOptions
from ._session import Opening, Session
from ._slots import Slots
from .work import Executor, Job, Outcome, Workers

_LOG = logging.getLogger("callgate")


@dataclass(slots=True)
class GateHost:
    """Everything the open runs of one gate share."""

    store: Store
    bench: Bench
    options: GateOptions
    world: Any
    workers: Workers
    executor: Executor
    nested: Callable[[Job, str, Mapping[str, Any]], Any]
    sessions: dict[str, Session] = field(default_factory=dict)
    listeners: list[Callable[[Entry], None]] = field(default_factory=list)
    progress: list[Callable[[CallKey, str], None]] = field(default_factory=list)
    holder: str = field(default_factory=new_holder)
    closed: bool = False
    policy_digest: str = field(init=False)
    slots: Slots = field(init=False)
    plain: Context = field(init=False)
    _opening: dict[str, anyio.Event] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """What all runs and calls share; the executor tells when there is room again."""
        self.policy_digest = self.bench.policy.digest
        self.plain = Context(files=self.world)
        self.slots = Slots(self.options.concurrency, self.executor.running)
        self.executor.ended = self.slots.feed

    @property
    def clock(self) -> Callable[[], float]:
        """Unix seconds."""
        return self.options.clock

    def schedule_pump(self, session: Session) -> None:
        """Have a worker run the session's pump."""
        if self.workers.closing:
            session.fail(GateClosedError("the gate is closed", run=session.state.run))
        else:
            self.workers.submit(session)

    def execute(self, session: Session, keys: list[CallKey]) -> None:
        """Start the jobs of calls whose ``Started`` entries are durable."""
        now, calls = anyio.current_time(), session.state.calls
        for key in keys:
            self.executor.start(_job(self, session, calls[key], now))

    def stop(self, key: CallKey) -> None:
        """Give up a running call."""
        self.executor.stop(key, "CANCELLED")

    def dropped(self, session: Session) -> None:
        """The session can write no more; who needs its run opens it anew, from the journal.

        Its lease is left to end by itself: what it had started may still be at work.
        """
        run = session.state.run
        if self.sessions.get(run) is session:
            del self.sessions[run]
        self.slots.leave(session)
        for key in [key for key in self.executor.running if key.run == run]:
            self.stop(key)

    def told(self, entries: list[Entry]) -> None:
        """Entries became durable: tell who listens."""
        if self.listeners:
            for entry in entries:
                _tell(self.listeners, entry)

    async def kept(self, session: Session, entries: Iterable[Entry]) -> None:
        """Entries are durable: tell the world what it need not hold on to any more."""
        world = self.world
        if not isinstance(world, Keeper):
            return
        for entry in entries:
            if isinstance(entry, Returned | Reconciled) and entry.kept is not None:
                key = session.state.calls[entry.key].idempotency_key
                try:
                    await anyio.to_thread.run_sync(world.recorded, entry.resource, key)
                except Exception:  # noqa: BLE001 - whatever it is, it is the world's; it keeps too much then
                    _LOG.exception("what a call took away is kept though it is recorded: %s", entry.key)

    async def session(self, run: str, opening: Opening | None = None) -> Session:
        """The session of a run: opened, read back and put in order if it is not open here.

        Raises:
            LocalProtocolError: The run's name is none.
            LeaseHeldError: A living process holds the run.
            GateClosedError: The gate is closed.
        """
        if not run or HALF.search(run):
            message = "a run's name is a text that UTF-8 can carry, and not empty"
            raise LocalProtocolError(message, run=ascii(run))
        while run in self._opening:
            await self._opening[run].wait()
        if self.closed:
            message = "the gate is closed"
            raise GateClosedError(message, run=run)
        found = self.sessions.get(run)
        if found is not None:
            if opening is not None and found.state.started is None:
                # It was only looked at so far.
                found.opening, found.is_nested = opening, opening.nested
            return found
        self._opening[run] = anyio.Event()
        try:
            return await self._open(run, opening or Opening(self.policy_digest))
        finally:
            self._opening.pop(run).set()

    async def facts(self, wanted: list[tuple[Tool, Any]]) -> list[Facts]:
        """The facts of several calls, in one worker thread; none is used where nothing must be looked up."""
        looked = [self.world is not None and must_look(tool, arguments) for tool, arguments in wanted]
        if not any(looked):
            return [NO_FACTS] * len(wanted)

        def look() -> list[Facts]:
            return [
                gather(tool, arguments, self.world) if needed else NO_FACTS
                for (tool, arguments), needed in zip(wanted, looked, strict=True)
            ]

        return await anyio.to_thread.run_sync(look)

    async def _open(self, run: str, opening: Opening) -> Session:
        # What has the lease is put in order, whoever still waits for it.
        with anyio.CancelScope(shield=True):
            lease = await _acquire(self, run)
            state = RunState(run)
            try:
                for record in await self.store.read(run):
                    evolve(state, record.entry)
            except CallgateError:
                await self.store.release(lease)
                raise
            session = self.sessions[run] = Session(self, lease, state, opening)
            await self.kept(session, [call.outcome for call in state.calls.values() if call.outcome])
            if state.started is not None:
                session.post(Reopened(lease.fence, self.clock()))
                await session.until(lambda: True)
                self.reconcile(session)
        return session

    def reconcile(self, session: Session) -> None:
        """Ask the tools that can tell what became of their lost calls, unless they are being asked."""
        for call in session.state.in_state(State.UNKNOWN):
            tool = self.bench.tools.get(call.call.name)
            is_asked = call.call.key in self.executor.running
            if tool is not None and tool.reconcile is not None and not is_asked:
                job = _job(self, session, call, anyio.current_time())
                job.reconciling = True
                self.executor.start(job)

    async def release(self, session: Session) -> None:
        """Let another process have the run."""
        self.sessions.pop(session.state.run, None)
        try:
            await self.store.release(session.lease)
        except JournalError:
            return


async def _acquire(host: GateHost, run: str) -> Lease:
    store, seconds = host.store, host.options.lease_seconds
    try:
        return await store.acquire(run, host.holder, seconds, host.clock())
    except LeaseHeldError as held:
        other = str(held.facts.get("holder", ""))
        if not is_dead(other):
            raise
        return await store.acquire(run, host.holder, seconds, host.clock(), takes_over=other)


def _report(host: GateHost, entry: Outcome) -> None:
    """The executor's way to tell how a call ended; what comes late may find its run let go of."""
    session = host.sessions.get(entry.key.run)
    if session is not None:
        session.post(Ended(entry))
    elif getattr(entry, "late", False) and not host.closed:
        host.workers.start(_record_late, host, entry)


async def _record_late(host: GateHost, entry: Outcome) -> None:
    try:
        session = await host.session(entry.key.run)
        session.post(Ended(entry))
        await session.until(lambda: True)
        if session.state.ended is not None and session.is_idle:
            await host.release(session)
    except CallgateError:
        _LOG.warning("what a call did after it was given up could not be recorded: %s", entry.key)


def _job(host: GateHost, session: Session, call: CallState, now: float) -> Job:
    made, tool, options = call.call, host.bench.tools.get(call.call.name), host.options
    seconds = min(
        (tool.timeout_seconds if tool else None) or options.timeout_seconds, options.timeout_ceiling
    )
    report = functools.partial(_report, host)
    variables = session.variables.get(made.key[1:3], session.context)
    job = Job(made, tool, call.accesses, call.attempt, report, variables.copy(), now + seconds)
    job.is_nested = session.is_nested
    if tool is not None and (tool.takes_context or tool.reconcile is not None):
        job.context = _context(host, job, call.idempotency_key)
    else:
        job.context = host.plain
    return job


def _context(host: GateHost, job: Job, idempotency_key: str) -> Context:
    key = job.key
    hooks = Hooks(
        lambda: bool(job.stopping),
        lambda text: _tell(host.progress, key, text),
        lambda name, arguments: host.nested(job, name, arguments),
    )
    return Context(
        key=key,
        idempotency_key=idempotency_key,
        attempt=job.attempt,
        deadline=job.deadline,
        files=host.world,
        hooks=hooks,
    )


def _tell(listeners: list[Callable[..., None]], *heard: Any) -> None:
    """Tell all; one that raises is logged and hears no more: who watches a run must not end it."""
    for listener in tuple(listeners):
        try:
            listener(*heard)
        except Exception:  # noqa: BLE001 - whatever it is, it is the listener's
            _LOG.exception("a listener raised, and hears no more: %r", listener)
            listeners.remove(listener)
