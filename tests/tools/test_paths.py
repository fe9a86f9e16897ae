"""Paths of the workspace as a parameter type."""

import pickle
from dataclasses import dataclass

import pytest

from callgate.calls import FrozenDict, freeze
from callgate.errors import LocalProtocolError
from callgate.schema import build_model, read_signature
from callgate.tools import Opening, WorkspacePath
from tests.tools.shelf import Shelf


@dataclass
class Edit:
    path: WorkspacePath
    text: str


def tool(
    path: WorkspacePath,
    more: list[WorkspacePath],
    by: dict[WorkspacePath, int],
    edit: Edit,
    none: WorkspacePath | None,
) -> None: ...


ARGUMENTS: FrozenDict = freeze(
    {"path": "./a", "more": ["b"], "by": {"./a": 1}, "edit": {"path": "b", "text": "x"}, "none": None}
)


def test_a_path_is_a_string_with_a_format_in_the_schema() -> None:
    schema = build_model(read_signature(tool)).schema["properties"]["path"]
    assert (schema["type"], schema["format"]) == ("string", "workspace-path")
    assert schema["description"] == WorkspacePath.DESCRIPTION


def test_paths_at_any_depth_are_bound_under_the_names_that_were_judged() -> None:
    shelf = Shelf({"a": b"1", "b": b"2"})
    values = build_model(read_signature(tool)).read(dict(ARGUMENTS), Opening(shelf, {"./a": "a", "b": "b"}))
    (key,) = values["by"]
    bound = [values["path"], *values["more"], key, values["edit"].path]
    assert bound == ["a", "b", "a", "b"]
    assert [path.read_text() for path in bound] == ["1", "2", "1", "2"]
    assert values["path"].written == "./a"
    assert values["none"] is None


def test_a_path_reads_and_writes_through_its_handle() -> None:
    shelf = Shelf({"a": b"old"})
    path = WorkspacePath("a", shelf)
    assert path.version() == "3"
    assert path.write_text("newer") == "5"
    assert path.read_bytes() == b"newer"
    with path.open_read() as source:
        assert source.read(2) == b"ne"
    assert (path.kind(), path.exists(), path.names()) == ("file", True, ["a"])
    path.delete()
    assert not path.exists()


def test_a_path_that_came_from_no_call_opens_nothing() -> None:
    for path in (WorkspacePath("a"), pickle.loads(pickle.dumps(WorkspacePath("a", Shelf({"a": b""}))))):
        assert path == "a"
        with pytest.raises(LocalProtocolError, match="bound to no workspace"):
            path.read_bytes()


def test_a_path_is_text_and_nothing_else() -> None:
    model = build_model(read_signature(lambda path: path))
    assert model.schema["properties"] == {"path": {}}
    typed = build_model(read_signature(tool))
    assert typed.findings({**ARGUMENTS, "path": 3})[0].where == "/path"
