"""What a concrete call reaches for."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from callgate.calls import Mode, freeze
from callgate.errors import ToolDeclarationError
from callgate.schema import build_model, read_signature
from callgate.tools import Touch, WorkspacePath, reads, writes
from callgate.tools._reach import Reach, reach_of

R, W = Mode


@dataclass
class Edit:
    path: WorkspacePath
    base: Annotated[WorkspacePath, reads()] | None = None


@dataclass
class Tree:
    path: WorkspacePath
    inner: "list[Tree] | None" = None


def reach(function: Any, *accesses: Any) -> Reach:
    return reach_of(build_model(read_signature(function)).schema, W, accesses, "tool")


def touched(function: Any, *accesses: Any, **arguments: Any) -> set[tuple[str, str, Mode, str]]:
    touches = reach(function, *accesses).touches(freeze(arguments))
    assert len(set(touches)) == len(touches)
    return {(t.where, t.text, t.mode, t.kind) for t in touches}


def test_a_path_is_touched_as_its_class_or_its_marker_says() -> None:
    def tool(a: WorkspacePath, b: Annotated[WorkspacePath, reads()]) -> None: ...

    assert touched(tool, a="x", b="y") == {("/a", "x", W, "path"), ("/b", "y", R, "path")}


def test_a_path_that_is_read_and_written_is_written() -> None:
    def tool(a: Annotated[WorkspacePath, reads(), writes()]) -> None: ...

    assert touched(tool, a="x") == {("/a", "x", W, "path")}


def test_paths_inside_lists_maps_keys_objects_and_alternatives() -> None:
    def tool(
        many: list[WorkspacePath],
        named: dict[str, WorkspacePath],
        keyed: dict[WorkspacePath, int],
        edits: list[Edit],
        either: list[WorkspacePath] | WorkspacePath,
        pair: tuple[int, WorkspacePath],
    ) -> None: ...

    assert touched(
        tool,
        many=["a", "a"],
        named={"k/1": "b"},
        keyed={"c": 1},
        edits=[{"path": "d", "base": "e"}],
        either="f",
        pair=[1, "g"],
    ) == {
        ("/many/0", "a", W, "path"),
        ("/many/1", "a", W, "path"),
        ("/named/k~11", "b", W, "path"),
        ("/keyed/c", "c", W, "path"),
        ("/edits/0/path", "d", W, "path"),
        ("/edits/0/base", "e", R, "path"),
        ("/either", "f", W, "path"),
        ("/pair/1", "g", W, "path"),
    }


def test_a_schema_that_contains_itself_is_followed_as_far_as_the_value_goes() -> None:
    def tool(tree: Tree) -> None: ...

    deep = {"path": "a", "inner": [{"path": "b", "inner": [{"path": "c"}]}]}
    assert {text for _, text, *_ in touched(tool, tree=deep)} == {"a", "b", "c"}


def test_a_marker_holds_for_all_paths_below_it() -> None:
    def tool(many: Annotated[list[WorkspacePath], reads()]) -> None: ...

    assert touched(tool, many=["a"]) == {("/many/0", "a", R, "path")}


def test_a_default_counts_as_if_it_had_been_written() -> None:
    def tool(a: WorkspacePath = WorkspacePath("."), b: str = "x") -> None: ...  # noqa: B008 - immutable

    assert touched(tool, writes("t:{b}")) == {("/a", ".", W, "path"), ("", "t:x", W, "resource")}


def test_a_path_that_was_left_out_is_everything() -> None:
    def tool(a: WorkspacePath | None = None) -> None: ...

    assert touched(tool) == touched(tool, a=None) == {("/a", "*", W, "resource")}


def test_templates_beside_a_parameter_and_of_the_tool() -> None:
    def tool(id_: Annotated[str, reads("t:{id_}"), writes("log:{id_}")], b: int = 0) -> None: ...

    assert touched(tool, writes("all:x"), id_="7/8") == {
        ("/id_", "t:7%2F8", R, "resource"),
        ("/id_", "log:7%2F8", W, "resource"),
        ("", "all:x", W, "resource"),
    }


def test_a_tool_that_says_nothing_declares_nothing() -> None:
    def tool(a: int) -> None: ...

    assert not reach(tool).is_declared
    assert reach(tool).touches({"a": 1}) == ()


def test_text_that_only_looks_like_a_path_is_not_touched() -> None:
    def tool(a: WorkspacePath, b: str) -> None: ...

    assert reach(tool).touches({"a": "x", "b": "y"}) == (Touch("/a", "x", W, "path"),)


def test_a_marker_where_it_can_say_nothing_is_refused() -> None:
    def bare(a: Annotated[int, reads()]) -> None: ...
    def unknown(a: Annotated[int, reads("t:{b}")]) -> None: ...
    def fine(a: int) -> None: ...

    for function, accesses in ((bare, ()), (unknown, ()), (fine, (reads(),))):
        with pytest.raises(ToolDeclarationError):
            reach(function, *accesses)


def test_a_default_that_nothing_would_judge_is_refused() -> None:
    @dataclass
    class Hidden:
        path: WorkspacePath = WorkspacePath("x")  # noqa: RUF009 - immutable

    def tool(a: Hidden) -> None: ...

    with pytest.raises(ToolDeclarationError) as refused:
        reach(tool)
    assert refused.value.facts["parameter"] == "path"


def test_a_path_under_any_name_is_refused() -> None:
    def tool(**paths: WorkspacePath) -> None: ...

    with pytest.raises(ToolDeclarationError, match="a parameter of its own"):
        reach(tool)
