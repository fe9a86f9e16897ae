"""``callgate lint``: what a reviewer should look at in a set of tools."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import msgspec
import typer
from rich.table import Table

from callgate.errors import ConfigurationError
from callgate.tools import LintFinding, Toolset

from ._exits import Exit
from ._screen import plain, plainly, print_json, screen, stop

_WANTED = '[{"name", "description", "inputSchema", "annotations"}, ...], or such an array under "tools"'


class _Row(msgspec.Struct, frozen=True):
    """A tool as an MCP server lists it."""

    name: str = ""
    description: str | None = None
    parameters: dict[str, Any] | None = msgspec.field(default=None, name="inputSchema")
    hints: dict[str, Any] | None = msgspec.field(default=None, name="annotations")


class _Listing(msgspec.Struct, frozen=True):
    """The answer to ``tools/list``."""

    tools: list[_Row]


def lint(
    target: Annotated[
        str, typer.Argument(help="module:name, file.py[:name], or a JSON file of MCP tool definitions.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document instead of words.")] = False,
) -> None:
    """Show the findings of a toolset's registration. Exit code 1 when there are any of severity error."""
    with plainly():
        refused: list[LintFinding] = []
        findings = [finding for tools in _toolsets(target, refused) for finding in tools.findings()]
        findings = [*refused, *findings]
        if as_json:
            print_json(findings)
        else:
            _show(findings)
    raise typer.Exit(Exit.NOT_DONE if any(finding.severity == "error" for finding in findings) else Exit.OK)


def _toolsets(target: str, refused: list[LintFinding]) -> list[Toolset]:
    if target.endswith(".json"):
        return [_from_json(Path(target), refused)]
    place, _, name = target.partition(":")
    module = _loaded(place)
    if name:
        found = getattr(module, name, None)
        if not isinstance(found, Toolset):
            stop(f"{place} has no toolset called {name!r}", Exit.USAGE)
        return [found]
    toolsets = [value for value in vars(module).values() if isinstance(value, Toolset)]
    if not toolsets:
        stop(f"{place} has no toolset; name one: {place}:NAME", Exit.USAGE)
    return toolsets


def _loaded(place: str) -> ModuleType:
    if not place.endswith(".py"):
        if not all(place.split(".")):
            stop(f"{place!r} is no module's name", Exit.USAGE)
        sys.path.insert(0, "")
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as missing:
            stop(f"there is no module {missing.name!r}", Exit.USAGE)
    spec = importlib.util.spec_from_file_location(Path(place).stem, place)
    if spec is None or spec.loader is None or not Path(place).exists():
        stop(f"there is no file {place!r}", Exit.USAGE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _from_json(path: Path, refused: list[LintFinding]) -> Toolset:
    """MCP definitions: an array of tools, or an object with one under ``tools``."""
    try:
        told = msgspec.json.decode(path.read_bytes(), type=list[_Row] | _Listing)
    except msgspec.ValidationError as problem:
        stop(f"{path} holds no MCP tool definitions: {problem}; wanted: {_WANTED}", Exit.USAGE)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        stop(f"{path} is not JSON: {problem}", Exit.USAGE)
    tools = Toolset(path.stem)
    for row in told.tools if isinstance(told, _Listing) else told:
        schema = {"type": "object"} if row.parameters is None else row.parameters
        try:
            tools.schema_tool(row.name, row.description or "", schema, _not_here, hints=row.hints or {})
        except ConfigurationError as problem:
            mend = str(problem.facts.get("mend", ""))
            refused.append(LintFinding(problem.code, row.name, "", problem.message, mend, "error"))
    return tools


def _not_here(arguments: dict[str, Any]) -> None:
    """The tool itself runs elsewhere; only its declaration is looked at."""


def _show(findings: list[LintFinding]) -> None:
    if not findings:
        screen.print("no findings", style="green")
        return
    table = Table("severity", "tool", "parameter", "finding", "mend", box=None)
    for finding in findings:
        told = f"{finding.code}: {finding.message}"
        cells = (finding.severity, finding.tool, finding.parameter, told, finding.mend)
        table.add_row(*map(plain, cells))
    screen.print(table)
