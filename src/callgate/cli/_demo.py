"""``callgate demo``: the whole walk on real files, with the embedded model and a crash."""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from callgate.calls import AttemptKind, Offered, Status, ToolDefinition, ToolResult, Turn, TurnAsked
from callgate.errors import TransportError
from callgate.gate import Gate, GateOptions, open_gate
from callgate.models import Model, connect
from callgate.wire import Decoder, Request, Said
from callgate.workspace import workspace_tools

from ._board import Board, short
from ._crash import CrashReport, child, crash_and_resume
from ._exits import Exit
from ._recorded import DIALECT, recorded
from ._scenes import SCENES, Scene, build
from ._screen import COLOURS, can_ask, confirmed, plain, plainly, print_json, screen, whole

RUN = "demo"
NEEDED = 4
_TRUST = (
    "A 135M model can be trusted to pick a tool for a plain request and to copy a name or a number into its "
    "arguments, most of the time. It cannot be trusted to plan, to know when no tool fits, or to stay where "
    "it belongs. That is why the gate decides and the model does not."
)


@dataclass(frozen=True, slots=True)
class Fed:
    """A recorded turn and what came of it."""

    said: str
    results: list[ToolResult]


@dataclass(frozen=True, slots=True)
class Shown:
    """One request, what the model made of it, and what came of that.

    ``recorded`` is the turn that was fed because the model did not propose what must be shown; None where it
    did, or where nothing must be.
    """

    request: str
    right: bool
    results: list[ToolResult]
    said: str
    seconds: float
    recorded: Fed | None = None


@dataclass(slots=True)
class Show:
    """The demo as it goes: where it runs, who answers, what has been shown."""

    folder: Path
    yes: bool
    quiet: bool
    definitions: tuple[ToolDefinition, ...] = ()
    done: list[Shown] = field(default_factory=list)
    answered: str = ""
    board: Board = field(default_factory=lambda: Board(f"run {RUN}"))

    def say(self, text: str, style: str = "") -> None:
        """A line for people."""
        if not self.quiet:
            screen.print(plain(text), style=style or None)


def demo(
    yes: Annotated[bool, typer.Option("--yes", help="Approve the deletion without asking.")] = False,
    keep: Annotated[bool, typer.Option(help="Leave the workspace and the journal where they are.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document instead of words.")] = False,
    child_of: Annotated[tuple[Path, Path] | None, typer.Option("--child", hidden=True)] = None,
) -> None:
    """Take six plain requests through the embedded model and the gate, then kill a process and go on.

    Exit code 0 when at least four of the six had the right effect, nothing was applied twice and the
    journal verifies.
    """
    if child_of is not None:
        anyio.run(child, *child_of)
        return
    folder = Path(tempfile.mkdtemp(prefix="callgate-demo-"))
    try:
        with plainly():
            show = Show(folder, yes, quiet=as_json)
            report = anyio.run(_play, show)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    right = sum(shown.right for shown in show.done)
    if as_json:
        print_json(_document(show, report))
    else:
        _close(show, report, keep=keep)
    raise typer.Exit(Exit.OK if right >= NEEDED and report.ok else Exit.NOT_DONE)


async def _play(show: Show) -> CrashReport:
    workspace = build(show.folder)
    tools = workspace_tools()
    show.definitions = tools.definitions()
    started = time.monotonic()
    model = connect("local")
    show.say(f"workspace {workspace}, model {model.name}, journal demo.db")
    board = show.board
    async with open_gate(
        tools, workspace, f"sqlite:{show.folder / 'demo.db'}", options=GateOptions(can_ask=True)
    ) as gate:
        gate.subscribe(board.hear)
        await gate.begin(RUN, "the demo's six requests")
        with nullcontext() if show.quiet else board.shown():
            for scene in SCENES:
                await _act(show, gate, model, scene)
        await gate.finish(RUN, "answered")
    show.say(f"six requests in {time.monotonic() - started:.0f} s; a child process is killed now", "bold")
    return await crash_and_resume(show.folder, show.folder / "crash.db")


async def _act(show: Show, gate: Gate, model: Model, scene: Scene) -> None:
    """One request: by the model, and by a recorded turn where the model does not reach what must be."""
    show.say("")
    show.say(scene.request, "bold")
    start = time.monotonic()
    turn = await _ask(show, gate, model, scene.request)
    show.say(f"  the model, after {time.monotonic() - start:.1f} s: {short(_said(turn), 100)}")
    results = await _handle(show, gate, turn)
    right = scene.right(results, show.folder / "workspace")
    seconds = round(time.monotonic() - start, 3)
    _tell(show, results)
    show.say("  right" if right else "  not what was asked for", "green" if right else "yellow")
    fed = None if _reached(scene, results) else await _feed(show, gate, scene)
    show.done.append(Shown(scene.request, right, results, _said(turn), seconds, fed))


