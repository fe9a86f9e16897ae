"""Where output goes: answers to stdout, everything else to stderr; colour only on a terminal.

``--json`` puts one JSON document on stdout and nothing else. Text is text: nothing in it is markup, and what
a model, a tool or a file said passes through ``plain``, so that it can neither steer a terminal nor hide.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

import anyio
import msgspec
import typer
from rich.console import Console
from rich.text import Text

from callgate.calls import FrozenDict, Status, ToolCall, canonical
from callgate.errors import CallgateError

from ._exits import Exit

# A file or a pipe has no width of its own; tables keep to this one.
_WIDTH = None if sys.stdout.isatty() else 132
screen = Console(highlight=False, markup=False, emoji=False, soft_wrap=True, width=_WIDTH)
aside = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)

# Printable by the letter of Unicode, and yet nothing is seen of them: joiners, fillers, variation selectors.
_UNSEEN: Final = frozenset(
    chr(code)
    for first, last in (
        (0x034F, 0x034F),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x2800, 0x2800),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFFA0, 0xFFA0),
        (0xE0100, 0xE01EF),
    )
    for code in range(first, last + 1)
)

COLOURS = {
    Status.OK: "green",
    Status.ERROR: "red",
    Status.REFUSED: "yellow",
    Status.NOT_RUN: "dim",
    Status.UNKNOWN: "magenta",
    Status.PENDING: "cyan",
}


def plain(text: str, *, lines: bool = False) -> str:
    r"""A text with every character that cannot be seen, or that a terminal obeys, written as ``\uXXXX``.

    Controls, bidirectional marks, blanks other than the space, what Unicode does not know. With ``lines`` a
    line feed stays one. The escapes are those of JSON (RFC 8259 section 7), so that a JSON text keeps its
    value.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if (character.isprintable() and character not in _UNSEEN) or (lines and character == "\n")
        else _written_out(character)
        for character in text
    )


def _written_out(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def whole(call: ToolCall) -> str:
    """A call as a person decides about it.

    Its arguments stand as the value that its digest is over, whatever blanks, escapes or order they were sent
    with; two different calls are never shown alike.
    """
    return f"{plain(call.name)} {plain(canonical(call.arguments).decode())}"


def print_json(value: Any) -> None:
    """One JSON document, readable, on stdout."""
    told = msgspec.json.format(msgspec.json.encode(value, enc_hook=_as_json), indent=2).decode()
    sys.stdout.write(plain(told, lines=True) + "\n")
    sys.stdout.flush()


def can_ask() -> bool:
    """Whether a person can read a question here and answer it: both sides are a terminal, coloured or not."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


async def confirmed(question: str) -> bool:
    """Ask on the terminal; only a yes is one. No thread waits, so that Ctrl-C ends it at once."""
    screen.print(Text.assemble(question, " ", ("[y/N]", "bold"), " "), end="")
    # A terminal hands over whole lines: what is readable is an answer.
    await anyio.wait_readable(sys.stdin)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _as_json(value: Any) -> Any:
    return dict(value) if isinstance(value, FrozenDict) else str(value)


def stop(message: str, code: Exit = Exit.FAILED) -> NoReturn:
    """Say one line on stderr and end."""
    aside.print(plain(message), style="red" if aside.is_terminal else None)
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
