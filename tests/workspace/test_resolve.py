"""Where paths lead: the path cases, a small set of our own, and any text at all."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import Finding, Mode
from callgate.tools import Located
from callgate.workspace import Workspace
from callgate.workspace._resolve import Spot, resolve
from callgate.workspace._root import Root
from tests.workspace.desk import Answer, Desk
from tests.workspace.plots import SECRET, SMALL, SMALL_CASES, around, build, cases, path_of

TOOLS: Final = {"read": "read_file", "list": "list_files", "write": "write_file", "delete": "delete_file"}
CASES: Final = cases()
OTHER_SYSTEMS: Final = {"windows", "macos"}


def why_not_here(case: dict[str, Any]) -> str:
    """Why a case cannot be run on one thread with the tools there are; empty when it can."""
    setup = case.get("setup", [])
    if case["platform"] in OTHER_SYSTEMS:
        return f"for {case['platform']}"
    if "race" in case:
        return "a race: see test_workspace.py"
    if case["op"] not in TOOLS:
        return f"no tool does {case['op']}"
    if any(entry.get("op") in {"mount-bind", "mknod"} for entry in setup):
        return "needs the right to mount or to make devices"
    if case.get("needs") == "not root":
        return "root may read everything: see test_workspace.py"
    if any("deny_rule" in entry for entry in setup):
        return "a rule of the policy: see test_a_rule_meets_one_resource_however_it_is_written"
    return ""


def attempt(desk: Desk, op: str, path: Any) -> Answer:
    """What a tool answers; a write names the version of what is there."""
    arguments: dict[str, Any] = {"path": path}
    if op == "list":
        arguments["recursive"] = True
    if op == "write":
        arguments["content"] = "W"
        located = desk.workspace.locate(path, Mode.WRITE)
        if isinstance(located, Located) and located.version:
            arguments["expected_version"] = located.version
    return desk.call(TOOLS[op], **arguments)


def alike(given_: str, *wanted: str | None) -> bool:
    """Whether a verdict is one of those: that nothing was found is an ordinary error too."""
    return given_ in wanted or (given_ == "not_found" and "error" in wanted)


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["id"])
def test_the_path_cases_get_their_verdict(case: dict[str, Any], tmp_path: Path) -> None:
    if reason := why_not_here(case):
        pytest.skip(reason)
    build(tmp_path, CASES["tree"])
    setup = case.get("setup", [])
    later = {"rename", "remove-root"} & {entry.get("op") for entry in setup}
    root = next((entry["root"] for entry in setup if "root" in entry), "{T}/ws")
    made = [entry for entry in setup if "op" in entry]
    if not later:
        build(tmp_path, made)
    desk = Desk.at(root.replace("{T}", str(tmp_path)))
    if later:
        build(tmp_path, made)
    before = around(tmp_path)
    started = time.monotonic()
    answer = attempt(desk, case["op"], path_of(case, tmp_path))
    assert time.monotonic() - started < 10
    assert alike(answer.verdict, case["verdict"], case.get("also_acceptable")), answer
    assert around(tmp_path) == before
    assert SECRET not in answer.said or case["id"] == "hardlink-out-read"
    if answer.verdict == "allow" and "resolves_to" in case:
        resolved = case["resolves_to"]
        assert answer.result.resource == f"file:/{'' if resolved == '.' else resolved}"


@pytest.mark.skipif(not CASES["cases"], reason="no corpus here: set CALLGATE_CORPUS")
def test_all_cases_that_need_no_race_rights_or_other_system_are_run() -> None:
    assert sum(not why_not_here(case) for case in CASES["cases"]) >= 154


@pytest.mark.parametrize(("op", "path", "verdict"), SMALL_CASES)
def test_the_small_cases_get_their_verdict(op: str, path: str, verdict: str, tmp_path: Path) -> None:
    build(tmp_path, SMALL)
    before = around(tmp_path)
    answer = attempt(Desk.at(tmp_path / "ws"), op, path.replace("{T}", str(tmp_path)))
    assert answer.verdict == verdict, answer
    assert around(tmp_path) == before
    assert SECRET not in answer.said


@pytest.mark.parametrize(
    "path", [".git/hooks/x", "src/../.git/hooks/x", ".git//hooks/x", "./.git/./hooks/x", "gitlink/hooks/x"]
)
def test_a_rule_meets_one_resource_however_it_is_written(path: str, tmp_path: Path) -> None:
    build(tmp_path, [*SMALL, {"op": "dir", "path": "ws/.git"}])
    (tmp_path / "ws/gitlink").symlink_to(".git")
    located = Workspace(tmp_path / "ws").locate(path, Mode.WRITE)
    assert isinstance(located, Located)
    assert located.resource == "file:/.git/hooks/x"
    assert not located.exists


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("", "PATH_UNUSABLE"),
        ("a\0b", "PATH_UNUSABLE"),
        ("\udcff", "PATH_UNUSABLE"),
        ("y" * 256, "PATH_UNUSABLE"),
        ("a/" * 10_000, "PATH_UNUSABLE"),
        ("pipe", "PATH_UNUSABLE"),
        ("missing/..", "PATH_UNUSABLE"),
        ("..", "OUTSIDE_WORKSPACE"),
        ("loop/../..", "OUTSIDE_WORKSPACE"),
        ("out", "OUTSIDE_WORKSPACE"),
        ("/", "OUTSIDE_WORKSPACE"),
    ],
)
def test_a_path_that_cannot_be_used_has_a_code(path: str, code: str, tmp_path: Path) -> None:
    build(tmp_path, SMALL)
    found = Workspace(tmp_path / "ws").locate(path, Mode.READ)
    assert isinstance(found, Finding)
    assert found.code == code
    assert found.expected
    assert len(path) < 8 or path not in found.expected


def test_going_back_and_forth_costs_a_bounded_number_of_steps(tmp_path: Path) -> None:
    deep = "d/" * 60
    (tmp_path / deep).mkdir(parents=True)
    started = time.monotonic()
    found = resolve(Root(tmp_path), deep + "../d/" * 3_000)
    assert time.monotonic() - started < 10
    assert isinstance(found, Finding)
    assert found.code == "PATH_UNUSABLE"


def test_a_chain_of_links_ends_at_forty(tmp_path: Path) -> None:
    (tmp_path / "end").write_text("x")
    for number in range(50):
        (tmp_path / f"link{number}").symlink_to(f"link{number - 1}" if number else "end")
    root = Root(tmp_path)
    short, long = resolve(root, "link39"), resolve(root, "link40")
    assert isinstance(short, Spot)
    assert (short.names, short.kind) == (("end",), "file")
    assert isinstance(long, Spot)
    assert (long.kind, long.circle) == ("", True)


def test_what_is_swapped_under_the_walk_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "link").symlink_to("src")
    root = Root(tmp_path)
    real_open, real_readlink = os.open, os.readlink
    calls = {"src": 2, "link": 2}

    def once_gone(name: str, *rest: Any, **options: Any) -> int:
        calls[name] = calls.get(name, 0) - 1
        if calls[name] >= 0:
            raise NotADirectoryError(errno.ENOTDIR, "swapped")
        return real_open(name, *rest, **options)

    def once_no_link(name: str, **options: Any) -> str:
        calls[name] -= 1
        if calls[name] >= 0:
            raise OSError(errno.EINVAL, "no link any more")
        return real_readlink(name, **options)

    monkeypatch.setattr(os, "open", once_gone)
    monkeypatch.setattr(os, "readlink", once_no_link)
    assert resolve(root, "link") == Spot(("src",), "folder")
    calls["src"] = 100
    found = resolve(root, "src")
    assert isinstance(found, Finding)
    assert found.code == "RESOURCE_MOVED"


# ---------------------------------------------------------------- any path at all

NAMES: Final = (
    *("a.txt", "src", "deep", "up", "up2", "out", "out-dir", "folder", "link", "loop", "new-out", "hard"),
    *("outside", "ws", "ws-evil", "secret.txt", "missing", "root", "T", "资料", "~", "pipe"),
    *("..", "..", "..", ".", ""),
)
PATHS: Final = st.one_of(
    st.lists(st.sampled_from(NAMES), max_size=12).map("/".join),
    st.lists(st.one_of(st.sampled_from(NAMES), st.text(max_size=4)), max_size=6).map("/".join),
    st.text(max_size=30),
)


@pytest.fixture(scope="module")
def plot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("plot")
    build(top, SMALL)
    (top / "ws/hard").unlink()  # what is linked hard is inside
    (top / "ws/root").symlink_to("/")
    (top / "ws/T").symlink_to(top)
    return top


@given(path=PATHS, absolute=st.booleans())
def test_no_path_reaches_out(plot: Path, path: str, absolute: bool) -> None:
    written = f"{plot}/{path}" if absolute else path
    desk = Desk.at(plot / "ws")
    for op in ("read", "list"):
        answer = attempt(desk, op, written)
        assert SECRET not in answer.said
        assert "passwd" not in answer.said or "passwd" in written


@given(path=PATHS)
def test_a_path_leads_where_the_system_leads_or_nowhere(plot: Path, path: str) -> None:
    """What is located is the very file that the kernel opens for the text, where that is inside."""
    located = Workspace(plot / "ws").locate(path, Mode.READ)
    if isinstance(located, Located) and located.exists:
        real = os.path.realpath(plot / "ws" / path.lstrip("/"), strict=True)
        if not path.startswith("/"):
            assert real == os.path.normpath(plot / "ws" / located.relative)
        assert Workspace(plot / "ws").locate(located.relative, Mode.READ) == Located(
            located.relative, located.relative, located.resource, exists=True, version=located.version
        )


@given(path=PATHS)
def test_a_write_stays_inside(plot: Path, path: str) -> None:
    before = around(plot)
    desk = Desk.at(plot / "ws")
    answer = attempt(desk, "write", path)
    assert around(plot) == before
    if answer.verdict == "allow":
        made = plot / "ws" / answer.result.resource.removeprefix("file:/")
        assert made.read_text() == "W"
        assert not made.is_symlink()
