"""The only code that touches a tool's function.

In: a job, for which a ``Started`` entry stands. Out: exactly one entry about how it ended, and a second one
if an outcome comes after the call was given up. Promise: the function runs at most once a job, in the
caller's context; the event loop never waits for a synchronous one; no exception of a tool, no
``CancelledError`` it raises by itself, and no deadline reaches anything but its entry.
"""

from __future__ import annotations

import contextvars
import inspect
import logging
import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread

from callgate.calls import (
    CODES,
    Access,
    CallKey,
    Effect,
    LostSight,
    Raised,
    Reconciled,
    Returned,
    ToolCall,
    freeze,
)
from callgate.checks import recheck_version
from callgate.errors import ToolError
from callgate.tools import (
    NO_FACTS,
    Context,
    DidNotHappen,
    Facts,
    Happened,
    Result,
    Tool,
    accesses,
    gather,
)

from ._convert import to_json
from ._workers import Workers

Outcome = Returned | Raised | LostSight | Reconciled

_LOG = logging.getLogger("callgate")
_LOST: Final = frozenset(
    {
        "ConnectionError",
        "TimeoutError",
        "TransportError",
        "EndOfStream",
        "BrokenResourceError",
        "IncompleteRead",
    }
)
"""Names of exception classes, own or inherited, that mean: the request went out and no answer came back."""


_NO_CONTEXT: Final = Context()


@dataclass(slots=True, eq=False)
class Job:
    """One try of one call. ``report`` takes the entry; it is called on the event loop and never waits."""

    call: ToolCall
    tool: Tool | None
    accesses: tuple[Access, ...]
    attempt: int
    report: Callable[[Outcome], None]
    variables: contextvars.Context
    deadline: float
    context: Context = _NO_CONTEXT
    is_nested: bool = False
    reconciling: bool = False
    scope: anyio.CancelScope | None = None
    entered: bool = False
    settled: bool = False
    stopping: str = ""
    executor: Executor | None = None

    @property
    def key(self) -> CallKey:
        """The call's key."""
        return self.call.key

    @property
    def evidence(self) -> str:
        """What a person looks this try up by."""
        return f"{self.call.key}#{self.attempt}"

    async def run(self) -> None:
        """As a piece of work: run the tool and report; never raises."""
        if self.executor is not None:
            await self.executor.perform(self)


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
        job.executor = self
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
        self._settle(job, self._given_up(job, cause))
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
            entry = self._failed(job, RuntimeError("the tool raised a cancellation nobody asked for"))
        except BaseException as problem:  # noqa: BLE001 - whatever a tool raises ends in its entry
            entry = self._failed(job, problem)
        self._settle(job, entry)

    async def _outcome(self, job: Job) -> Outcome:
        if job.tool is None:
            return Raised(job.key, self.clock(), "TOOL_GONE")
        if job.reconciling:
            return await self._reconcile(job, job.tool)
        function = job.tool.function
        if job.tool.is_async:
            facts = (
                await anyio.to_thread.run_sync(self._facts, job, limiter=self._unlimited)
                if self._must_look(job)
                else NO_FACTS
            )
            refused = self._moved(job, facts)
            if refused is not None:
                return refused
            binding = job.tool.bind(job.call.arguments, job.context, facts)
            job.entered = True
            value = job.variables.run(function, *binding.args, **binding.kwargs)
        else:
            value = await self._in_thread(job, self._sync)
            if isinstance(value, Raised):
                return value
        if inspect.isawaitable(value):
            value = await _Within(value, job.variables)
        return self._returned(job, value)

    def _sync(self, job: Job) -> Any:
        """In a worker thread: look once more, then call the function."""
        tool = job.tool
        if tool is None:
            return None
        facts = self._facts(job) if self._must_look(job) else NO_FACTS
        refused = self._moved(job, facts)
        if refused is not None:
            return refused
        binding = tool.bind(job.call.arguments, job.context, facts)
        job.entered = True
        value = tool.function(*binding.args, **binding.kwargs)
        # The body of a generator is as blocking as a function's: it runs here too.
        return list(value) if inspect.isgenerator(value) else value

    async def _in_thread(self, job: Job, function: Callable[[Job], Any]) -> Any:
        # A nested call's caller holds a thread and waits for it.
        slots = self._unlimited if job.is_nested else self._slots
        borrower = object()
        await slots.acquire_on_behalf_of(borrower)
        token = anyio.lowlevel.current_token()

        def body() -> Any:
            late: tuple[Any, BaseException | None] = (None, None)
            try:
                value = job.variables.run(function, job)
            except BaseException as problem:
                late = (None, problem)
                raise
            else:
                late = (value, None)
                return value
            finally:
                _tell(token, lambda: self._thread_ended(job, slots, borrower, late))

        return await anyio.to_thread.run_sync(body, abandon_on_cancel=True, limiter=self._unlimited)

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
        entry = self._returned(job, value) if problem is None else self._failed(job, problem)
        if isinstance(entry, Returned | Raised):
            job.report(_as_late(entry))

    async def _reconcile(self, job: Job, tool: Tool) -> Outcome:
        function = tool.reconcile
        if function is None:
            return LostSight(job.key, self.clock(), "PROCESS_DIED", evidence=job.evidence)
        if inspect.iscoroutinefunction(function):
            found = await _Within(function(job.context, job.call), job.variables)
        else:
            found = await self._in_thread(job, lambda job: function(job.context, job.call))
            if inspect.isawaitable(found):
                found = await _Within(found, job.variables)
        if isinstance(found, Happened):
            return self._happened(job, tool, found.result)
        if isinstance(found, DidNotHappen):
            return Reconciled(job.key, self.clock(), happened=False, by=tool.definition.name)
        return LostSight(job.key, self.clock(), "CANNOT_TELL", evidence=job.evidence)

    def _happened(self, job: Job, tool: Tool, value: Any) -> Reconciled:
        stands = value if isinstance(value, Result) else Result(value)
        return Reconciled(
            job.key,
            self.clock(),
            happened=True,
            by=tool.definition.name,
            content=to_json(stands.content)[0],
            limit=tool.result_limit,
            resource=stands.resource,
            version=stands.version,
            kept=None if stands.kept is None else to_json(stands.kept)[0],
        )

    def _must_look(self, job: Job) -> bool:
        return job.tool is not None and self.world is not None and bool(job.tool.touches(job.call.arguments))

    def _facts(self, job: Job) -> Facts:
        return gather(job.tool, job.call.arguments, self.world) if job.tool is not None else NO_FACTS

    def _moved(self, job: Job, facts: Facts) -> Raised | None:
        """What has changed since the call was judged, seen again now that nothing conflicting runs."""
        tool = job.tool
        if tool is None or facts is NO_FACTS:
            return None
        if accesses(tool, job.call.arguments, facts) != job.accesses:
            return Raised(job.key, self.clock(), "RESOURCE_MOVED")
        findings = recheck_version(job.call, tool, facts)
        if findings:
            return Raised(job.key, self.clock(), findings[0].code, findings[0].expected)
        return None

    def _returned(self, job: Job, value: Any) -> Returned:
        stands = value if isinstance(value, Result) else Result(value)
        content, note = to_json(stands.content)
        kept = None if stands.kept is None else to_json(stands.kept)[0]
        limit = job.tool.result_limit if job.tool is not None else 0
        return Returned(
            job.key,
            self.clock(),
            content,
            limit,
            stands.resource,
            stands.version,
            stands.next_range,
            stands.trusted,
            note=note,
            kept=kept,
        )

    def _failed(self, job: Job, problem: BaseException) -> Raised | LostSight:
        key, at, evidence = job.key, self.clock(), job.evidence
        detail = "".join(traceback.format_exception(problem))
        if job.reconciling:
            # No evidence either way: the call stays unknown, and its author must mend what was to tell.
            _LOG.error("the reconcile function of %s broke (%s)\n%s", job.call.name, key, detail)
            return LostSight(key, at, "CANNOT_TELL", detail, evidence)
        if isinstance(problem, ToolError):
            code = problem.tool_code if problem.tool_code in CODES else "TOOL_ERROR"
            limit = job.tool.result_limit if job.tool is not None else 0
            message = problem.message if not limit else problem.message[:limit]
            facts, _ = to_json(problem.facts)
            return Raised(key, at, code, message, detail, evidence, freeze(facts or {}))
        if _may_have_happened(job) and _is_lost(problem):
            return LostSight(key, at, "REPLY_LOST", detail, evidence)
        return Raised(key, at, "TOOL_FAILED", "", detail, evidence)

    def _given_up(self, job: Job, cause: str) -> Raised | LostSight:
        if job.reconciling or (job.entered and _may_have_happened(job)):
            return LostSight(job.key, self.clock(), cause, evidence=job.evidence)
        code = "TIMED_OUT" if cause == "TIMED_OUT" else "STOPPED"
        return Raised(job.key, self.clock(), code, evidence=job.evidence)

    def _settle(self, job: Job, entry: Outcome) -> None:
        if job.settled:
            if isinstance(entry, Returned | Raised) and job.entered:
                job.report(_as_late(entry))
            return
        job.settled = True
        if self.running.get(job.key) is job:
            del self.running[job.key]
        job.report(entry)
        self.ended()


