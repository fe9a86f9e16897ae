"""A tool as a value: what it finds, binds and asks its own checks."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, Field

from callgate.calls import Effect, Finding, FrozenDict, freeze
from callgate.errors import LocalProtocolError
from callgate.tools import Context, Facts, Located, Tool, ToolOptions, WorkspacePath, declare, declare_schema
from tests.tools.shelf import Shelf

READ = ToolOptions(effect=Effect.READ)
CONTEXT = Context()


def made(function: Any, **options: Any) -> Tool:
    return declare(function, READ.but(**options))


def call(function: Any, arguments: dict[str, Any], **options: Any) -> Any:
    """What the function returns for judged arguments."""
    tool = made(function, **options)
    frozen = freeze(arguments)
    assert tool.findings(frozen) == ()
    binding = tool.bind(frozen, CONTEXT)
    return function(*binding.args, **binding.kwargs)


def echo_one(a: int) -> int:
    return a


def test_the_structure_layer_is_the_schema_and_then_the_types() -> None:
    def even(value: int) -> int:
        if value % 2:
            message = "an even number"
            raise ValueError(message)
        return value

    def tool(a: Annotated[int, Field(ge=0), AfterValidator(even)]) -> None: ...

    codes = [[f.code for f in made(tool).findings(freeze({"a": a}))] for a in (2, -1, "x", 3)]
    assert codes == [[], ["OUT_OF_RANGE"], ["WRONG_TYPE"], ["NOT_CONVERTIBLE"]]


def test_positional_parameters_are_bound_by_position() -> None:
    def tool(
        a: int, b: int = 2, context: Context | None = None, c: int = 3, /, d: int = 4
    ) -> tuple[Any, ...]:
        return a, b, context, c, d

    assert call(tool, {"a": 1}) == (1, 2, CONTEXT, 3, 4)
    assert call(tool, {"a": 1, "c": 9, "d": 8}) == (1, 2, CONTEXT, 9, 8)


def test_the_context_is_injected_and_cannot_be_sent() -> None:
    def tool(a: int, ctx: Context, **rest: int) -> Context:
        return ctx

    assert call(tool, {"a": 1}) is CONTEXT
    assert made(tool).takes_context
    assert not made(echo_one).takes_context
    assert "ctx" not in made(tool).definition.parameters["properties"]
    assert [f.where for f in made(tool).findings(freeze({"a": 1, "ctx": 2}))] == ["/ctx"]


def test_each_binding_is_fresh() -> None:
    def tool(a: list[int], b: dict[str, Any], c: Any) -> tuple[Any, ...]:
        a.append(1)
        b["x"] = 1
        c["y"].append(1)
        return a, b, c

    tool_ = made(tool)
    frozen = freeze({"a": [], "b": {}, "c": {"y": []}})
    for _ in range(2):
        binding = tool_.bind(frozen, CONTEXT)
        assert tool(*binding.args, **binding.kwargs) == ([1], {"x": 1}, {"y": [1]})
    assert frozen == {"a": [], "b": {}, "c": {"y": []}}


def test_paths_open_through_the_context_under_the_names_that_were_judged() -> None:
    def tool(path: WorkspacePath = WorkspacePath("x")) -> str:  # noqa: B008 - immutable
        return path.read_text()

    shelf = Shelf({"real": b"text", "x": b"default"})
    facts = Facts({"link": Located("link", "real", "file:/real", exists=True)})
    bound = made(tool).bind(freeze({"path": "link"}), Context(files=shelf), facts)
    assert tool(**bound.kwargs) == "text"
    bound = made(tool).bind(freeze({}), Context(files=shelf), Facts({"x": Located("x", "x", "file:/x")}))
    assert tool(**bound.kwargs) == "default"


def test_a_path_that_nobody_judged_is_bound_to_nothing() -> None:
    def tool(path: WorkspacePath = WorkspacePath("x")) -> None: ...  # noqa: B008 - immutable

    for arguments in ({}, {"path": "x"}):
        with pytest.raises(LocalProtocolError):
            made(tool).bind(freeze(arguments), Context(files=Shelf()))
    (bound,) = made(tool).bind(freeze({}), CONTEXT).kwargs.values()
    with pytest.raises(LocalProtocolError):
        bound.read_text()


def test_arguments_that_nobody_judged_are_not_bound() -> None:
    def tool(a: int) -> None: ...

    with pytest.raises(LocalProtocolError, match="only a judged call can be bound"):
        made(tool).bind(freeze({"a": "x"}), CONTEXT)


def test_checks_get_typed_values_and_the_defaults() -> None:
    @dataclass
    class Span:
        start: int
        end: int

    def tool(span: Span, limit: int = 3, path: WorkspacePath = WorkspacePath(".")) -> None: ...  # noqa: B008 - immutable

    def ordered(span: Span) -> str | None:
        return None if span.start <= span.end else "an end after the start"

    def short(span: Span, limit: int, path: WorkspacePath) -> Finding | None:
        return (
            None
            if span.end - span.start <= limit
            else Finding("RULE_BROKEN", "/span/end", f"at most {limit}")
        )

    tool_ = made(tool, check=[ordered, short])
    assert tool_.business(freeze({"span": {"start": 1, "end": 2}})) == ()
    assert tool_.business(freeze({"span": {"start": 3, "end": 2}}))[0].expected == "an end after the start"
    assert tool_.business(freeze({"span": {"start": 1, "end": 9}}))[0].where == "/span/end"


def test_a_raw_schema_tool_gets_one_dict() -> None:
    seen: list[Any] = []

    def function(arguments: dict[str, Any], ctx: Context) -> None:
        seen.append((arguments, ctx))

    def check(q: str, n: int) -> bool:
        return n == 5 and q == "x"

    schema = {"properties": {"q": {"type": "string"}, "n": {"type": "integer", "default": 5}}}
    tool = declare_schema("get_x", "", schema, function, ToolOptions(check=check))
    frozen: FrozenDict = freeze({"q": "x"})
    assert tool.findings(frozen) == tool.business(frozen) == ()
    binding = tool.bind(frozen, CONTEXT)
    function(*binding.args, **binding.kwargs)
    assert seen == [({"q": "x"}, CONTEXT)]
    assert type(seen[0][0]) is dict


def test_a_type_that_breaks_at_the_second_reading_is_a_finding_and_never_an_exception() -> None:
    def once(value: str, read: list[str] = []) -> str:  # noqa: B006 - it counts
        read.append(value)
        if len(read) > 1:
            raise KeyError(value)
        return value

    def tool(x: Annotated[str, AfterValidator(once)]) -> None: ...

    tool_ = made(tool, check=lambda x: None)
    arguments = freeze({"x": "secret"})
    assert tool_.findings(arguments) == ()
    assert [f.code for f in tool_.business(arguments)] == ["CHECK_FAILED"]
    with pytest.raises(LocalProtocolError):
        tool_.bind(arguments, CONTEXT)
