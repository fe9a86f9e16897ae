"""The loop: one turn = one request, one stream, one set of results; again until there is a reason to stop.

In: a task. Out: an ``Outcome``. Promise: every call the model makes is answered before the next request and
before the loop ends, also when it is cancelled; a run ends with a named reason, stands in the journal, and
goes on from there by its id.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import anyio

from callgate.calls import (
    Effect,
    Finish,
    Offered,
    StreamEvent,
    ToolDefinition,
    Turn,
    TurnAsked,
    Usage,
    freeze,
)
from callgate.errors import ConfigurationError, LocalProtocolError, TransportError
from callgate.gate import Gate, RunView
from callgate.models import ESTIMATOR, Model, Prepared, estimate_reply
from callgate.tools import Toolset
from callgate.wire import Decoder, Exchange, Request, Said

from ._course import Course
from ._history import cost, fit
from ._limits import Limits, Outcome, Reason
from ._listen import Heard, listen
from ._progress import Progress

_CANCEL_SECONDS: Final = 10.0
"""How long a cancelled loop takes, at most, to write down what became of its calls."""
_ANSWERABLE: Final = frozenset(
    {Reason.MAX_TURNS, Reason.MAX_CALLS, Reason.REPEATED, Reason.STUCK_MENDABLE, Reason.STUCK_UNMENDABLE}
)
"""Limits after which a last answer may be asked for; it would break the others."""

ToolsFor = Callable[[int], Toolset | Iterable[str] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """Everything about an agent that has a good default.

    Args:
        parameters: Of each request, as ``wire.Request`` names them. ``temperature`` is 0 unless it is set
            here; ``None`` leaves a parameter out.
        on_event: Called with each event of a reply while it arrives, for display. It must not block.
        wait_for_approvals: Seconds to wait for a person before the run ends as ``pending``.
        last_answer: When turns, calls or patience are used up, ask once more, for an answer without calls.
        pause_seconds: Before a reply is asked for again that the model's server failed to give.
        keep_bodies: Record each reply as the bytes it came as, so that the run can be replayed.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    on_event: Callable[[StreamEvent], None] | None = None
    wait_for_approvals: float = 0.0
    last_answer: bool = False
    pause_seconds: float = 1.0
    keep_bodies: bool = False


