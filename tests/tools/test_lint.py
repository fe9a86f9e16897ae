"""Lint: what a reviewer should look at, and nothing on a tool that is well declared."""

from typing import Annotated, Any

import pytest
from pydantic import Field

from callgate.calls import Effect, ToolCall
from callgate.tools import (
    CannotTell,
    Context,
    LintFinding,
    ToolOptions,
    Toolset,
    WorkspacePath,
    declare,
    declare_schema,
    lint,
    reads,
    unguarded,
    writes,
)

tools = Toolset()


def reconcile(ctx: Context, call: ToolCall) -> CannotTell:
    return CannotTell()


def found(function: Any, **options: Any) -> set[tuple[str, str]]:
    tools = Toolset()
    tools.tool(Effect.READ, **options)(function)
    return {(f.code, f.parameter) for f in tools.findings()}


def test_a_tool_that_is_well_declared_has_no_findings() -> None:
    tools = Toolset()

    @tools.tool(reconcile=reconcile, examples=[("write", {"path": "a", "text": "b"})])
    def write_file(path: WorkspacePath, text: Annotated[str, Field(examples=["x"])] = "") -> None:
        """Write a file.

        Args:
            path: Where.
            text: What.
        """

    @tools.tool(idempotent=True, instead="write_file", when_not="the file is there")
    def create_file(path: WorkspacePath) -> None:
        """Create a file."""

    assert tools.findings() == ()


def test_what_is_not_described() -> None:
    def get_x(a: int) -> None: ...

    assert found(get_x) == {("NO_DESCRIPTION", ""), ("PARAMETER_UNDESCRIBED", "a")}


@pytest.mark.parametrize(
    ("name", "effect", "severity"),
    [("delete_x", Effect.READ, "error"), ("get_x", Effect.WRITE, "warning"), ("zap_x", Effect.READ, None)],
)
def test_a_name_that_contradicts_the_class(name: str, effect: Effect, severity: str | None) -> None:
    tools = Toolset()
    tools.tool(effect, name=name, idempotent=True, what="X.")(lambda: 0)
    assert [f.severity for f in tools.findings() if f.code == "NAME_CONTRADICTS_EFFECT"] == (
        [severity] if severity else []
    )


@pytest.mark.parametrize("effect", Effect)
def test_an_effect_that_a_crash_would_leave_to_a_person(effect: Effect) -> None:
    def codes(**options: Any) -> set[str]:
        tools = Toolset()
        tools.tool(effect, name="x", what="X.", **options)(lambda: 0)
        return {f.code for f in tools.findings()}

    assert ("UNRECOVERABLE" in codes()) is (effect is not Effect.READ)
    assert "UNRECOVERABLE" not in codes(idempotent=True) | codes(reconcile=reconcile)


def test_what_was_let_through_is_shown_with_its_reason() -> None:
    tools = Toolset()

    @tools.tool(what="X.")
    def get_x(url: Annotated[str, unguarded("only logged"), Field(description="U.")]) -> None: ...

    (finding,) = tools.findings()
    assert (finding.code, finding.parameter) == ("UNGUARDED", "url")
    assert "only logged" in finding.message


def test_what_always_asks_is_shown() -> None:
    tools = Toolset()
    tools.schema_tool("get_x", "X.", {"properties": {"url": {"description": "U."}}}, lambda arguments: 0)
    assert [(f.code, f.parameter) for f in tools.findings()] == [("ALWAYS_ASKS", "url")]


def test_a_docstring_that_could_not_be_read_or_is_stale() -> None:
    def get_x(a: Annotated[int, Field(description="A.")]) -> None:
        """X.

        Args:
            whatever
        """

    def get_y(a: Annotated[int, Field(description="A.")]) -> None:
        """Y.

        Args:
            b: Gone.
        """

    assert found(get_x) == {("DOCSTRING_UNREAD", "")}
    assert found(get_y) == {("DOCSTRING_STALE", "b")}


