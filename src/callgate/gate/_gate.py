"""The gate: a turn goes in, and exactly one result for each of its calls comes out.

In: turns, decisions of people, cancellations. Out: results, and the run as it stands. Promise: nothing runs
of a turn that is not executable; nothing runs before its entry is durable; every call has a result whatever
was refused, cancelled or interrupted. Raises only for the caller's own mistakes and when the journal cannot
be written.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from callgate.calls import (
    FINAL,
    CallKey,
    Entry,
    Finish,
    FrozenDict,
    RunEnded,
    State,
    ToolCall,
    ToolResult,
    Turn,
    TurnAsked,
    freeze_arguments,
)
from callgate.checks import Policy
from callgate.errors import (
    CallgateError,
    GateClosedError,
    LocalProtocolError,
    NestedCallError,
    UnknownRunError,
)
from callgate.journal import Decision, Store, open_journal
from callgate.schedule import conflicts
from callgate.tools import Page, Toolset, World, accesses
from callgate.workspace import Workspace

from ._decide import Bench
from ._host import GateHost
from ._keeper import answer, is_needless, keep
from ._options import GateOptions
from ._receiving import Handling, delivered, note, receive, wait_for_people
from ._results import page
from ._session import Opening
from ._view import PendingApproval, RunView, pending, results, view
from .work import Executor, Job, Workers


class Gate:
    """Opened by ``open_gate``."""

    def __init__(self, host: GateHost, tools: Toolset) -> None:
        self._host = host
        self.tools = tools

    async def handle(self, turn: Turn, run: str, **how: Any) -> list[ToolResult]:
        """Judge the calls of a turn, run those that may run, and give one result for each, in call order.

        Keyword arguments are the fields of ``Handling``. A call that waits for a person is ``pending``;
        ``results`` has it later. When the caller is cancelled, the run's calls are stopped and recorded
        first.

        Raises:
            LocalProtocolError: Another turn was heard under this number.
            LeaseHeldError: A living process holds the run.
            JournalError: The record cannot be written; nothing was started that is not in it.
        """
        asked = Handling(**how)
        session = await self._host.session(run)
        try:
            # One at a time: which turn this is, and whether it was heard before, the one before it decides.
            async with session.receiving:
                known = delivered(session.state, turn, asked.number)
                if known is None:
                    known = await receive(self._host, session, turn, asked)
            await session.until(lambda: session.state.is_quiet(known))
            if asked.wait_for_approvals > 0:
                await wait_for_people(self._host, session, known, asked.wait_for_approvals)
                await session.until(lambda: session.state.is_quiet(known))
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True), suppress(CallgateError):
                await session.cancel("the caller")
            raise
        if all(session.state.calls[key].state in FINAL for key in known.keys):
            session.variables.pop((known.number, known.attempt), None)
        return results(session.state, known)

    async def results(self, run: str, number: int | None = None) -> list[ToolResult]:
        """The results of a turn as they stand now.

        Of the last one by default. Empty for a run without turns.
        """
        session = await self._host.session(run)
        await answer(self._host, session)
        await session.until(lambda: True)
        turns = [turn for turn in session.state.turns if number is None or turn.number == number]
        return results(session.state, turns[-1]) if turns else []

    async def begin(self, run: str, task: str = "", system: str = "") -> RunView:
        """Begin a run with its task, or open the one that has begun."""
        policy = self._host.policy_digest
        session = await self._host.session(run, Opening(policy, task, system))
        session.kick()
        await session.until(lambda: session.state.started is not None)
        return view(session.state)

    async def resume(self, run: str) -> RunView:
        """Take a run up again: read it back, finish what was open, and wait until nothing of it runs.

        Tools that can tell are asked what became of their calls that are unknown.

        Raises:
            UnknownRunError: The journal has no such run.
        """
        was_open = run in self._host.sessions
        session = await self._host.session(run)
        if was_open:  # else opening it asked
            self._host.reconcile(session)
        if session.state.started is None:
            if is_needless(session):
                await self._host.release(session)
            message = "the journal has no such run"
            raise UnknownRunError(message, run=run)
        await answer(self._host, session)
        state, jobs = session.state, self._host.executor.running
        # A call that is being reconciled does not run, but will soon be known.
        await session.until(
            lambda: not (state.running or state.startable or any(key.run == run for key in jobs))
        )
        return view(state)

    async def asked(self, entry: TurnAsked) -> None:
        """Record that a request was sent; durable when this returns."""
        await note(self._host, entry.run, entry)

    async def finish(self, run: str, reason: str, text: str = "") -> None:
        """Record that a run ended, when nothing of it runs any more, and let go of it."""
        session = await self._host.session(run)
        await session.until(lambda: not (session.state.running or session.state.startable))
        session = await note(self._host, run, RunEnded(run, self._host.clock(), reason, text))
        await self._host.release(session)

    async def view(self, run: str) -> RunView:
        """The run as it stands."""
        return view((await self._host.session(run)).state)

    async def decide(self, key: CallKey, *, approved: bool, by: str, reason: str = "") -> bool:
        """Decide about a waiting call, as a person would from another terminal.

        False when it no longer waits.
        """
        session = await self._host.session(key.run)
        waiting = {found.key: found.digest for found in pending(session.state)}
        if key not in waiting:
            return False
        now = self._host.clock()
        taken = await self._host.store.post(Decision(key, waiting[key], approved, by, reason, now))
        await answer(self._host, session)
        await session.until(lambda: True)
        return taken

    async def pending(self, run: str) -> tuple[PendingApproval, ...]:
        """The calls of a run that wait for a person."""
        return pending((await self._host.session(run)).state)

    async def cancel(self, run: str, by: str) -> None:
        """Stop a run.

        What has not started is cancelled, what runs is stopped, and each call has its result.
        """
        session = await self._host.session(run)
        if not is_needless(session):
            await session.cancel(by)

    async def read(self, handle: str, start: int, end: int) -> Page:
        """Characters ``start`` to before ``end`` of a result that was cut (``ToolResult.handle``).

        Raises:
            LocalProtocolError: No result has this handle.
        """
        key = CallKey.parse(handle)
        call = (await self._host.session(key.run)).state.calls.get(key)
        if call is None:
            message = "no result has this handle"
            raise LocalProtocolError(message, handle=handle)
        return Page(*page(call, start, end))

    def subscribe(
        self, listener: Callable[[Entry], None], progress: Callable[[CallKey, str], None] | None = None
    ) -> None:
        """Hear of every entry when it is durable, and of what tools say of their progress.

        Listeners must not block.
        """
        self._host.listeners.append(listener)
        if progress is not None:
            self._host.progress.append(progress)


async def _nested(gate: Gate, job: Job, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """A call from inside a tool.

    Judged, recorded and run like any, as a run of its own below the caller's.
    """
    host, key = gate._host, job.key  # noqa: SLF001 - the gate's own half
    frozen = freeze_arguments(dict(arguments))
    call = (
        ToolCall(name, frozen)
        if isinstance(frozen, FrozenDict)
        else ToolCall(name, complete=False, fault=frozen)
    )
    tool = host.bench.tools.get(name)
    if tool is not None and call.complete:
        facts = (await host.facts([(tool, call.arguments)]))[0]
        if conflicts(accesses(tool, call.arguments, facts), job.accesses):
            message = "a tool cannot call one that touches what it holds itself"
            raise NestedCallError(message, tool=name)
    run = f"{key.run}~{key.turn}.{key.attempt}.{key.position}"
    await host.session(run, Opening(host.policy_digest, nested=True))
    turn = Turn(calls=(call,), finish=Finish.TOOL_CALLS, executable=True, dialect="callgate")
    return (await gate.handle(turn, run))[0]


@asynccontextmanager
async def open_gate(
    tools: Toolset,
    workspace: str | Path | World | None = None,
    journal: str | Store = "memory:",
    policy: Policy | None = None,
    options: GateOptions | None = None,
) -> AsyncIterator[Gate]:
    """Open a gate over a set of tools.

    Args:
        tools: What may be called.
        workspace: The folder that ``WorkspacePath`` parameters live in, or whatever locates and opens them.
        journal: ``memory:`` or ``sqlite:PATH``, or an open store, which is then left open.
        policy: Who may do what; the default goes by effect class.
        options: Everything else.

    Raises:
        ConfigurationError: The journal's address or the workspace is not usable.
    """
    chosen = options or GateOptions()
    world = Workspace(workspace) if isinstance(workspace, str | Path) else workspace
    store = await open_journal(journal) if isinstance(journal, str) else journal
    bench = Bench(
        {tool.definition.name: tool for tool in tools},
        policy or Policy(),
        chosen.can_ask,
        chosen.approval_seconds,
        chosen.writes,
    )
    problem: BaseException | None = None
    async with anyio.create_task_group() as tasks:
        workers = Workers(tasks)
        executor = Executor(workers, world, chosen.clock, chosen.threads)
        host = GateHost(store, bench, chosen, world, workers, executor, lambda *asked: _nested(gate, *asked))
        gate = Gate(host, tools)
        tasks.start_soon(executor.watch)
        tasks.start_soon(keep, host)
        try:
            yield gate
        except Exception as raised:  # noqa: BLE001 - raised again below, outside the task group that would wrap it
            problem = raised
        finally:
            with anyio.CancelScope(shield=True):
                await _close(host, own=isinstance(journal, str))
            tasks.cancel_scope.cancel()
    if problem is not None:
        raise problem


async def _close(host: GateHost, *, own: bool) -> None:
    """Stop what runs, record it, give the leases back, close the journal."""
    host.closed = True
    with anyio.move_on_after(host.options.close_seconds):
        for session in list(host.sessions.values()):
            # What could not be recorded is unknown to the next who opens the run, which is the truth.
            with suppress(CallgateError):
                # What waits for a person goes on waiting; what waits for that, too.
                state = session.state
                running = [call.call.key for call in state.in_state(State.RUNNING)]
                await session.cancel("the gate was closed", [*state.startable, *running])
                await host.release(session)
    for session in list(host.sessions.values()):
        session.fail(GateClosedError("the gate is closed", run=session.state.run))
    host.workers.close()
    host.workers.kill()
    if own:
        await host.store.close()
