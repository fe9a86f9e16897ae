"""``callgate run``: a task, a model, a folder, through the gate."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from heapq import merge
from pathlib import Path
from typing import Annotated, Any

import anyio
import anyio.abc
import typer
from rich.text import Text

from callgate.agent import Agent, AgentOptions, Limits, Outcome, Reason
from callgate.calls import ApprovalAsked, Entry
from callgate.checks import Policy, Rule
from callgate.errors import UnknownRunError
from callgate.gate import Gate, GateOptions, open_gate
from callgate.journal import Store
from callgate.models import connect
from callgate.workspace import workspace_tools

from ._board import Board
from ._exits import Exit
from ._journal import opened
from ._screen import can_ask, confirmed, plain, plainly, print_json, screen, stop, whole

_FOR_EVER = 7 * 24 * 3600.0
_SYSTEM = (
    "You work on files in one folder with the tools you are given. "
    "Call tools to act; answer in text when you are done."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line said."""

    task: str
    workspace: Path
    model: str
    yes_to: tuple[str, ...]
    journal: Path
    wait: float
    limits: Limits
    resume: str
    run: str
    keep_bodies: bool
    as_json: bool


def run(  # noqa: PLR0913, PLR0917 - an option is a parameter: typer reads the signature
    task: Annotated[str, typer.Argument(help="What is wanted, in plain words.")] = "",
    workspace: Annotated[Path, typer.Option(help="The folder that the tools may work in.")] = Path(),
    model: Annotated[
        str, typer.Option(help="As connect takes it: openai:MODEL, anthropic:MODEL, replay:FILE, local.")
    ] = "local",
    yes_to: Annotated[
        list[str] | None, typer.Option(help="Allow calls of tools of this pattern without asking.")
    ] = None,
    journal: Annotated[Path, typer.Option(help="The journal's file.", envvar="CALLGATE_JOURNAL")] = Path(
        "callgate.db"
    ),
    wait: Annotated[float, typer.Option(help="Seconds to wait for an answer from another terminal.")] = 0.0,
    turns: Annotated[int, typer.Option(help="Requests at most.")] = 25,
    tokens: Annotated[int, typer.Option(help="Input and output tokens at most.")] = 500_000,
    resume: Annotated[str, typer.Option(help="Go on with this run of the journal.")] = "",
    run_id: Annotated[str, typer.Option(help="What the new run is called; made up by default.")] = "",
    keep_bodies: Annotated[bool, typer.Option(help="Record each reply as the bytes it came as.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document instead of words.")] = False,
) -> None:
    """Do a task with the workspace's tools. What needs a person is asked here when this is a terminal.

    Elsewhere it is refused, unless --wait leaves time to approve it from another terminal. Exit code 0 when
    the model answered, 3 when a call still waits for a person, 1 when the run ended for another reason.
    """
    if not task and not resume:
        stop("say what is wanted, or --resume RUN", Exit.USAGE)
    if not workspace.is_dir():
        stop(f"there is no folder {str(workspace)!r}", Exit.USAGE)
    with plainly():
        limits = Limits(turns=turns, tokens=tokens)
        asked = Asked(
            task=task,
            workspace=workspace,
            model=model,
            yes_to=tuple(yes_to or ()),
            journal=journal,
            wait=wait,
            limits=limits,
            resume=resume,
            run=run_id,
            keep_bodies=keep_bodies,
            as_json=as_json,
        )
        outcome = anyio.run(_go, asked)
    _tell(outcome, as_json=as_json)
    raise typer.Exit(_exit(outcome))


