"""The workspace as a world and as files: versions, races, rights, and what is put back."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import Finding, Mode
from callgate.errors import ToolError
from callgate.tools import Files, Keeper, Located, World
from callgate.workspace import ABSENT, Workspace, version_of
from tests.workspace.plots import SECRET, SMALL, around, build, code, nobody
from tests.workspace.swapping import swapped

RACE_SECONDS: Final = 0.7


@pytest.fixture
def top(tmp_path: Path) -> Path:
    build(tmp_path, SMALL)
    return tmp_path


@pytest.fixture
def workspace(top: Path) -> Workspace:
    return Workspace(top / "ws")


def read(workspace: Workspace, relative: str) -> bytes:
    with workspace.open_read(relative) as source:
        return source.read()


def test_it_is_the_world_and_the_files_that_tools_are_promised(workspace: Workspace) -> None:
    world: World = workspace
    files: Files = workspace
    assert isinstance(workspace, Keeper)
    assert world.version("file:/a.txt") == files.version("a.txt") == version_of(b"A")


# ---------------------------------------------------------------- names and resources


def test_all_spellings_of_a_file_are_one_resource(workspace: Workspace, top: Path) -> None:
    spellings = [
        "a.txt",
        "./a.txt",
        "src/../a.txt",
        "src/up/a.txt",
        "absolute",
        f"{top}/ws/a.txt",
        "folder/up/a.txt",
    ]
    found = {workspace.locate(one, Mode.WRITE) for one in spellings}
    assert {one.resource for one in found if isinstance(one, Located)} == {"file:/a.txt"}
    assert {one.relative for one in found if isinstance(one, Located)} == {"a.txt"}


def test_a_new_file_is_placed_under_the_folders_that_exist(workspace: Workspace) -> None:
    located = workspace.locate("folder/new/deeper/x.py", Mode.WRITE)
    assert located == Located("folder/new/deeper/x.py", "src/new/deeper/x.py", "file:/src/new/deeper/x.py")


def test_the_root_is_a_resource_above_all(workspace: Workspace) -> None:
    assert workspace.locate(".", Mode.READ) == Located(".", ".", "file:/", exists=True)


def test_a_name_that_looks_like_a_resource_is_not_taken_for_one(workspace: Workspace, top: Path) -> None:
    """A folder may be called `file:`; `file:/a.txt` in it is not the root's a.txt."""
    (top / "ws/file:").mkdir()
    (top / "ws/file:/a.txt").write_text("other")
    located = workspace.locate("file:/a.txt", Mode.READ)
    assert isinstance(located, Located)
    assert located.resource == "file:/file:/a.txt"
    assert located.version == workspace.version(located.relative) == workspace.version(located.resource)
    assert read(workspace, located.relative) == b"other"
    assert workspace.version("file:/a.txt") == version_of(b"A")


def test_kinds(workspace: Workspace) -> None:
    names = ["a.txt", "src", ".", "link", "pipe", "socket", "missing", "a.txt/x", "loop"]
    assert [workspace.kind(name) for name in names] == [
        "file",
        "folder",
        "folder",
        *["other"] * 3,
        *[""] * 2,
        "other",
    ]


def test_names_are_sorted_and_only_folders_end_in_a_slash(workspace: Workspace, top: Path) -> None:
    assert workspace.names("src") == ["deep/", "main.py", "up", "up2"]
    assert workspace.names("empty") == []
    (top / "ws/empty/.callgate-x.tmp").touch()
    Path(os.fsdecode(os.fsencode(top / "ws/empty") + b"/\xff")).touch()
    assert workspace.names("empty") == []


def test_names_of_what_is_no_folder_are_refused(workspace: Workspace) -> None:
    names = ["a.txt", "missing", "folder", "out-dir"]
    answers = [code(partial(workspace.names, name)) for name in names]
    assert answers == ["WRONG_KIND", "NOT_FOUND", "RESOURCE_MOVED", "OUTSIDE_WORKSPACE"]