async def _feed(show: Show, gate: Gate, scene: Scene) -> Fed | None:
    """The recorded turn of a scene that has one."""
    if scene.instead is None:
        return None
    name, arguments = scene.instead
    show.say("  the model did not propose that; a recorded turn is fed instead", "dim")
    decoder = Decoder(DIALECT, show.definitions)
    decoder.feed(recorded(name, **arguments))
    turn = decoder.close()
    show.say(f"  recorded: {short(_said(turn), 100)}")
    results = await _handle(show, gate, turn)
    _tell(show, results)
    return Fed(_said(turn), results)


def _reached(scene: Scene, results: list[ToolResult]) -> bool:
    """Whether a result has the code that must be shown; a decided approval was reached too."""
    codes = {result.code for result in results}
    if scene.must == "APPROVAL_PENDING":
        return bool(codes & {"APPROVAL_PENDING", "APPROVAL_DENIED"}) or any(
            result.name == "delete_file" and result.status is Status.OK for result in results
        )
    return scene.must in codes


async def _ask(show: Show, gate: Gate, model: Model, request: str) -> Turn:
    """One request to the model, recorded like any; its bytes through the wire as they come."""
    prepared = model.prepare(Request(model.name, history=(Said("user", request),), tools=show.definitions))
    await gate.asked(
        TurnAsked(
            RUN,
            len((await gate.view(RUN)).turns),
            0,
            AttemptKind.FIRST,
            model.name,
            model.dialect,
            time.time(),
            prepared.parameters,
            tuple(Offered(definition.name, definition.digest) for definition in show.definitions),
            prepared.tool_bytes,
            prepared.tool_tokens,
            prepared.tokens_by,
            prepared.messages_digest,
        )
    )
    decoder = Decoder(model.dialect, show.definitions)
    try:
        async for chunk in model.chunks(prepared):
            decoder.feed(chunk)
    except TransportError as problem:
        show.say(f"  {problem}", "yellow")
    return decoder.close()


async def _handle(show: Show, gate: Gate, turn: Turn) -> list[ToolResult]:
    results = await gate.handle(turn, RUN)
    for waiting in await gate.pending(RUN):
        because = "; ".join(waiting.reasons)
        show.say(f"  waits for approval: {whole(waiting.call)} because {because}", "cyan")
        if show.yes:
            approved, by = True, "--yes"
        elif can_ask() and not show.quiet:
            with show.board.paused():
                approved = await confirmed("  allow it?")
            by = "terminal"
        else:
            approved, by = False, "no terminal to ask on, and no --yes"
        show.answered = f"{'approved' if approved else 'denied'} by {by}"
        show.say(f"  {show.answered}")
        await gate.decide(waiting.key, approved=approved, by=by)
        await gate.resume(RUN)  # returns when what was approved has run
        results = await gate.results(RUN)
    return results


def _said(turn: Turn) -> str:
    calls = "; ".join(f"{call.name} {call.arguments_text}" for call in turn.calls)
    return calls or turn.text or f"nothing executable: {turn.why_not}"


def _tell(show: Show, results: list[ToolResult]) -> None:
    for result in results:
        content = "; ".join(f"{finding.where} {finding.expected}" for finding in result.findings) or str(
            result.content
        )
        show.say(f"  {result.status} {result.code} {short(content, 90)}", COLOURS[result.status])


def _close(show: Show, report: CrashReport, *, keep: bool) -> None:
    screen.print(f"\nprocess {report.process} was killed after: {plain(report.killed_after)}")
    for result in report.results:
        told = f"  {result.name} {result.status} {result.code} {result.content}"
        screen.print(plain(told), style=COLOURS[result.status])
    screen.print(
        f"booked: {', '.join(report.booked)} - {'each at most once' if report.ok else 'SOMETHING IS WRONG'}"
    )
    screen.print(
        f"journal: {report.entries} entries, {'the chain is whole' if not report.faults else report.faults}"
    )
    right = sum(shown.right for shown in show.done)
    screen.print(f"\n{right} of {len(show.done)} requests had the right effect.", style="bold")
    screen.print(_TRUST)
    if keep:
        screen.print(f"kept in {plain(str(show.folder))}")


def _document(show: Show, report: CrashReport) -> dict[str, Any]:
    return {
        "requests": show.done,
        "right": sum(shown.right for shown in show.done),
        "approval": show.answered,
        "crash": {
            "killed_after": report.killed_after,
            "results": report.results,
            "booked": report.booked,
            "faults": report.faults,
            "ok": report.ok,
        },
        "trust": _TRUST,
    }