class _Within:
    """Await something step by step inside a context of variables, without a task of its own."""

    def __init__(self, awaitable: Any, variables: contextvars.Context) -> None:
        self._steps = awaitable if inspect.iscoroutine(awaitable) else _coroutine(awaitable)
        self._variables = variables

    def __await__(self) -> Generator[Any, Any, Any]:
        steps, run = self._steps, self._variables.run
        try:
            waited = run(steps.send, None)
            while True:
                try:
                    sent = yield waited
                except BaseException as problem:  # noqa: BLE001 - handed to the coroutine, as await would
                    waited = run(steps.throw, problem)
                else:
                    waited = run(steps.send, sent)
        except StopIteration as finished:
            return finished.value


async def _coroutine(awaitable: Any) -> Any:
    return await awaitable


def _as_late(entry: Any) -> Any:
    fields = {name: getattr(entry, name) for name in entry.__struct_fields__}
    return type(entry)(**{**fields, "late": True})


def _may_have_happened(job: Job) -> bool:
    return job.tool is not None and job.tool.effect is not Effect.READ and not job.reconciling


def _is_lost(problem: BaseException) -> bool:
    return any(kind.__name__ in _LOST for kind in type(problem).__mro__)


def _tell(token: Any, function: Callable[[], None]) -> None:
    """Run a function on the event loop from a worker thread; nothing to tell when the loop is gone."""
    try:
        anyio.from_thread.run_sync(function, token=token)
    except RuntimeError:
        return
