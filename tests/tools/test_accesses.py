"""From touches to facts to accesses."""

from typing import Annotated

import pytest

from callgate.calls import Access, Finding, Mode, freeze
from callgate.tools import (
    NO_FACTS,
    Context,
    Facts,
    Toolset,
    WorkspacePath,
    accesses,
    declare,
    gather,
    must_look,
    reads,
    writes,
)
from tests.tools.shelf import Shelf

tools = Toolset()
R, W = Mode


@tools.tool
def write_file(path: WorkspacePath, text: str, expected_version: str | None = None) -> None: ...


@tools.tool
def update_ticket(
    id: Annotated[str, writes("ticket:{id}")],  # noqa: A002 - a likely name
    expected_version: str = "",
) -> None: ...


@tools.tool
def get_time() -> None: ...


@tools.tool
def create_thing() -> None: ...


@tools.tool
def run_code(code: int) -> None: ...


@tools.tool(accesses=[reads("db:main")])
def get_both(a: WorkspacePath, b: WorkspacePath | None = None) -> None: ...


def of(name: str, arguments: dict[str, object], shelf: Shelf) -> tuple[Access, ...]:
    tool = tools.get(name)
    assert tool is not None
    frozen = freeze(arguments)
    return accesses(tool, frozen, gather(tool, frozen, shelf))


def facts(name: str, arguments: dict[str, object], shelf: Shelf) -> Facts:
    tool = tools.get(name)
    assert tool is not None
    return gather(tool, freeze(arguments), shelf)


def test_two_spellings_of_one_file_are_one_resource() -> None:
    shelf = Shelf({"a": b"1"}, links={"link": "a"})
    for text in ("a", "./a", "link"):
        assert of("write_file", {"path": text, "text": ""}, shelf) == (Access("file:/a", W),)


def test_a_tool_that_declares_nothing_touches_everything_in_the_mode_of_its_class() -> None:
    assert of("get_time", {}, Shelf()) == (Access.everything(R),)
    assert of("create_thing", {}, Shelf()) == (Access.everything(W),)
    assert of("run_code", {"code": 1}, Shelf()) == (Access.everything(W),)


def test_what_the_world_did_not_say_is_everything() -> None:
    tool = tools.get("write_file")
    assert tool is not None
    assert accesses(tool, freeze({"path": "a", "text": ""}), NO_FACTS) == (Access.everything(W),)
    assert of("write_file", {"path": "../a", "text": ""}, Shelf()) == (Access.everything(W),)


def test_a_part_that_cannot_be_named_is_everything_beside_the_rest() -> None:
    assert set(of("get_both", {"a": "x"}, Shelf())) == {
        Access("file:/x", R),
        Access.everything(R),
        Access("db:main", R),
    }


def test_a_path_that_cannot_be_used_is_a_finding_with_its_place() -> None:
    found = facts("write_file", {"path": "../a", "text": ""}, Shelf())
    assert found.located == {"../a": Finding("OUTSIDE_WORKSPACE", "/path")}


def test_the_world_is_asked_for_each_path_once_in_its_mode() -> None:
    shelf = Shelf()
    facts("write_file", {"path": "a", "text": ""}, shelf)
    assert shelf.asked == [("a", W)]


def test_versions_are_looked_up_when_the_call_expects_one() -> None:
    shelf = Shelf({"a": b"123"}, versions={"ticket:7": "9"})
    assert facts("write_file", {"path": "a", "text": ""}, shelf).versions == {"file:/a": "3"}
    assert facts("update_ticket", {"id": "7", "expected_version": "8"}, shelf).versions == {"ticket:7": "9"}
    assert facts("update_ticket", {"id": "7"}, shelf).versions == {}


@pytest.mark.parametrize(
    ("name", "arguments", "asked"),
    [
        ("write_file", {"path": "a", "text": ""}, True),
        ("get_both", {"a": "a"}, True),
        ("update_ticket", {"id": "7", "expected_version": "8"}, True),
        ("update_ticket", {"id": "7"}, False),
        ("get_time", {}, False),
    ],
)
def test_the_world_must_be_asked_just_where_it_has_something_to_say(
    name: str, arguments: dict[str, object], asked: bool
) -> None:
    shelf = Shelf({"a": b"1"}, versions={"ticket:7": "9"})
    tool = tools.get(name)
    assert tool is not None
    assert must_look(tool, freeze(arguments)) == asked
    assert (facts(name, arguments, shelf) != NO_FACTS) == asked


def test_the_key_and_the_value_of_a_map_are_two_paths_though_they_have_one_pointer() -> None:
    def read_many(pairs: dict[WorkspacePath, WorkspacePath]) -> None: ...

    tool, shelf = declare(read_many), Shelf({"a": b"", "b": b""})
    arguments = freeze({"pairs": {"a": "b"}})
    found = gather(tool, arguments, shelf)
    assert set(accesses(tool, arguments, found)) == {Access("file:/a", R), Access("file:/b", R)}
    (bound,) = tool.bind(arguments, Context(files=shelf), found).kwargs.values()
    assert bound == {"a": "b"}
