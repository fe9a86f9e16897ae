"""Walking a folder within bounds."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from callgate.errors import ToolError
from callgate.workspace import Workspace
from callgate.workspace import _tree as tree_module
from callgate.workspace._tree import Tree, matcher
from tests.workspace.plots import SMALL, build


def walked(top: Path, start: str = ".", *, recursive: bool = True) -> list[str]:
    return list(Tree(Workspace(top), start).names(recursive=recursive))


def test_links_are_named_and_not_followed(tmp_path: Path) -> None:
    build(tmp_path, SMALL)
    names = walked(tmp_path / "ws")
    assert {"out-dir", "folder", "src/up", "src/deep/", "src/deep/d.txt", "资料/说明.md", "loop"} <= set(
        names
    )
    assert not any(name.startswith(("out-dir/", "folder/", "src/up/", "src/up2/")) for name in names)


def test_a_folder_comes_before_what_is_in_it_and_names_are_in_order(tmp_path: Path) -> None:
    for name in ("b/2", "b/1", "a", "c/d/e"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert walked(tmp_path) == ["a", "b/", "b/1", "b/2", "c/", "c/d/", "c/d/e"]
    assert walked(tmp_path, "c") == ["c/d/", "c/d/e"]
    assert walked(tmp_path, recursive=False) == ["a", "b/", "c/"]


def test_version_control_is_named_and_entered_only_when_asked_for(tmp_path: Path) -> None:
    (tmp_path / "sub/.git/refs").mkdir(parents=True)
    assert walked(tmp_path) == ["sub/", "sub/.git/"]
    assert walked(tmp_path, "sub/.git") == ["sub/.git/refs/"]


def test_a_walk_stops_at_its_bound_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10):
        (tmp_path / f"{number}").touch()
    monkeypatch.setattr(tree_module, "SEEN", 4)
    tree = Tree(Workspace(tmp_path), ".")
    assert list(tree.names(recursive=True)) == ["0", "1", "2", "3"]
    assert tree.stopped


def test_a_folder_that_vanishes_under_the_walk_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").touch()
    tree = Tree(Workspace(tmp_path), ".")
    seen = []
    for name in tree.names(recursive=True):
        seen.append(name)
        if name == "a/":
            (tmp_path / "a").rmdir()
    assert (seen, tree.closed, tree.stopped) == (["a/", "b"], 1, False)


def test_the_first_folder_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="No such file"):
        walked(tmp_path, "missing")


def test_a_deep_tree_is_walked_without_running_out_of_anything(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert len(walked(tmp_path)) == 300


@pytest.mark.parametrize(
    ("pattern", "top", "fits", "fits_not"),
    [
        (None, ".", ["a", "b/c"], []),
        ("*.py", ".", ["a.py", "b/a.py"], ["a.pyc", "a.py/x"]),
        ("src/*.py", ".", ["src/a.py", "src/b/a.py"], ["a.py", "x/src/a.py"]),
        ("b/*.py", "src", ["src/b/a.py"], ["b/a.py", "src/a.py"]),
        ("**/*.py", ".", ["a.py", "b/a.py"], ["a.txt"]),
        ("deep", "src", ["src/deep/"], ["src/deeper/"]),
        ("[ab].txt", ".", ["a.txt"], ["c.txt"]),
        ("A*", ".", ["Ab"], ["ab"]),
    ],
)
def test_globs(pattern: str | None, top: str, fits: list[str], fits_not: list[str]) -> None:
    match = matcher(pattern, top)
    assert [name for name in fits + fits_not if match(name)] == fits


def test_no_glob_is_slow() -> None:
    match = matcher("*a" * 60 + "b*" * 40, ".")
    started = time.monotonic()
    assert not match("a" * 250)
    assert time.monotonic() - started < 10