class Agent:
    """A model, a gate, and the loop between them.

    Args:
        gate: An open gate; its tools are what may be offered.
        model: From ``connect``. Its idle connections are closed when a run ends.
        limits: How far a run may go.
        system: The system prompt of new runs.
        tools_for: Turn number, from 0 → the tools to offer then: a toolset, names, or ``None`` for all. The
            empty one sends none.
        options: The rest.
    """

    def __init__(
        self,
        gate: Gate,
        model: Model,
        limits: Limits | None = None,
        system: str = "",
        tools_for: ToolsFor | None = None,
        options: AgentOptions | None = None,
    ) -> None:
        self._gate = gate
        self._model = model
        self._limits = limits or Limits()
        self._system = system
        self._tools_for = tools_for
        self._options = options or AgentOptions()
        self._parameters = freeze({"temperature": 0, **self._options.parameters})

    async def run(self, task: str, run: str | None = None) -> Outcome:
        """Do a task, as a new run.

        Args:
            task: What is wanted.
            run: The id it can be resumed by; one is made up where none is given.

        Raises:
            LocalProtocolError: The journal has a run of that id.
            JournalError: The journal cannot be written, or another process holds the run.
        """
        name = run or f"run-{uuid.uuid4().hex[:16]}"
        view = await self._gate.begin(name, task, self._system)
        if view.turns or view.ended or view.task != task:
            raise LocalProtocolError(
                "the journal has this run already; resume it, or choose another id", run=name
            )
        return await self._drive(self._course(view))

    async def resume(self, run: str) -> Outcome:
        """Go on with a run, after a crash or after it ended; one that was answered is not asked again.

        Calls that wait for a person are waited for, as in the run's first life.

        Raises:
            UnknownRunError: The journal has no such run.
            JournalError: The journal cannot be read or written, or another process holds the run.
        """
        view, patience = await self._gate.resume(run), self._options.wait_for_approvals
        last = view.turns[-1] if view.turns else None
        if view.pending and last and last.turn and patience > 0:
            # The gate knows the turn by its number, and waits for those whom it has asked.
            await self._gate.handle(last.turn, run, number=last.number, wait_for_approvals=patience)
            view = await self._gate.view(run)
        course, reason = self._course(view), None
        for told in view.turns:
            if told.reopened:
                course.reopen()
            reason = course.hear(told.turn or Turn(), told.results)
        course.calls = view.admitted
        if view.ended == Reason.ANSWERED:
            return course.outcome(Reason.ANSWERED)
        if view.ended:
            course.reopen()
        return await self._drive(course, None if view.ended else reason)

    def _course(self, view: RunView) -> Course:
        tools = list(self._gate.tools)
        polling = frozenset(tool.definition.name for tool in tools if tool.polling)
        reading = frozenset(tool.definition.name for tool in tools if tool.effect is Effect.READ)
        course = Course(view.run, view.task, view.system, self._limits, Progress(polling, reading))
        course.cancels = view.cancels
        return course

    async def _drive(self, course: Course, reason: Reason | None = None) -> Outcome:
        """Turn after turn until there is a reason to stop."""
        seconds = self._limits.seconds
        deadline = float("inf") if seconds is None else anyio.current_time() + seconds
        try:
            while reason is None:
                late = anyio.current_time() >= deadline
                reason = course.stop(late=late) or await self._turn(course, deadline)
            if self._options.last_answer and reason in _ANSWERABLE:
                await self._turn(course, deadline, is_last_answer=True)
            await self._gate.finish(course.run, reason, course.text)
            return course.outcome(reason)
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(_CANCEL_SECONDS, shield=True):
                await self._gate.cancel(course.run, "the loop was cancelled")
                await self._gate.finish(course.run, Reason.CANCELLED, course.text)
            raise
        finally:
            with anyio.move_on_after(_CANCEL_SECONDS, shield=True):
                await self._model.close()

    async def _turn(self, course: Course, deadline: float, *, is_last_answer: bool = False) -> Reason | None:
        """One request, one stream, one set of results."""
        definitions = self._offered(course.number)
        extra = {"tool_choice": "none"} if is_last_answer and definitions else {}
        prepared = self._prepared(course, definitions, extra)
        if prepared is None:
            return Reason.CONTEXT
        offered = () if is_last_answer else definitions
        await self._gate.asked(self._asking(course, prepared, offered))
        told = self._parameters
        decoder = Decoder(
            self._model.dialect,
            definitions,
            strict=bool(told.get("strict")),
            max_tokens=told.get("max_tokens"),
        )
        try:
            heard = await listen(
                self._model.chunks(prepared),
                decoder,
                self._options.on_event,
                deadline,
                keep_body=self._options.keep_bodies,
            )
        except TransportError as problem:
            course.detail = str(problem)
            return Reason.TRANSPORT
        turn = _counted(heard.turn, prepared)
        course.cancelled = (await self._gate.view(course.run)).cancels > course.cancels
        await self._handle(course, replace(heard, turn=turn), offered, deadline)
        view = await self._gate.view(course.run)
        last = view.turns[-1]
        course.calls, course.cancelled = view.admitted, view.cancels > course.cancels
        reason = course.hear(last.turn or Turn(), last.results)
        if reason is None and turn.finish is Finish.ERROR:
            await anyio.sleep(self._options.pause_seconds)
        return reason

    async def _handle(
        self, course: Course, heard: Heard, offered: Sequence[ToolDefinition], deadline: float
    ) -> None:
        """Have the gate judge and run the calls; it stops and records them when the time is up."""
        late = anyio.current_time() >= deadline
        with anyio.CancelScope(deadline=float("inf") if late else deadline):
            await self._gate.handle(
                heard.turn,
                course.run,
                number=course.number,
                offered=[definition.name for definition in offered],
                budget=0 if late or course.cancelled else course.budget(heard.turn.usage),
                wait_for_approvals=self._options.wait_for_approvals,
                body_digest=heard.body_digest,
                body=heard.body,
            )

    def _offered(self, number: int) -> tuple[ToolDefinition, ...]:
        """What is offered in a turn.

        Raises:
            ConfigurationError: It is not among the gate's tools.
        """
        known = {tool.definition.name: tool.definition for tool in self._gate.tools}
        chosen = self._tools_for(number) if self._tools_for is not None else None
        if chosen is None:
            return tuple(known.values())
        names = [tool.definition.name for tool in chosen] if isinstance(chosen, Toolset) else list(chosen)
        foreign = [name for name in names if name not in known]
        if foreign:
            raise ConfigurationError(
                "tools_for names tools that the gate does not have", tools=foreign, turn=number
            )
        return tuple(known[name] for name in dict.fromkeys(names))

    def _prepared(
        self, course: Course, tools: tuple[ToolDefinition, ...], extra: Mapping[str, Any]
    ) -> Prepared | None:
        """The request for the next turn; None when it cannot be made small enough."""
        parameters, room, budget = freeze({**self._parameters, **extra}), self._limits.context, None

        def prepare(history: tuple[Said | Exchange, ...]) -> Prepared:
            return self._model.prepare(Request(self._model.name, course.system, history, tools, parameters))

        if room is not None:
            for exchange in course.exchanges[len(course.costs) :]:
                course.costs.append(cost(self._model.dialect, exchange))
            budget = room - prepare((Said("user", course.task),)).input_tokens
            if budget < 0:
                return None
        history = fit(course.task, course.exchanges, course.costs, budget)
        return None if history is None else prepare(history)

    def _asking(self, course: Course, prepared: Prepared, offered: Sequence[ToolDefinition]) -> TurnAsked:
        return TurnAsked(
            course.run,
            course.number,
            course.attempt,
            course.kind,
            self._model.name,
            self._model.dialect,
            time.time(),
            prepared.parameters,
            tuple(Offered(definition.name, definition.digest) for definition in offered),
            prepared.tool_bytes,
            prepared.tool_tokens,
            prepared.tokens_by,
            prepared.messages_digest,
        )


def _counted(turn: Turn, prepared: Prepared) -> Turn:
    """The turn with its usage: the provider's count, or ours, marked so."""
    if turn.usage is not None and turn.usage.total:
        return turn
    estimated = Usage(prepared.input_tokens, estimate_reply(turn), estimator=ESTIMATOR)
    return replace(turn, usage=estimated)
