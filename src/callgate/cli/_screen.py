"""Where output goes: answers to stdout, everything else to stderr; colour only on a terminal.

``--json`` puts one JSON document on stdout and nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import anyio
import msgspec
import typer
from rich.console import Console

from callgate.calls import FrozenDict, Status
from callgate.errors import CallgateError

from ._exits import Exit

# A file or a pipe has no width of its own; tables keep to this one.
_WIDTH = None if sys.stdout.isatty() else 132
screen = Console(highlight=False, soft_wrap=True, width=_WIDTH)
aside = Console(stderr=True, highlight=False, soft_wrap=True)

COLOURS = {
    Status.OK: "green",
    Status.ERROR: "red",
    Status.REFUSED: "yellow",
    Status.NOT_RUN: "dim",
    Status.UNKNOWN: "magenta",
    Status.PENDING: "cyan",
}


def print_json(value: Any) -> None:
    """One JSON document, readable, on stdout."""
    sys.stdout.write(
        msgspec.json.format(msgspec.json.encode(value, enc_hook=_plain), indent=2).decode() + "\n"
    )
    sys.stdout.flush()


async def confirmed(question: str) -> bool:
    """Ask on the terminal; only a yes is one. No thread waits, so that Ctrl-C ends it at once."""
    screen.print(f"{question} [bold]\\[y/N][/bold] ", end="")
    # A terminal hands over whole lines: what is readable is an answer.
    await anyio.wait_readable(sys.stdin)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, FrozenDict) else str(value)


def stop(message: str, code: Exit = Exit.FAILED) -> NoReturn:
    """Say one line on stderr and end."""
    aside.print(message, style="red" if aside.is_terminal else None, markup=False)
    raise typer.Exit(code)


@contextmanager
def plainly() -> Iterator[None]:
    """Turn what callgate and the system raise into one clear line; never a stack trace."""
    try:
        yield
    except Exception as problem:
        cause = _first(problem)
        told = _told(cause)
        if told is None:
            raise
        stop(*told)


def _first(problem: BaseException) -> BaseException:
    """What went wrong first; task groups wrap it."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem


def _told(problem: BaseException) -> tuple[str, Exit] | None:
    """The line about it and the exit code; None for what is a bug of ours."""
    if isinstance(problem, CallgateError):
        return f"{problem.code}: {problem}", Exit.FAILED
    if isinstance(problem, FileNotFoundError):
        return f"there is no {problem.filename!r}", Exit.USAGE
    if isinstance(problem, OSError):
        return f"{problem.filename or 'the system'}: {problem.strerror or problem}", Exit.FAILED
    return None