@pytest.mark.parametrize("name", ["../outside/secret.txt", "src/../../outside/secret.txt", ".."])
def test_a_name_that_is_not_canonical_is_not_opened(workspace: Workspace, name: str) -> None:
    for method in (workspace.open_read, workspace.delete, workspace.names, workspace.kind):
        assert code(partial(method, name)) == "OUTSIDE_WORKSPACE"
    assert code(lambda: workspace.write_bytes(name, b"x")) == "OUTSIDE_WORKSPACE"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("missing", "NOT_FOUND"),
        ("missing/x", "NOT_FOUND"),
        ("src", "WRONG_KIND"),
        (".", "WRONG_KIND"),
        ("pipe", "PATH_UNUSABLE"),
        ("socket", "PATH_UNUSABLE"),
        ("a\0", "PATH_UNUSABLE"),
        ("\udcff", "PATH_UNUSABLE"),
        ("z" * 300, "PATH_UNUSABLE"),
        ("z/" * 3000, "PATH_UNUSABLE"),
        ("link", "RESOURCE_MOVED"),
        ("out", "OUTSIDE_WORKSPACE"),
        ("out-dir/secret.txt", "OUTSIDE_WORKSPACE"),
        ("loop", "PATH_UNUSABLE"),
    ],
)
def test_what_cannot_be_opened_has_a_code(workspace: Workspace, top: Path, name: str, wanted: str) -> None:
    assert code(lambda: workspace.open_read(name)) == wanted
    assert code(lambda: workspace.delete(name)) == wanted
    if wanted != "NOT_FOUND":
        assert code(lambda: workspace.write_bytes(name, b"x")) == wanted
    assert around(top)[str(top / "outside/secret.txt")] == SECRET.encode()


# ---------------------------------------------------------------- versions


@given(first=st.binary(max_size=20), second=st.binary(max_size=20))
def test_a_write_with_the_right_version_wins_and_with_another_conflicts(
    tmp_path_factory: pytest.TempPathFactory, first: bytes, second: bytes
) -> None:
    workspace = Workspace(tmp_path_factory.mktemp("ws"))
    version = workspace.write_bytes("f", first, ABSENT)
    assert version == workspace.version("f") == version_of(first)
    assert workspace.write_bytes("f", second, version) == version_of(second)
    if first != second:
        with pytest.raises(ToolError) as refused:
            workspace.write_bytes("f", first, version)
        assert refused.value.tool_code == "VERSION_CONFLICT"
        assert refused.value.facts["current_version"] == version_of(second)
        assert code(lambda: workspace.delete("f", version)) == "VERSION_CONFLICT"
    assert read(workspace, "f") == second


def test_a_version_of_nothing_is_refused_and_absence_can_be_asked_for(workspace: Workspace) -> None:
    assert code(lambda: workspace.write_bytes("new", b"x", version_of(b"x"))) == "VERSION_UNKNOWN"
    assert code(lambda: workspace.write_bytes("no/new", b"x", version_of(b"x"))) == "NOT_FOUND"
    assert code(lambda: workspace.write_bytes("a.txt", b"x", ABSENT)) == "ALREADY_EXISTS"
    assert read(workspace, "a.txt") == b"A"
    assert workspace.kind("no") == ""


