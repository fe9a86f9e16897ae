"""What is promised of files: contained, whole, never lost to a second writer, restorable."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import callgate as cg
from callgate.calls import Entry, Finding, Mode, Reconciled, Returned
from callgate.errors import JournalUnavailableError, ToolError
from callgate.journal import Lease, MemoryStore
from callgate.tools import Located
from callgate.workspace import Workspace, restore, version_of
from tests.gate.turns import call, turn
from tests.workspace.desk import Desk


def code(found: Located | Finding) -> str:
    return found.code if isinstance(found, Finding) else ""


@pytest.mark.parametrize(
    "path",
    [
        "{T}/p-evil/x",
        "{T}/p/../q",
        "link",
        "link/passwd",
        "link/new",
        "..",
        "../p-evil/x",
        "a\0b",
        "../p/../q",
    ],
)
@pytest.mark.parametrize("mode", Mode)
def test_an_outside_target_is_refused_before_anything_is_read_or_made(
    path: str, mode: Mode, tmp_path: Path
) -> None:
    """R064."""
    for folder in ("p", "p-evil", "etc"):
        (tmp_path / folder).mkdir()
    for file in ("p-evil/x", "q", "etc/passwd"):
        (tmp_path / file).write_text("SECRET")
    (tmp_path / "p/link").symlink_to(tmp_path / "etc")
    before = sorted(tmp_path.rglob("*"))
    found = Workspace(tmp_path / "p").locate(path.replace("{T}", str(tmp_path)), mode)
    assert code(found) == ("PATH_UNUSABLE" if "\0" in path else "OUTSIDE_WORKSPACE")
    assert sorted(tmp_path.rglob("*")) == before


def test_relative_paths_start_at_the_root_and_a_dot_is_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R064."""
    (tmp_path / "p").mkdir()
    (tmp_path / "p/a").write_text("inside")
    (tmp_path / "a").write_text("where the process stands")
    monkeypatch.chdir(tmp_path)
    workspace = Workspace("p")
    assert workspace.locate("a", Mode.READ) == Located(
        "a", "a", "file:/a", exists=True, version=version_of(b"inside")
    )
    assert workspace.locate(".", Mode.READ) == Located(".", ".", "file:/", exists=True)


def test_a_file_its_dotted_name_and_a_link_to_it_are_one_resource(tmp_path: Path) -> None:
    """R052."""
    (tmp_path / "a.txt").write_text("50 75")
    (tmp_path / "link").symlink_to("a.txt")
    workspace = Workspace(tmp_path)
    found = [workspace.locate(path, Mode.WRITE) for path in ("a.txt", "./a.txt", "link")]
    assert {one.resource for one in found if isinstance(one, Located)} == {"file:/a.txt"}
    assert isinstance(workspace.locate("b.txt", Mode.WRITE), Located)


def test_a_name_in_chinese_is_a_name(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    version = workspace.write_bytes("资料/说明.md", "你好".encode())
    located = workspace.locate("资料/说明.md", Mode.READ)
    assert located == Located(
        "资料/说明.md", "资料/说明.md", "file:/资料/说明.md", exists=True, version=version
    )
    assert (tmp_path / "资料" / "说明.md").read_text(encoding="utf-8") == "你好"


def test_a_version_that_was_read_is_not_written_over_the_next_one(tmp_path: Path) -> None:
    """Version 7 over 8."""
    workspace = Workspace(tmp_path)
    seventh = workspace.write_bytes("a", b"7")
    eighth = workspace.write_bytes("a", b"8", seventh)
    with pytest.raises(ToolError) as refused:
        workspace.write_bytes("a", b"7 again", seventh)
    assert refused.value.tool_code == "VERSION_CONFLICT"
    assert refused.value.facts["current_version"] == eighth
    assert (tmp_path / "a").read_bytes() == b"8"


def test_what_was_deleted_is_in_the_record_and_not_in_the_answer_and_can_be_restored(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("precious")
    desk = Desk.at(tmp_path)
    answer = desk.call("delete_file", path="a")
    assert (answer.content, (tmp_path / "a").exists()) == ("deleted", False)
    restore(desk.workspace, "a", answer.result.kept)
    assert (tmp_path / "a").read_text() == "precious"


class Full(MemoryStore):
    """A store whose disk is full for outcomes, while it is."""

    full = True

    async def append(self, lease: Lease, entries: Sequence[Entry]) -> None:
        if self.full and any(isinstance(entry, Returned | Reconciled) for entry in entries):
            message = "disk full"
            raise JournalUnavailableError(message)
        await super().append(lease, entries)


ALLOWED = cg.Policy(irreversible="allow")


@pytest.mark.anyio
async def test_what_was_deleted_is_never_lost_though_its_outcome_could_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("precious")
    store, now = Full(), [1.0]
    options = cg.GateOptions(clock=lambda: now[0])
    async with cg.open_gate(cg.workspace_tools(), tmp_path, store, ALLOWED, options) as gate:
        with pytest.raises(JournalUnavailableError):
            await gate.handle(turn(call("delete_file", path="a")), "r")
    (kept,) = tmp_path.iterdir()
    assert kept.read_text() == "precious"
    store.full = False
    now[0] += 1000  # what had been started may still be at work until the lease ends
    async with cg.open_gate(cg.workspace_tools(), tmp_path, store, ALLOWED, options) as gate:
        await gate.resume("r")
        (result,) = await gate.results("r")
        assert (result.status, result.content) == ("ok", "deleted")
        (found,) = [r.entry for r in await store.read("r") if isinstance(r.entry, Reconciled)]
    assert found.kept["content"] == "precious"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.anyio
async def test_what_was_deleted_and_recorded_is_gone_though_the_process_died_in_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("secret")
    store = MemoryStore()
    with monkeypatch.context() as patched:
        patched.setattr(Workspace, "recorded", lambda *_: None)  # killed before it was said
        async with cg.open_gate(cg.workspace_tools(), tmp_path, store, ALLOWED) as gate:
            (result,) = await gate.handle(turn(call("delete_file", path="a")), "r")
    assert (result.status, len(list(tmp_path.iterdir()))) == ("ok", 1)
    async with cg.open_gate(cg.workspace_tools(), tmp_path, store, ALLOWED) as gate:
        await gate.resume("r")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.anyio
async def test_a_world_that_cannot_let_go_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError

    (tmp_path / "a").write_text("x")
    monkeypatch.setattr(Workspace, "recorded", broken)
    async with cg.open_gate(cg.workspace_tools(), tmp_path, policy=ALLOWED) as gate:
        (result,) = await gate.handle(turn(call("delete_file", path="a")), "r")
    assert result.status == "ok"
    assert "is kept though it is recorded" in caplog.text
