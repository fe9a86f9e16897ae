"""Where a canonical name is, and what is asked of it there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.errors import ToolError
from callgate.workspace._place import at, is_text, kind_of, names_of
from callgate.workspace._root import Root
from tests.workspace.plots import SMALL, build, code


@pytest.fixture
def root(tmp_path: Path) -> Root:
    build(tmp_path, SMALL)
    return Root(tmp_path / "ws")


@given(names=st.lists(st.text(alphabet="ab", min_size=1, max_size=3), max_size=5))
def test_a_canonical_path_is_its_names(names: list[str]) -> None:
    assert names_of("/".join(names)) == names
    assert names_of("./" + "/".join(names)) == names


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("..", "OUTSIDE_WORKSPACE"),
        ("a/../b", "OUTSIDE_WORKSPACE"),
        ("a\0", "PATH_UNUSABLE"),
        ("\ud800", "PATH_UNUSABLE"),
        ("a/" * 2048, "PATH_UNUSABLE"),
        ("é" * 2048, "PATH_UNUSABLE"),
    ],
)
def test_what_is_not_canonical_is_refused(path: str, wanted: str) -> None:
    assert code(lambda: names_of(path)) == wanted
    with pytest.raises(ToolError) as refused:
        names_of(path)
    assert len(refused.value.facts["path"]) <= 200


def test_the_root_is_a_place_in_itself(root: Root) -> None:
    for path in (".", "", "./"):
        with at(root, path) as place:
            assert place.name == "."
            assert kind_of(place.look()) == "folder"


def test_a_look_follows_no_link_and_finds_nothing_where_nothing_is(root: Root) -> None:
    with at(root, "src/main.py") as place:
        assert kind_of(place.look()) == kind_of(place.must_be_file()) == "file"
        assert kind_of(place.beside("up").look()) == "other"
        assert kind_of(place.beside("missing").look()) == ""
        assert place.beside("up").path == "src/main.py"


def test_a_file_that_became_a_pipe_after_the_look_is_not_read(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look says file, the descriptor says otherwise, and nothing hangs."""
    with at(root, "pipe") as pipe, at(root, "a.txt") as file:
        found = file.look()
        monkeypatch.setattr(type(pipe), "look", lambda self: found)
        assert code(lambda: pipe.open_read(100)) == "PATH_UNUSABLE"


def test_an_error_inside_the_context_is_a_refusal_of_the_path(root: Root) -> None:
    with pytest.raises(ToolError, match="No such file") as refused, at(root, "a.txt") as place:
        place.beside("missing").must_be_file()
    assert (refused.value.tool_code, refused.value.facts) == ("NOT_FOUND", {"path": "a.txt"})


@pytest.mark.parametrize(
    ("name", "wanted"), [("a", True), ("资料", True), ("\udcff", False), ("\U0001f600", True)]
)
def test_text_has_no_halves_of_characters(name: str, wanted: bool) -> None:
    assert is_text(name) is wanted
