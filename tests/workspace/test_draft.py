"""Writes that are whole or not there, also after kill -9."""

from __future__ import annotations

import errno
import fcntl
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from callgate.workspace import ABSENT, Workspace
from callgate.workspace import _draft as draft_module
from callgate.workspace._draft import Draft, give_name, one_at_a_time
from tests.workspace.plots import NOBODY, nobody

WRITER = """
import sys
import tempfile
from callgate.workspace import ABSENT, Workspace
workspace = Workspace(sys.argv[1])
turn = 0
while True:
    workspace.write_bytes("big.bin", bytes([65 + turn % 26]) * (1 << 18))
    turn += 1
    if turn == 2:
        print("ready", flush=True)
"""

COUNTER = """
import sys
import tempfile
from callgate.errors import ToolError
from callgate.workspace import Workspace, version_of
workspace = Workspace(sys.argv[1])
done = 0
while done < int(sys.argv[2]):
    with workspace.open_read("count") as source:
        data = source.read()
    try:
        workspace.write_bytes("count", b"%d" % (int(data) + 1), version_of(data))
        done += 1
    except ToolError as problem:
        assert problem.tool_code == "VERSION_CONFLICT", problem
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def test_a_file_is_old_or_new_and_never_torn_when_its_writer_is_killed(tmp_path: Path) -> None:
    chance = random.Random(7)
    for _ in range(4):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            time.sleep(chance.uniform(0, 0.03))
            child.kill()
        data = (tmp_path / "big.bin").read_bytes()
        assert len(data) == 1 << 18
        assert data == data[:1] * len(data)
        assert Workspace(tmp_path).names(".") == ["big.bin"]


def test_two_processes_that_count_together_lose_no_step(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("0")
    command = [sys.executable, "-c", COUNTER, str(tmp_path), "20"]
    children = [subprocess.Popen(command) for _ in range(2)]
    assert [child.wait() for child in children] == [0, 0]
    assert (tmp_path / "count").read_text() == "40"


def test_a_replaced_file_keeps_its_mode(tmp_path: Path, folder: int) -> None:
    old = tmp_path / "run.sh"
    old.write_text("old")
    old.chmod(0o750)
    with Draft(folder, b"new", old.stat()) as draft:
        assert os.stat(draft._name, dir_fd=folder).st_mode & 0o777 == 0o750
        draft.replace("run.sh")
    assert (old.read_text(), old.stat().st_mode & 0o7777) == ("new", 0o750)


def test_a_draft_of_a_private_file_is_private_before_it_is_whole(
    tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    real = os.open

    def watched(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        fd = real(path, flags, mode, dir_fd=dir_fd)
        seen.append(os.fstat(fd).st_mode & 0o777)
        return fd

    old = tmp_path / "key"
    old.write_text("old")
    old.chmod(0o600)
    monkeypatch.setattr(os, "open", watched)
    with Draft(folder, b"new", old.stat()) as draft:
        draft.replace("key")
    assert seen == [0o600]


def test_a_new_file_has_the_mode_the_umask_leaves(tmp_path: Path, folder: int) -> None:
    before = os.umask(0o027)
    try:
        with Draft(folder, b"") as draft:
            draft.create("new")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_what_is_not_committed_leaves_nothing(tmp_path: Path, folder: int) -> None:
    with pytest.raises(ZeroDivisionError), Draft(folder, b"x"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_made_durable_leaves_nothing(
    tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        Draft(folder, b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_draft_does_not_write_through_what_was_put_in_its_way(
    tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even a guessed name is not followed: the file must be new."""
    monkeypatch.setattr(secrets, "token_hex", lambda size: "guessed")
    (tmp_path / "outside").write_text("kept")
    (tmp_path / f"{draft_module.OURS}guessed.tmp").symlink_to("outside")
    with pytest.raises(FileExistsError):
        Draft(folder, b"x")
    assert (tmp_path / "outside").read_text() == "kept"


@pytest.mark.parametrize("links", [True, False])
def test_a_name_that_is_taken_is_not_taken_over(
    links: bool, tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not links:

        def none_here(*_: object, **__: object) -> None:
            raise OSError(errno.EOPNOTSUPP, "no hard links")

        monkeypatch.setattr(os, "link", none_here)
    (tmp_path / "there").write_text("there")
    (tmp_path / "dangling").symlink_to("nowhere")
    for name in ("there", "dangling"):
        with Draft(folder, b"x") as draft, pytest.raises(FileExistsError):
            draft.create(name)
    with Draft(folder, b"new") as draft:
        draft.create("fresh")
    assert (tmp_path / "fresh").read_text() == "new"
    give_name(folder, "fresh", "moved")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "moved", "there"]


def test_a_hard_link_elsewhere_keeps_the_old_content(tmp_path: Path, folder: int) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    with Draft(folder, b"new", (tmp_path / "a").stat()) as draft:
        draft.replace("a")
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("new", "old")


def test_a_folder_that_may_not_be_listed_can_be_written_in() -> None:
    """Then the lock of this process is all there is."""
    top = Path(tempfile.mkdtemp())
    try:
        if os.geteuid() == 0:
            os.chown(top, NOBODY, NOBODY)
        workspace = Workspace(top)
        top.chmod(0o300)
        with nobody():
            version = workspace.write_bytes("f", b"1")
            workspace.write_bytes("f", b"2", version)
            workspace.write_bytes("g", b"3", ABSENT)
    finally:
        top.chmod(0o700)
    assert {path.name: path.read_bytes() for path in top.iterdir()} == {"f": b"2", "g": b"3"}
    shutil.rmtree(top)


def test_a_file_system_without_locks_leaves_the_lock_of_the_process(
    folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_here(fd: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", none_here)
    with one_at_a_time(folder):
        assert draft_module._PROCESS.locked()
    assert not draft_module._PROCESS.locked()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_replaced_file_keeps_its_owner(tmp_path: Path, folder: int) -> None:
    old = tmp_path / "theirs"
    old.write_text("old")
    os.chown(old, NOBODY, NOBODY)
    with Draft(folder, b"new", old.stat()) as draft:
        draft.replace("theirs")
    assert (old.read_text(), old.stat().st_uid, old.stat().st_gid) == ("new", NOBODY, NOBODY)


def test_a_folder_that_another_holds_is_waited_for_and_not_for_ever(
    tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft_module, "WAIT_SECONDS", 0.05)
    holder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    with pytest.raises(BlockingIOError), one_at_a_time(folder):
        pass
    os.close(holder)
    with one_at_a_time(folder):
        pass
