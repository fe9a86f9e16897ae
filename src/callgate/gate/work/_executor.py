"""The only code that touches a tool's function.

In: a job, for which a ``Started`` entry stands. Out: exactly one entry about how it ended, and a second one
if an outcome comes after the call was given up. Promise: the function runs at most once a job, in the
caller's context; the event loop never waits for a synchronous one; no exception of a tool, no
``CancelledError`` it raises by itself, and no deadline reaches anything but its entry.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread

from callgate.calls import CallKey, LostSight, Raised, Reconciled, Returned
from callgate.errors import ToolError
from callgate.tools import NO_FACTS, DidNotHappen, Facts, Happened, Tool, gather, must_look

from ._endings import as_late, failed, given_up, happened, moved, returned
from ._job import Job, Outcome, passes
from ._within import Within
from ._workers import Workers

MAX_ROWS: Final = 1_000_000
"""What a generator yields before nobody listens any more; no result could show it."""


@dataclass(slots=True)
class Executor:
    """Runs jobs on standing workers, sync functions in bounded threads, and watches the deadlines."""

    workers: Workers
    world: Any
    clock: Callable[[], float]
    threads: int = 40
    ended: Callable[[], None] = lambda: None
    running: dict[CallKey, Job] = field(default_factory=dict)
    _wake: anyio.Event = field(default_factory=anyio.Event)
    _next: float = float("inf")
    _slots: anyio.CapacityLimiter = field(init=False)
    _unlimited: anyio.CapacityLimiter = field(init=False)

    def __post_init__(self) -> None:
        """The limiter is ours: the library's gives a slot back while an abandoned thread still runs."""
        self._slots = anyio.CapacityLimiter(self.threads)
        self._unlimited = anyio.CapacityLimiter(float("inf"))

    def start(self, job: Job) -> None:
        """Run a job as soon as a worker is free."""
        job.perform = self.perform
        self.running[job.key] = job
        self.workers.submit(job)
        if job.deadline < self._next:
            self._wake.set()

    def stop(self, key: CallKey, cause: str) -> None:
        """Give a job up now: report what is known of it, and interrupt it where it waits."""
        job = self.running.get(key)
        if job is None or job.settled:
            return
        job.stopping = cause
        self._settle(job, given_up(job, cause, self.clock()))
        if job.scope is not None:
            job.scope.cancel()

    async def watch(self) -> None:
        """Give up every job whose deadline passes; runs until cancelled."""
        while True:
            now = anyio.current_time()
            for job in [job for job in self.running.values() if job.deadline <= now]:
                self.stop(job.key, "TIMED_OUT")
            self._next = min((job.deadline for job in self.running.values()), default=float("inf"))
            self._wake = anyio.Event()
            with anyio.CancelScope(deadline=self._next):
                await self._wake.wait()

    async def perform(self, job: Job) -> None:
        """Run a job to its end and report its entry."""
        if job.settled:
            return
        try:
            entry = await self._outcome(job)
        except anyio.get_cancelled_exc_class():
            # The job was given up, or the workers are being ended; any other was raised by the tool itself
            # and is an error.
            if job.settled:
                return
            if anyio.current_effective_deadline() == float("-inf"):
                raise
            entry = failed(job, RuntimeError("the tool raised a cancellation nobody asked for"), self.clock())
        except BaseException as problem:  # noqa: BLE001 - whatever a tool raises ends in its entry
            if job.settled and not isinstance(problem, ToolError):
                # It was interrupted where it waited: what that made it raise says nothing of the effect.
                return
            entry = failed(job, problem, self.clock())
        self._settle(job, entry)

    async def _outcome(self, job: Job) -> Outcome:
        if job.tool is None:
            return Raised(job.key, self.clock(), "TOOL_GONE")
        if job.reconciling:
            return await self._reconcile(job, job.tool)
        function = job.tool.function
        if job.tool.is_async:
            facts = NO_FACTS
            if self._must_look(job):
                facts = await anyio.to_thread.run_sync(self._facts, job, limiter=self._unlimited)
            refused = moved(job, facts, self.clock())
            if refused is not None:
                return refused
            binding = job.tool.bind(job.call.arguments, job.context, facts)
            if not job.enters():
                return Raised(job.key, self.clock(), "STOPPED")
            value = job.variables.run(function, *binding.args, **binding.kwargs)
        else:
            value = await self._in_thread(job, self._sync)
            if isinstance(value, Raised | Returned):
                return value
        if inspect.isasyncgen(value):
            value = _collected(value)
        if inspect.isawaitable(value):
            value = await Within(value, job.variables)
        return returned(job, value, self.clock())

    def _sync(self, job: Job) -> Any:
        """In a worker thread: look once more, call the function, make the entry.

        What is yet to be awaited is given back as it is.
        """
        tool = job.tool
        if tool is None:
            return None
        facts = self._facts(job) if self._must_look(job) else NO_FACTS
        refused = moved(job, facts, self.clock())
        if refused is not None:
            return refused
        binding = tool.bind(job.call.arguments, job.context, facts)
        if not job.enters():
            return Raised(job.key, self.clock(), "STOPPED")
        value = tool.function(*binding.args, **binding.kwargs)
        if inspect.isawaitable(value) or inspect.isasyncgen(value):
            return value
        # The body of a generator is as blocking as a function's, and so is making JSON of many rows.
        rows = list(itertools.islice(value, MAX_ROWS)) if inspect.isgenerator(value) else value
        return returned(job, rows, self.clock())

    def _must_look(self, job: Job) -> bool:
        return job.tool is not None and self.world is not None and must_look(job.tool, job.call.arguments)

    def _facts(self, job: Job) -> Facts:
        return gather(job.tool, job.call.arguments, self.world) if job.tool is not None else NO_FACTS

    async def _in_thread(self, job: Job, function: Callable[[Job], Any]) -> Any:
        # A nested call's caller holds a thread and waits for it.
        slots = self._unlimited if job.is_nested else self._slots
        borrower = object()
        await slots.acquire_on_behalf_of(borrower)
        token = anyio.lowlevel.current_token()
        turnstile: list[None] = [None]

        def body() -> tuple[Any, BaseException | None]:
            if not passes(turnstile):
                return None, None
            try:
                ended: tuple[Any, BaseException | None] = (job.variables.run(function, job), None)
            except BaseException as problem:  # noqa: BLE001 - raised again by whoever waits
                ended = (None, problem)
            _tell(token, lambda: self._thread_ended(job, slots, borrower, ended))
            return ended

        try:
            value, problem = await anyio.to_thread.run_sync(
                body, abandon_on_cancel=True, limiter=self._unlimited
            )
        finally:
            # Given up before its thread began, it never will; nobody else would give the slot back.
            if passes(turnstile):
                slots.release_on_behalf_of(borrower)
        if problem is not None:
            raise problem
        return value

    def _thread_ended(
        self, job: Job, slots: anyio.CapacityLimiter, borrower: object, late: tuple[Any, BaseException | None]
    ) -> None:
        """On the event loop, when a thread ends.

        Its slot is free; an outcome that comes too late is still evidence.
        """
        slots.release_on_behalf_of(borrower)
        if not job.stopping or not job.entered or job.reconciling:
            return
        value, problem = late
        if inspect.isawaitable(value) or inspect.isasyncgen(value):
            # The function only promised to do it, and nobody will wait for that.
            getattr(value, "close", bool)()
            return
        entry = value if problem is None else failed(job, problem, self.clock())
        if isinstance(entry, Returned | Raised):
            job.report(as_late(entry))

    async def _reconcile(self, job: Job, tool: Tool) -> Outcome:
        function = tool.reconcile
        if function is None:
            return LostSight(job.key, self.clock(), "PROCESS_DIED", evidence=job.evidence)
        if inspect.iscoroutinefunction(function):
            found = await Within(function(job.context, job.call), job.variables)
        else:
            found = await self._in_thread(job, lambda job: function(job.context, job.call))
            if inspect.isawaitable(found):
                found = await Within(found, job.variables)
        if isinstance(found, Happened):
            return happened(job, tool.name, found.result, self.clock())
        if isinstance(found, DidNotHappen):
            return Reconciled(job.key, self.clock(), happened=False, by=tool.definition.name)
        return LostSight(job.key, self.clock(), "CANNOT_TELL", evidence=job.evidence)

    def _settle(self, job: Job, entry: Outcome) -> None:
        if job.settled:
            if isinstance(entry, Returned | Raised) and job.entered:
                job.report(as_late(entry))
            return
        job.settled = True
        if self.running.get(job.key) is job:
            del self.running[job.key]
        job.report(entry)
        self.ended()


def _tell(token: Any, function: Callable[[], None]) -> None:
    """Run a function on the event loop from a worker thread; nothing to tell when the loop is gone."""
    try:
        anyio.from_thread.run_sync(function, token=token)
    except RuntimeError:
        return


async def _collected(rows: Any) -> list[Any]:
    found = []
    async for row in rows:
        found.append(row)
        if len(found) >= MAX_ROWS:
            await rows.aclose()
    return found
