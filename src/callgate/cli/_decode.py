"""``callgate decode``: what a recorded response says, and why it may or may not run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec.structs import asdict
from rich.text import Text

from callgate.calls import StreamEvent, Turn
from callgate.models import guess_dialect
from callgate.wire import DIALECTS, Decoder

from ._exits import Exit
from ._ladder import climb
from ._screen import plain, plainly, print_json, screen, stop


def decode(
    file: Annotated[str, typer.Argument(help="The recorded response body; - is standard input.")],
    dialect: Annotated[
        str, typer.Option(help="Which dialect it is in; guessed from the body by default.")
    ] = "",
    ladder: Annotated[
        bool, typer.Option(help="Show every boundary: bytes, characters, events, deltas, calls, turn.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document instead of words.")] = False,
) -> None:
    """Read a recorded response: its calls, and why its turn is or is not executable.

    Exit code 0 when the turn is executable or a finished answer, 1 when it is neither.
    """
    with plainly():
        body = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        if dialect and dialect not in DIALECTS:
            stop(f"no dialect is called {dialect!r}; there are: {', '.join(sorted(DIALECTS))}", Exit.USAGE)
        chosen = dialect or guess_dialect(body)
        if not chosen:
            stop("the dialect cannot be told from the body; name it with --dialect", Exit.USAGE)
        if ladder and not as_json:
            turn = climb(body, chosen)
        else:
            turn, events = _decoded(body, chosen)
            if as_json:
                print_json(_document(turn, events if ladder else None))
                raise typer.Exit(_exit(turn))
        show_turn(turn)
    raise typer.Exit(_exit(turn))


def _decoded(body: bytes, dialect: str) -> tuple[Turn, list[StreamEvent]]:
    decoder = Decoder(dialect)
    events = decoder.feed(body)
    return decoder.close(), events


def _exit(turn: Turn) -> Exit:
    return Exit.OK if turn.executable or not turn.why_not else Exit.NOT_DONE


def _document(turn: Turn, events: list[StreamEvent] | None) -> dict[str, Any]:
    document: dict[str, Any] = {"turn": turn}
    if events is not None:
        document["events"] = [{"event": type(event).__name__, **asdict(event)} for event in events]
    return document


def show_turn(turn: Turn) -> None:
    """The calls of a turn and the verdict on it, in words."""
    # The name before each line of the text: a line of it must not pass for one of ours.
    for line in turn.text.split("\n") if turn.text else ():
        screen.print(f"text: {plain(line)}")
    for position, call in enumerate(turn.calls):
        why_not = call.fault.code if call.fault else "never closed"
        state = "whole" if call.complete else f"not whole ({why_not})"
        told = f" {plain(call.arguments_text or '{}')}  id={plain(str(call.call_id))}  {state}"
        screen.print(Text.assemble(f"call {position}: ", (plain(call.name), "bold"), told))
    for ran in turn.server_calls:
        screen.print(plain(f"run by the server: {ran.name} {ran.arguments_text}"), style="dim")
    for fault in turn.faults:
        screen.print(plain(f"fault: {fault.code} {fault.message}"), style="yellow")
    if turn.executable:
        screen.print(f"executable ({turn.finish})", style="green")
    elif turn.why_not:
        screen.print(plain(f"not executable: {turn.why_not} - {turn.reason}"), style="red")
    else:
        screen.print(f"nothing to execute ({turn.finish})")
