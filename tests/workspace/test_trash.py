"""Files removed, kept beside their place until they are recorded, and found again by their key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from callgate.workspace import Workspace
from tests.workspace.plots import SMALL, build, code


@pytest.fixture
def top(tmp_path: Path) -> Path:
    build(tmp_path, SMALL)
    return tmp_path


@pytest.fixture
def workspace(top: Path) -> Workspace:
    return Workspace(top / "ws")


def test_what_was_removed_stays_until_it_is_recorded(workspace: Workspace, top: Path) -> None:
    (top / "ws/a.txt").chmod(0o640)
    removed = workspace.trash.take("a.txt", "key", 100)
    assert (removed.data, removed.mode) == (b"A", 0o640)
    assert workspace.kind("a.txt") == ""
    assert "a.txt" not in workspace.names(".")
    assert Workspace(top / "ws").trash.recall("a.txt", "key", 100) == removed
    assert workspace.trash.recall("a.txt", "other key", 100) is None
    assert workspace.trash.recall("missing/a.txt", "key", 100) is None
    workspace.recorded("file:/a.txt", "other key")
    workspace.recorded("file:/missing/a.txt", "key")
    assert workspace.trash.recall("a.txt", "key", 100) == removed
    for _ in range(2):
        Workspace(top / "ws").recorded("file:/a.txt", "key")
    assert workspace.trash.recall("a.txt", "key", 100) is None
    assert [path.name for path in (top / "ws").iterdir() if path.name.startswith(".callgate")] == []


def test_what_was_removed_in_a_folder_is_dropped_there(workspace: Workspace, top: Path) -> None:
    workspace.trash.take("src/main.py", "key", 100)
    workspace.recorded("file:/src/main.py", "key")
    assert [path.name for path in (top / "ws/src").iterdir() if path.name.startswith(".callgate")] == []


def test_under_one_key_nothing_is_removed_twice(workspace: Workspace, top: Path) -> None:
    workspace.trash.take("a.txt", "key", 100)
    (top / "ws/a.txt").write_text("new")
    assert code(lambda: workspace.trash.take("a.txt", "key", 100)) == "ALREADY_EXISTS"
    assert (top / "ws/a.txt").read_text() == "new"


def test_a_file_too_large_to_be_kept_stays(workspace: Workspace, top: Path) -> None:
    (top / "ws/a.txt").write_bytes(b"x" * 101)
    assert code(lambda: workspace.trash.take("a.txt", "key", 100)) == "TOO_LARGE"
    assert (top / "ws/a.txt").read_bytes() == b"x" * 101
    assert workspace.trash.recall("a.txt", "key", 100) is None


def test_a_link_put_in_a_files_place_is_given_back(
    workspace: Workspace, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The swap between the look and the rename, made to happen."""
    real = os.rename

    def swap_first(*names: str, **options: Any) -> None:
        (top / "ws/a.txt").unlink(missing_ok=True)
        (top / "ws/a.txt").symlink_to("../outside/secret.txt")
        monkeypatch.setattr(os, "rename", real)
        real(*names, **options)

    monkeypatch.setattr(os, "rename", swap_first)
    assert code(lambda: workspace.trash.take("a.txt", "key", 100)) == "OUTSIDE_WORKSPACE"
    assert (top / "ws/a.txt").is_symlink()
    assert workspace.trash.recall("a.txt", "key", 100) is None
