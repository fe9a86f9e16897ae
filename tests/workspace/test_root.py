"""The root's descriptor and the way down from it."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from callgate.errors import ConfigurationError, ToolError
from callgate.workspace._root import Root, sync_folder
from tests.workspace.plots import nobody


def descriptors() -> int:
    """How many are open."""
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("name", ["missing", "file", "a\0b"])
def test_a_root_that_is_no_folder_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigurationError, match="not a folder"):
        Root(tmp_path / name)


def test_a_root_given_as_a_link_is_followed_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    alias = tmp_path / "alias"
    alias.symlink_to("one")
    root = Root(alias)
    alias.unlink()
    alias.symlink_to("two")
    with root.folder([]) as folder:
        assert os.stat("one", dir_fd=folder)
    root.must_stand()


def test_a_relative_root_stays_where_it_was_when_the_process_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ws/src").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    root = Root("ws")
    monkeypatch.chdir("/")
    root.must_stand()
    assert root.real == tmp_path / "ws"


def test_absolute_paths_are_compared_by_components(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    root = Root(tmp_path / "ws")
    parts = (tmp_path / "ws").parts[1:]
    assert root.below([*parts, "a"]) == ["a"]
    assert root.below(list(parts)) == []
    assert root.below([*parts[:-1], "ws-evil", "a"]) is None
    assert root.below(list(parts[:-1])) is None


def test_no_link_is_followed_on_the_way_down(tmp_path: Path) -> None:
    (tmp_path / "ws/real/below").mkdir(parents=True)
    (tmp_path / "ws/link").symlink_to("real")
    root = Root(tmp_path / "ws")
    with root.folder(["real", "below"]):
        pass
    for names in (["link"], ["link", "below"]):
        with pytest.raises(NotADirectoryError), root.folder(names):
            pass


def test_missing_folders_are_made_on_request_and_never_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/out").symlink_to("../made")
    root = Root(tmp_path / "ws")
    with root.folder(["a", "b"], create=True) as folder:
        sync_folder(folder)
    assert (tmp_path / "ws/a/b").is_dir()
    with pytest.raises(NotADirectoryError), root.folder(["out", "b"], create=True):
        pass
    assert not (tmp_path / "made").exists()
    with pytest.raises(FileNotFoundError), root.folder(["c"]):
        pass


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "file").touch()
    gc.collect()
    before = descriptors()
    root = Root(tmp_path)
    for names in (["a"], ["a", "missing"], ["file", "x"], []):
        try:
            with root.folder(names):
                pass
        except OSError:
            pass
    assert descriptors() == before + 1
    del root
    gc.collect()
    assert descriptors() == before


def test_a_root_whose_path_may_no_longer_be_passed_through_still_stands(tmp_path: Path) -> None:
    """Nobody can tell; the descriptor is what work is done in."""
    ws = tmp_path / "shut/ws"
    ws.mkdir(parents=True)
    root = Root(ws)
    (tmp_path / "shut").chmod(0)
    try:
        with nobody():
            root.must_stand()
    finally:
        (tmp_path / "shut").chmod(0o700)


def test_a_folder_made_by_another_meanwhile_is_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.mkdir

    def late(name: str, *, dir_fd: int) -> None:
        real(name, dir_fd=dir_fd)
        real(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "mkdir", late)
    with Root(tmp_path).folder(["new"], create=True):
        pass
    assert (tmp_path / "new").is_dir()


@pytest.mark.parametrize("then", ["deleted", "moved", "replaced by a link", "replaced by a folder"])
def test_a_root_that_is_no_longer_there_is_refused(then: str, tmp_path: Path) -> None:
    ws = tmp_path / "ws"
    ws.mkdir()
    root = Root(ws)
    root.must_stand()
    if then == "deleted":
        ws.rmdir()
    else:
        ws.rename(tmp_path / "old")
    if then == "replaced by a link":
        (tmp_path / "outside").mkdir()
        ws.symlink_to("outside")
    if then == "replaced by a folder":
        ws.mkdir()
    with pytest.raises(ToolError, match="moved, replaced or deleted") as refused:
        root.must_stand()
    assert refused.value.tool_code == "DENIED_BY_SYSTEM"
