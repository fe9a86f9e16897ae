"""The tools whose calls are judged here, and a small world for their paths.

All is real: a `Toolset`, its `Tool` values, and facts gathered by `gather` from a world that is a dict.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from callgate.calls import Effect, Finding, FrozenDict, Mode, ToolCall, parse_arguments
from callgate.checks import Case, Judgement, Sources, judge
from callgate.tools import (
    NO_FACTS,
    Context,
    Facts,
    Located,
    Tool,
    Toolset,
    WorkspacePath,
    gather,
    reads,
    source,
    unguarded,
    writes,
)

TOOLS: Final = Toolset("bench")

Even = Annotated[int, AfterValidator(lambda n: n if n % 2 == 0 else int("odd"))]


@TOOLS.tool(effect=Effect.READ)
def search(query: str, limit: Annotated[int, Field(ge=1, le=100)] = 10, exact: bool = False) -> str:
    """Search the notes."""
    return ""


@TOOLS.tool(effect=Effect.READ)
def probe(
    count: Annotated[int, Field(ge=1, le=9)],
    mode: Literal["fast", "slow"] = "fast",
    tag: Annotated[str, Field(max_length=3, pattern="^t")] = "t",
    even: Even = 2,
    nested: dict[str, dict[str, int]] | None = None,
) -> str:
    """Probe the value rules."""
    return ""


def positive(timeout: float) -> Finding | None:
    return Finding("RULE_BROKEN", "/timeout", "seconds above 0") if timeout <= 0 else None


@TOOLS.tool(effect=Effect.READ, check=positive)
def read_file(path: WorkspacePath, timeout: float = 5.0, start_line: int = 1) -> str:
    """Read a file."""
    return ""


@TOOLS.tool(effect=Effect.WRITE)
def write_file(path: WorkspacePath, content: str, expected_version: str | None = None) -> str:
    """Write a file."""
    return ""


@TOOLS.tool(effect=Effect.WRITE)
def move_file(
    path: WorkspacePath, to: WorkspacePath, expected_version: str | int | None = None, approved: bool = False
) -> str:
    """Move a file."""
    return ""


@TOOLS.tool(effect=Effect.WRITE)
def copy_file(
    source: Annotated[WorkspacePath, reads()], to: WorkspacePath, expected_version: str | None = None
) -> str:
    """Copy a file."""
    return ""


@TOOLS.tool(effect=Effect.IRREVERSIBLE)
def delete_file(path: WorkspacePath, approved: bool = False, ctx: Context | None = None) -> str:
    """Delete a file."""
    return ""


@TOOLS.tool(effect=Effect.EXECUTE)
def run_task(task: Literal["tests", "build"]) -> str:
    """Run a task."""
    return ""


@TOOLS.tool(effect=Effect.IRREVERSIBLE, accesses=[writes("ticket:{ticket}")], expected_version="revision")
def close_ticket(
    ticket: Annotated[str, source("result")],
    amount: Annotated[int | None, source("request")] = None,
    people: Annotated[list[str], source("any")] = [],  # noqa: B006 - pydantic copies it
    revision: int | None = None,
) -> str:
    """Close a ticket."""
    return ""


@TOOLS.tool(effect=Effect.READ, egress=True)
def fetch_page(url: Annotated[str, unguarded("the host is checked by the tool")]) -> str:
    """Fetch a page."""
    return ""


def breaks(value: str) -> bool:
    raise RuntimeError(f"connect postgres://u:hunter2@db.internal/prod failed for {value}")


@TOOLS.tool(effect=Effect.READ, check=breaks)
def look_up(value: str) -> str:
    """Look something up."""
    return ""


def echo(arguments: dict[str, Any]) -> dict[str, Any]:
    """What every tool with a schema does here."""
    return arguments


TOOLS.schema_tool(
    "get_record",
    "Read a record.",
    {"type": "object", "properties": {"id": {"not": {"const": 0}}, "file_path": {"type": "string"}}},
    echo,
    effect=Effect.READ,
    server="crm",
)

READABLE: Final = {
    "src/a.py": Located("src/a.py", "src/a.py", "file:/src/a.py", exists=True, version="v8"),
    "new.txt": Located("new.txt", "new.txt", "file:/new.txt"),
}


class Shelf:
    """A world of two paths and one ticket."""

    def locate(self, text: str, mode: Mode) -> Located | Finding:
        if text.startswith(("/", "..")):
            return Finding("OUTSIDE_WORKSPACE", "", "a path inside the workspace")
        if "\0" in text:
            return Finding("PATH_UNUSABLE", "", "a path without NUL")
        return READABLE.get(text) or Located(text, text, f"file:/{text}")

    def version(self, resource: str) -> str | None:
        return {"ticket:T-1": "7"}.get(resource)


def tool(name: str) -> Tool:
    found = TOOLS.get(name)
    assert found is not None
    return found


def call(name: str, arguments: str | dict[str, Any] = "", **more: Any) -> ToolCall:
    """A call as a decoder makes it: of an argument text, whose fault it carries when it cannot be read."""
    if isinstance(arguments, dict):
        return ToolCall(name, FrozenDict(arguments), **more)
    read = parse_arguments(arguments)
    if isinstance(read, Finding):
        return ToolCall(name, arguments_text=arguments, complete=False, fault=read, **more)
    return ToolCall(name, read, arguments, **more)


def case_of(proposed: ToolCall, **more: Any) -> Case:
    """All tools offered, the default policy, somebody to ask, and the facts of `Shelf`."""
    found = TOOLS.get(proposed.name)
    facts: Facts = NO_FACTS
    if found is not None and proposed.fault is None and not found.findings(proposed.arguments):
        facts = gather(found, proposed.arguments, Shelf())
    return Case(**{"tool": found, "offered": TOOLS.names, "facts": facts, "sources": Sources(), **more})


def judged(name: str, arguments: str | dict[str, Any] = "", **more: Any) -> Judgement:
    """Judge a call of one of these tools; `more` replaces parts of the case."""
    proposed = call(name, arguments)
    return judge(proposed, case_of(proposed, **more))


def told(judgement: Judgement) -> list[tuple[str, str]]:
    """Code and place of each finding."""
    return [(finding.code, finding.where) for finding in judgement.verdict.findings]