def at_once(attempt: Callable[[int], object]) -> list[str]:
    """Six threads that begin together; how they ended, sorted."""
    barrier = threading.Barrier(6)
    answers: list[str] = []

    def body(turn: int) -> None:
        barrier.wait()
        answers.append(code(lambda: attempt(turn)))

    threads = [threading.Thread(target=body, args=(turn,)) for turn in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(answers)


def test_of_many_writers_who_expect_one_version_one_wins(tmp_path: Path) -> None:
    """Also through workspaces of their own on the same folder."""

    def write(start: str, turn: int) -> None:
        Workspace(tmp_path).write_bytes("f", b"by %d" % turn, start)

    for number in range(5):
        start = Workspace(tmp_path).write_bytes("f", b"%d" % number)
        assert at_once(partial(write, start)) == ["", *["VERSION_CONFLICT"] * 5]


def test_of_many_creators_one_wins(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    answers = at_once(lambda turn: workspace.write_bytes("made/f", b"%d" % turn, ABSENT))
    assert answers == ["", *["ALREADY_EXISTS"] * 5]


def test_a_file_beyond_the_limit_is_not_taken(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, file_bytes=10)
    (tmp_path / "big").write_bytes(b"x" * 11)
    found = workspace.locate("big", Mode.READ)
    assert isinstance(found, Finding)
    assert found.code == "PATH_UNUSABLE"
    assert workspace.version("big") is None
    assert code(lambda: workspace.write_bytes("new", b"x" * 11)) == "TOO_LARGE"
    assert workspace.write_bytes("new", b"x" * 10)


# ---------------------------------------------------------------- rights and devices


def test_what_the_system_denies_is_told_apart_from_what_is_not_there() -> None:
    top = Path(tempfile.mkdtemp())
    try:
        top.chmod(0o755)
        for name, mode in (("unread", 0), ("shown", 0o644)):
            (top / name).write_text(name)
            (top / name).chmod(mode)
        (top / "closed").mkdir(mode=0o700)
        (top / "closed/in").touch()
        if os.geteuid() != 0:
            (top / "closed").chmod(0)
            top.chmod(0o555)
        workspace = Workspace(top)
        with nobody():
            assert code(lambda: workspace.open_read("unread")) == "DENIED_BY_SYSTEM"
            assert code(lambda: workspace.names("closed")) == "DENIED_BY_SYSTEM"
            assert code(lambda: workspace.kind("closed/in")) == "DENIED_BY_SYSTEM"
            assert code(lambda: workspace.write_bytes("new", b"")) == "DENIED_BY_SYSTEM"
            assert code(lambda: workspace.delete("shown")) == "DENIED_BY_SYSTEM"
            assert code(lambda: workspace.trash.take("shown", "key", 100)) == "DENIED_BY_SYSTEM"
            assert workspace.locate("unread", Mode.READ) == Located(
                "unread", "unread", "file:/unread", exists=True
            )
            denied = workspace.locate("closed/in", Mode.READ)
            assert isinstance(denied, Finding)
            assert denied.code == "DENIED_BY_SYSTEM"
        assert sorted(path.name for path in top.iterdir()) == ["closed", "shown", "unread"]
    finally:
        top.chmod(0o755)
        with suppress(OSError):
            (top / "closed").chmod(0o700)
        shutil.rmtree(top)


def test_a_device_is_no_file(tmp_path: Path) -> None:
    try:
        os.mknod(tmp_path / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("needs the right to make devices")
    workspace = Workspace(tmp_path)
    assert isinstance(workspace.locate("zero", Mode.READ), Finding)
    assert code(lambda: workspace.open_read("zero")) == "PATH_UNUSABLE"
    assert workspace.kind("zero") == "other"


# ---------------------------------------------------------------- races


def many(seconds: float, attempt: Callable[[], object]) -> dict[str, int]:
    """Try over and over; how often it ended how."""
    counts: dict[str, int] = {}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended = code(attempt)
        counts[ended] = counts.get(ended, 0) + 1
    return counts


def test_a_file_swapped_for_a_link_is_never_read_through(workspace: Workspace, top: Path) -> None:
    def attempt() -> None:
        located = workspace.locate("a.txt", Mode.READ)
        if isinstance(located, Located):
            assert located.version in {version_of(b"A"), None}
            assert read(workspace, located.relative) == b"A"

    with swapped(top / "ws/a.txt", top / "ws/out"):
        counts = many(RACE_SECONDS, attempt)
    assert counts.get("", 0) > 0


def test_a_folder_swapped_for_a_link_is_never_passed_through(workspace: Workspace, top: Path) -> None:
    (top / "outside/main.py").write_text(SECRET)

    def attempt() -> None:
        located = workspace.locate("src/main.py", Mode.READ)
        if isinstance(located, Located):
            assert read(workspace, located.relative) == b"print(1)\n"

    with swapped(top / "ws/src", top / "ws/out-dir"):
        counts = many(RACE_SECONDS, attempt)
    assert counts.get("", 0) > 0


def test_a_folder_swapped_for_a_link_is_never_written_through(workspace: Workspace, top: Path) -> None:
    before = around(top)

    def attempt() -> None:
        workspace.write_bytes("src/new.py", b"x")
        workspace.write_bytes("src/deep/er/new.py", b"x")

    with swapped(top / "ws/src", top / "ws/out-dir"):
        many(RACE_SECONDS, attempt)
    assert around(top) == before


def test_nothing_is_deleted_through_a_folder_swapped_for_a_link(workspace: Workspace, top: Path) -> None:
    (top / "outside/main.py").write_text("kept")
    before = around(top)
    number = iter(range(1_000_000))

    def attempt() -> None:
        workspace.delete("src/main.py")

    def discard() -> None:
        workspace.trash.take("src/main.py", str(next(number)), 100)

    with swapped(top / "ws/src", top / "ws/out-dir"):
        many(RACE_SECONDS / 2, attempt)
        many(RACE_SECONDS / 2, discard)
    assert around(top) == before


def test_a_file_swapped_for_a_link_is_deleted_or_left_and_the_link_never_followed(
    workspace: Workspace, top: Path
) -> None:
    before = around(top)
    with swapped(top / "ws/a.txt", top / "ws/out", to_the_end=False):
        until = time.monotonic() + RACE_SECONDS
        while code(lambda: workspace.trash.take("a.txt", "key", 100)) and time.monotonic() < until:
            pass
    assert around(top) == before


# ---------------------------------------------------------------- the root


def test_a_moved_root_is_not_worked_in(workspace: Workspace, top: Path) -> None:
    (top / "ws").rename(top / "old")
    (top / "ws").symlink_to("outside")
    for method in (workspace.open_read, workspace.names, workspace.delete):
        assert code(partial(method, "a.txt")) == "DENIED_BY_SYSTEM"
    assert code(lambda: workspace.write_bytes("a.txt", b"x")) == "DENIED_BY_SYSTEM"
    assert (top / "old/a.txt").read_text() == "A"