def test_names_that_some_provider_refuses() -> None:
    for name, code in (
        ("x" * 65, "NAME_TOO_LONG"),
        ("math.add", "NAME_NOT_PORTABLE"),
        ("数", "NAME_NOT_PORTABLE"),
    ):
        assert found(lambda: 0, name=name, what="X.") == {(code, "")}


def test_characters_that_nobody_sees() -> None:
    def get_x(a: Annotated[int, Field(description="A\u200b.")]) -> None:
        """X."""

    assert found(get_x) == {("HIDDEN_CHARACTERS", "a")}
    assert found(get_x, what="do\U000e0041") == {("HIDDEN_CHARACTERS", ""), ("HIDDEN_CHARACTERS", "a")}


def test_samples_that_a_call_could_not_send() -> None:
    def get_x(
        a: Annotated[int, Field(description="A.", ge=1, examples=[0])] = 2,
        b: Annotated[int, Field(description="B.")] = "x",  # type: ignore[assignment]
        c: Annotated[int, Field(description="C.")] = object(),  # type: ignore[assignment]
        d: Annotated[dict[str, int], Field(description="D.")] = {"k": "x"},  # type: ignore[dict-item] # noqa: B006
    ) -> None:
        """X."""

    assert found(get_x) == {
        ("SAMPLE_UNFIT", "a"),
        ("SAMPLE_UNFIT", "b"),
        ("DEFAULT_UNPUBLISHED", "c"),
        ("SAMPLE_UNFIT", "d"),
    }


def test_a_sample_is_judged_alone_however_many_others_are_required() -> None:
    required = {f"a{number}": {"type": "integer", "description": "A."} for number in range(9)}
    odd = {"type": "integer", "description": "Z.", "default": "x"}
    schema = {"properties": {**required, "z": odd}, "required": [*required, "z"]}
    tool = declare_schema("get_x", "X.", schema, lambda arguments: None)
    assert {(f.code, f.parameter) for f in lint((tool,))} == {("SAMPLE_UNFIT", "z")}


@pytest.mark.parametrize(
    ("effect", "marker", "egress", "codes"),
    [
        ("read", writes, False, {"READ_WRITES"}),
        ("read", reads, False, set()),
        ("write", reads, False, {"WRITES_UNDECLARED"}),
        ("write", writes, False, set()),
        ("irreversible", reads, False, {"WRITES_UNDECLARED"}),
        ("irreversible", reads, True, set()),
        ("irreversible", writes, False, set()),
        ("execute", reads, False, {"WRITES_UNDECLARED"}),
    ],
)
def test_what_a_tool_touches_agrees_with_its_class(
    effect: Any, marker: Any, egress: bool, codes: set[str]
) -> None:
    def tool(id: Annotated[str, Field(description="Id.")]) -> None:  # noqa: A002 - a likely name
        """X."""

    made = declare(
        tool, ToolOptions(effect=effect, accesses=[marker("ticket:{id}")], egress=egress, idempotent=True)
    )
    assert {finding.code for finding in lint((made,))} == codes


def test_the_tool_to_use_instead_must_exist() -> None:
    assert found(lambda: 0, name="get_x", what="X.", instead="nothing") == {("INSTEAD_UNKNOWN", "")}


def test_a_change_that_declares_only_what_it_reads() -> None:
    def codes(*accesses: Any) -> set[str]:
        tools = Toolset()
        tools.tool(Effect.WRITE, name="x", what="X.", idempotent=True, accesses=accesses)(lambda: 0)
        return {f.code for f in tools.findings()}

    assert codes(reads("a:b")) == {"WRITES_UNDECLARED"}
    assert codes(reads("a:b"), writes("a:b")) == codes() == set()


def test_the_worst_comes_first_and_each_says_how_to_mend_it() -> None:
    tools = Toolset()
    tools.tool(Effect.READ, name="delete_x", instead="gone")(lambda a: 0)
    findings = tools.findings()
    severities = [f.severity for f in findings]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert all(isinstance(f, LintFinding) and f.mend and f.tool == "delete_x" for f in findings)