async def _go(asked: Asked) -> Outcome:
    interactive = can_ask() and not asked.as_json
    policy = Policy(
        rules=tuple(Rule(tool=pattern, decision="allow", reason="--yes-to") for pattern in asked.yes_to)
    )
    options = GateOptions(can_ask=interactive or asked.wait > 0)
    patience = _FOR_EVER if interactive else asked.wait
    how = AgentOptions(wait_for_approvals=patience, keep_bodies=asked.keep_bodies)
    model = connect(asked.model)
    if asked.resume and not asked.journal.exists():  # a file that is not there would be made
        raise UnknownRunError("the journal has no such run", run=asked.resume)
    board = Board()
    async with opened(asked.journal) as store:
        # A run that is resumed is shown whole, and what it asked before it stopped is asked here again.
        questions: list[ApprovalAsked] = []
        if asked.resume:
            questions = await store.waiting(asked.resume)
            for entry in await _so_far(store, asked.resume):
                board.hear(entry)
        async with (
            open_gate(workspace_tools(), asked.workspace, store, policy, options) as gate,
            anyio.create_task_group() as tasks,
        ):
            gate.subscribe(board.hear, board.progress)
            if interactive:
                tasks.start_soon(_ask_people, gate, board, questions)
            agent = Agent(gate, model, asked.limits, _SYSTEM, options=how)
            with nullcontext() if asked.as_json else board.shown():
                outcome = await _drive(agent, asked)
            tasks.cancel_scope.cancel()
    return outcome


async def _so_far(store: Store, run: str) -> list[Entry]:
    """What stands of a run and of those that its tools made below it; each run's entries in their order."""
    below = [found.run for found in await store.runs() if found.run.startswith(f"{run}~")]
    records = [await store.read(name) for name in (run, *below)]
    return [record.entry for record in merge(*records, key=lambda record: record.entry.at)]


async def _drive(agent: Agent, asked: Asked) -> Outcome:
    return await (agent.resume(asked.resume) if asked.resume else agent.run(asked.task, asked.run or None))


async def _ask_people(gate: Gate, board: Board, waiting: Iterable[ApprovalAsked]) -> None:
    """Ask on the terminal about each call that waits, one after another."""
    send, questions = anyio.create_memory_object_stream[ApprovalAsked](math.inf)

    def hear(entry: Entry) -> None:
        if isinstance(entry, ApprovalAsked):
            send.send_nowait(entry)

    for question in waiting:
        hear(question)
    gate.subscribe(hear)
    async for question in questions:
        waits = {one.key: one.call for one in await gate.pending(question.key.run)}
        if question.key not in waits:  # decided from another terminal meanwhile, or skipped
            continue
        with board.paused():
            screen.print(Text.assemble("\n", (whole(waits[question.key]), "bold")))
            screen.print(plain(f"  because {'; '.join(question.reasons)}"))
            approved = await confirmed("allow it?")
        await gate.decide(question.key, approved=approved, by="terminal")


def _tell(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        print_json(_document(outcome))
        return
    if outcome.text:
        screen.print(plain(outcome.text, lines=True))
    spent = f"{outcome.turns} turns, {outcome.calls} calls, {outcome.usage.total} tokens"
    about = " (estimated)" if outcome.usage.estimator else ""
    told = f"{outcome.reason}: run {outcome.run}, {spent}{about}"
    screen.print(plain(told), style="green" if outcome.ok else "yellow")
    if outcome.detail:
        screen.print(plain(outcome.detail, lines=True), style="dim")
    if outcome.reason is Reason.PENDING:
        screen.print(plain(f"then: callgate journal waiting; callgate run --resume {outcome.run}"))


def _document(outcome: Outcome) -> dict[str, Any]:
    return {
        "run": outcome.run,
        "reason": outcome.reason,
        "text": outcome.text,
        "detail": outcome.detail,
        "turns": outcome.turns,
        "calls": outcome.calls,
        "usage": outcome.usage,
        "results": [result for exchange in outcome.exchanges for result in exchange.results],
    }


def _exit(outcome: Outcome) -> Exit:
    if outcome.ok:
        return Exit.OK
    return Exit.PENDING if outcome.reason is Reason.PENDING else Exit.NOT_DONE
