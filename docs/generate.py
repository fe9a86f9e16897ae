"""Write the pages of docs/reference that come from tables in the code, so that they cannot disagree with it.

In: the tables of ``callgate.calls``, the commands of ``callgate.cli``. Out: Markdown. `make docs` runs it; a
test checks that pages are fresh.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
import typer

from callgate.calls import (
    CODES,
    FINAL,
    STATUS,
    TRANSITIONS,
    Access,
    CallKey,
    Code,
    Entry,
    Finding,
    Layer,
    Offered,
    Range,
    ServerCall,
    State,
    StreamFault,
    ToolCall,
    Usage,
)
from callgate.cli import EXITS, app

REFERENCE: Final = Path(__file__).parent / "reference"

NOTE: Final = "<!-- Written by docs/generate.py: run `make docs` instead of changing it here. -->"

MENDERS: Final = {"model": "the model", "person": "a person", "nobody": "nobody"}


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """The lines of a Markdown table."""
    heads = list(heads)
    for row in (heads, ["---"] * len(heads), *rows):
        cells = " | ".join(cell.replace("|", "\\|") for cell in row)
        yield f"| {cells} |"


def codes() -> Iterator[str]:
    """Every code by layer."""
    yield "# Codes"
    yield ""
    yield "Every reason a call can be given, in the order in which the questions are asked. `Can mend it`"
    yield "says whose turn it is; the advice is what the model is told. No two codes give the same advice."

    def row(code: Code) -> list[str]:
        return [f"`{code.name}`", MENDERS[code.mender], code.advice]

    for layer in Layer:
        yield from ("", f"## {layer.capitalize()}", "")
        rows = [row(code) for code in CODES.values() if code.layer is layer]
        yield from table(("code", "can mend it", "advice to the model"), rows)


def lifecycle() -> Iterator[str]:
    """The life cycle as a diagram and as tables."""
    yield "# The life cycle of a call"
    yield ""
    yield "Each arrow is one entry of the table `TRANSITIONS`; a step that is not in it is an error."
    yield from ("", "```mermaid", "stateDiagram-v2", f"    [*] --> {State.CREATED}")
    arrows: dict[tuple[State, State], list[str]] = {}
    for (before, event), after in TRANSITIONS.items():
        arrows.setdefault((before, after), []).append(event)
    for (before, after), events in arrows.items():
        yield f"    {before} --> {after}: {', '.join(events)}"
    yield from (f"    {state} --> [*]" for state in State if state in FINAL)
    yield from ("```", "")
    steps = ([f"`{before}`", f"`{event}`", f"`{after}`"] for (before, event), after in TRANSITIONS.items())
    yield from table(("in this state", "when this happens", "it is in this one"), steps)
    yield from ("", "What the result of a call in each state says:", "")
    said = ([f"`{s}`", f"`{STATUS[s]}`", "yes" if s in FINAL else "no"] for s in State)
    yield from table(("state", "status of the result", "final"), said)


def plain(text: str | None) -> str:
    """A docstring as Markdown."""
    return inspect.cleandoc(text or "").replace("``", "`")


def shown(default: Any) -> str:
    """A default as the table shows it."""
    if default in (dataclasses.MISSING, msgspec.NODEFAULT):
        return ""
    if isinstance(default, type):
        return "empty"
    return f"`{default.value!r}`" if hasattr(default, "value") else f"`{default!r}`"


def fields(kind: type) -> Iterator[list[str]]:
    """A row for each field: name, type, default."""
    if issubclass(kind, msgspec.Struct):
        for field in msgspec.structs.fields(kind):
            default = field.default if field.default_factory is msgspec.NODEFAULT else list
            yield [f"`{field.name}`", f"`{kind.__annotations__[field.name]}`", shown(default)]
    elif dataclasses.is_dataclass(kind):
        for item in dataclasses.fields(kind):
            default = item.default if item.default_factory is dataclasses.MISSING else list
            yield [f"`{item.name}`", f"`{item.type}`", shown(default)]
    else:
        for name, default in CallKey._field_defaults.items():
            yield [f"`{name}`", f"`{type(default).__name__}`", shown(default)]


def entries() -> Iterator[str]:
    """Every journal entry and the values that stand in them, with their fields."""
    yield "# Journal entries"
    yield ""
    yield "One entry for each thing that became so, in the order in which they came. Each is written as"
    yield "JSON with its name in `type`. Times are Unix seconds. A field is only ever added, with a default."
    for title, kinds in (
        ("", get_args(Entry)),
        (
            "# Values in entries",
            (CallKey, ToolCall, Finding, Access, Offered, Usage, Range, ServerCall, StreamFault),
        ),
    ):
        if title:
            yield from ("", title)
        for kind in kinds:
            yield from ("", f"## {kind.__name__}", "", plain(kind.__doc__), "")
            yield from table(("field", "type", "default"), fields(kind))


def cli() -> Iterator[str]:
    """Every command with its arguments and options, and what a process ends with."""
    yield "# The command line"
    yield ""
    yield "Answers go to standard output, everything else to standard error. With `--json` standard output"
    yield "holds one JSON document and nothing else. There is colour only on a terminal."
    for words, command in commands("callgate", typer.main.get_command(app)):
        rows = list(parameters(command))
        usage = " ".join([words, *(["[OPTIONS]"] if rows else []), *arguments(command)])
        yield from ("", f"## {words}", "", f"    {usage}", "", plain(command.help), "")
        if rows:
            yield from table(("parameter", "what it is", "default", "environment"), rows)
    yield from ("", "## Exit codes", "")
    yield from table(("code", "what it means"), ([str(int(code)), why] for code, why in EXITS.items()))


def commands(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Every command that does something, with the words that name it."""
    below = getattr(command, "commands", {})
    if not below:
        yield words, command
    for name, one in below.items():
        yield from commands(f"{words} {name}", one)


def arguments(command: Any) -> Iterator[str]:
    """The positional words of a command."""
    for one in command.params:
        if one.param_type_name == "argument":
            yield one.name.upper() if one.required else f"[{one.name.upper()}]"


def parameters(command: Any) -> Iterator[list[str]]:
    """A row for each argument and option."""
    for one in command.params:
        if getattr(one, "hidden", False) or one.name == "help":
            continue
        positional = one.param_type_name == "argument"
        names = [one.name.upper()] if positional else [*one.opts, *one.secondary_opts]
        said = one.default is not None and one.default is not False and one.default != ""
        default = f"`{one.default}`" if said and not one.required else ""
        environment = f"`{one.envvar}`" if one.envvar else ""
        yield [", ".join(f"`{name}`" for name in names), one.help or "", default, environment]


PAGES: Final[dict[str, Callable[[], Iterable[str]]]] = {
    "codes.md": codes,
    "lifecycle.md": lifecycle,
    "entries.md": entries,
    "cli.md": cli,
}
"""File in docs/reference → what writes its lines."""


def page(name: str) -> str:
    """The whole text of one page."""
    return "\n".join([NOTE, "", *PAGES[name](), ""])


def main() -> None:
    """Write every page."""
    REFERENCE.mkdir(exist_ok=True)
    for name in PAGES:
        (REFERENCE / name).write_text(page(name), encoding="utf-8")
        print(f"docs/reference/{name}")


if __name__ == "__main__":
    main()
