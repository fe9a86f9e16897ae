"""write_file, replace_in_file, delete_file; what each finds out after a crash; what can be restored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import FrozenDict, ToolCall
from callgate.errors import LocalProtocolError, ToolError
from callgate.tools import CannotTell, Context, DidNotHappen, Happened, Result, WorkspacePath, gather
from callgate.workspace import Workspace, restore, version_of
from callgate.workspace import _writing as writing
from tests.workspace.desk import Desk
from tests.workspace.plots import SMALL, build


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "a.txt").write_text("port = 80\nhost = here\n")
    return Desk.at(tmp_path)


def version(tmp_path: Path, name: str = "a.txt") -> str:
    return version_of((tmp_path / name).read_bytes())


# ---------------------------------------------------------------- write_file


def test_a_new_file_is_created_with_its_folders(desk: Desk, tmp_path: Path) -> None:
    answer = desk.call("write_file", path="资料/说明.md", content="说明\n")
    assert (tmp_path / "资料/说明.md").read_text(encoding="utf-8") == "说明\n"
    assert answer.result == Result(
        "created", "file:/资料/说明.md", version_of("说明\n".encode()), trusted=True
    )


def test_an_existing_file_is_not_overwritten_blindly(desk: Desk, tmp_path: Path) -> None:
    assert desk.call("write_file", path="a.txt", content="x").code == "ALREADY_EXISTS"
    assert desk.call("write_file", path="./a.txt", content="x").code == "ALREADY_EXISTS"
    assert (tmp_path / "a.txt").read_text() == "port = 80\nhost = here\n"


def test_with_the_version_that_was_read_a_file_is_written_anew(desk: Desk, tmp_path: Path) -> None:
    read = desk.call("read_file", path="a.txt").result.version
    answer = desk.call("write_file", path="a.txt", content="x", expected_version=read)
    assert (answer.content, answer.result.version) == ("replaced", version_of(b"x"))
    again = desk.call("write_file", path="a.txt", content="y", expected_version=read)
    assert again.code == "VERSION_CONFLICT"
    assert again.facts == {"path": "a.txt", "current_version": version_of(b"x")}
    assert (tmp_path / "a.txt").read_text() == "x"


@pytest.mark.parametrize("said", ["", "absent", "7", "A" * 32, "a" * 31, "a" * 33, f"{'a' * 32}\n"])
def test_what_is_no_version_is_refused(desk: Desk, said: str) -> None:
    answer = desk.call("write_file", path="a.txt", content="x", expected_version=said)
    assert (answer.code, answer.refused) == ("WRONG_FORMAT", True)


# ---------------------------------------------------------------- replace_in_file


def test_one_piece_of_text_is_replaced(desk: Desk, tmp_path: Path) -> None:
    answer = desk.call("replace_in_file", path="a.txt", old="port = 80", new="port = 8080")
    assert (tmp_path / "a.txt").read_text() == "port = 8080\nhost = here\n"
    assert answer.result == Result("replaced", "file:/a.txt", version(tmp_path), trusted=True)


@given(
    text=st.text(alphabet="ab\r\n\ufeff", max_size=12),
    old=st.sampled_from(["a", "b", "ab"]),
    crlf=st.booleans(),
)
def test_everything_else_in_the_file_is_kept_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory, text: str, old: str, crlf: bool
) -> None:
    file = tmp_path_factory.mktemp("ws") / "f"
    text = text.replace("\r", "").replace("\n", "\r\n") if crlf else text
    file.write_bytes(text.encode())
    answer = Desk.at(file.parent).call("replace_in_file", path="f", old=old, new="NEW")
    assert answer.code == ("" if text.count(old) == 1 else "AMBIGUOUS" if old in text else "NO_MATCH")
    assert file.read_bytes() == (text if answer.code else text.replace(old, "NEW")).encode()


@pytest.mark.parametrize(
    ("arguments", "code", "facts"),
    [
        ({"old": "h", "new": "x"}, "AMBIGUOUS", {"count": 2, "lines": [2, 2]}),
        ({"old": "Port", "new": "x"}, "NO_MATCH", {"count": 0}),
        ({"old": "port", "new": "port"}, "RULE_BROKEN", None),
        ({"old": "", "new": "x"}, "WRONG_SIZE", None),
        ({"old": "port", "new": "x", "path": "missing"}, "NOT_FOUND", {}),
        ({"old": "port", "new": "x", "path": "bin"}, "NOT_TEXT", {}),
        ({"old": "port", "new": "x", "expected_version": "0" * 32}, "VERSION_CONFLICT", {}),
    ],
)
def test_what_cannot_be_replaced_is_told_apart(
    desk: Desk, tmp_path: Path, arguments: dict[str, Any], code: str, facts: dict[str, Any] | None
) -> None:
    (tmp_path / "bin").write_bytes(b"port\0")
    answer = desk.call("replace_in_file", **{"path": "a.txt", **arguments})
    assert answer.code == code
    assert facts is None or facts.items() <= (answer.facts or {}).items()
    assert (tmp_path / "a.txt").read_text() == "port = 80\nhost = here\n"


def test_a_change_between_read_and_write_is_not_lost(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Workspace.write_bytes

    def late(self: Workspace, relative: str, data: bytes, expected: str | None = None) -> str:
        (tmp_path / "a.txt").write_text("another's work")
        return real(self, relative, data, expected)

    monkeypatch.setattr(Workspace, "write_bytes", late)
    answer = desk.call("replace_in_file", path="a.txt", old="80", new="90")
    assert answer.code == "VERSION_CONFLICT"
    assert (tmp_path / "a.txt").read_text() == "another's work"


# ---------------------------------------------------------------- delete_file and restore


@given(data=st.binary(max_size=50), mode=st.sampled_from([0o644, 0o600, 0o755, 0o444]))
def test_what_was_deleted_can_be_restored_from_what_was_kept(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, mode: int
) -> None:
    top = tmp_path_factory.mktemp("ws")
    (top / "dir").mkdir()
    file = top / "dir/f"
    file.write_bytes(data)
    file.chmod(mode)
    desk = Desk.at(top)
    answer = desk.call("delete_file", path="dir/f")
    assert (answer.content, answer.result.resource) == ("deleted", "file:/dir/f")
    assert not file.exists()
    desk.workspace.recorded(answer.result.resource, "key")
    (top / "dir").rmdir()
    kept = msgspec.json.decode(msgspec.json.encode(answer.result.kept))
    assert restore(Workspace(top), "dir/f", kept) == version_of(data)
    assert (file.read_bytes(), file.stat().st_mode & 0o7777) == (data, mode)


def test_the_model_is_not_shown_what_was_kept(desk: Desk) -> None:
    answer = desk.call("delete_file", path="a.txt")
    assert "port" in str(answer.result.kept)
    assert "port" not in str(answer.content)


def test_restoring_overwrites_nothing(desk: Desk, tmp_path: Path) -> None:
    kept = desk.call("delete_file", path="a.txt").result.kept
    (tmp_path / "a.txt").write_text("new")
    with pytest.raises(ToolError) as refused:
        restore(desk.workspace, "a.txt", kept)
    assert refused.value.tool_code == "ALREADY_EXISTS"
    assert restore(desk.workspace, "a.old", kept) == version(tmp_path, "a.old")


@pytest.mark.parametrize(
    "kept",
    [
        None,
        "text",
        {},
        {"encoding": "rot13", "content": "", "mode": 420, "version": version_of(b"")},
        {"encoding": "base64", "content": "!", "mode": 420, "version": version_of(b"")},
        {"encoding": "utf-8", "content": "changed", "mode": 420, "version": version_of(b"")},
        {"encoding": "utf-8", "content": 7, "mode": 420, "version": version_of(b"")},
        {"encoding": "utf-8", "content": "", "mode": "x", "version": version_of(b"")},
    ],
)
def test_what_delete_file_did_not_keep_is_not_restored(desk: Desk, tmp_path: Path, kept: Any) -> None:
    with pytest.raises(LocalProtocolError, match="not what delete_file keeps"):
        restore(desk.workspace, "restored", kept)
    assert not (tmp_path / "restored").exists()


def test_a_link_is_not_deleted_in_place_of_what_it_leads_to(tmp_path: Path) -> None:
    build(tmp_path, SMALL)
    desk = Desk.at(tmp_path / "ws")
    for path in ("link", "./link", f"{tmp_path}/ws/link", "folder"):
        assert desk.call("delete_file", path=path).code == "WRONG_KIND"
    assert desk.call("delete_file", path="folder/main.py").code == ""
    assert not (tmp_path / "ws/src/main.py").exists()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (".", "RULE_BROKEN"),
        ("./", "RULE_BROKEN"),
        ("x", "NOT_FOUND"),
        ("d", "WRONG_KIND"),
        ("d/..", "WRONG_KIND"),
    ],
)
def test_what_is_no_file_is_not_deleted(desk: Desk, tmp_path: Path, path: str, code: str) -> None:
    (tmp_path / "d").mkdir()
    assert desk.call("delete_file", path=path).code == code


def test_a_file_too_large_for_the_journal_is_left_for_a_person(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "KEPT_BYTES", 10)
    answer = desk.call("delete_file", path="a.txt")
    assert answer.code == "TOO_LARGE"
    assert "ask a person" in answer.message
    assert (tmp_path / "a.txt").exists()


def test_a_delete_keeps_what_it_deleted_for_reconciling(desk: Desk, tmp_path: Path) -> None:
    tool = desk.tools.get("delete_file")
    assert tool is not None
    context = Context(files=desk.workspace, idempotency_key="key")
    arguments = FrozenDict({"path": "a.txt"})
    bound = tool.bind(arguments, context, gather(tool, arguments, desk.workspace))
    done = tool.function(*bound.args, **bound.kwargs)
    assert Desk.at(tmp_path).reconcile("delete_file", path="a.txt") == Happened(done)


def test_a_second_try_of_one_delete_deletes_nothing_new(desk: Desk, tmp_path: Path) -> None:
    first = desk.call("delete_file", key="one", path="a.txt")
    (tmp_path / "a.txt").write_text("new")
    assert desk.call("delete_file", key="one", path="a.txt").result == first.result
    assert (tmp_path / "a.txt").read_text() == "new"


def test_other_files_than_a_workspace_cannot_keep_what_is_deleted() -> None:
    class Elsewhere:
        pass

    with pytest.raises(LocalProtocolError, match="takes a Workspace"):
        writing.delete_file(WorkspacePath("a", Elsewhere()), Context())  # type: ignore[arg-type]
    call = ToolCall("delete_file", FrozenDict({"path": "a"}))
    assert isinstance(writing.reconcile_delete(Context(), call), CannotTell)


# ---------------------------------------------------------------- after a crash


def test_a_write_is_known_by_the_content_and_by_the_version_before(desk: Desk, tmp_path: Path) -> None:
    new = {"path": "new", "content": "x"}
    assert desk.reconcile("write_file", **new) == DidNotHappen()
    done = desk.call("write_file", **new).result
    assert desk.reconcile("write_file", **new) == Happened(done)
    (tmp_path / "new").write_text("another's")
    assert desk.reconcile("write_file", **new) == CannotTell()

    over = {"path": "a.txt", "content": "x", "expected_version": version(tmp_path)}
    assert desk.reconcile("write_file", **over) == DidNotHappen()
    done = desk.call("write_file", **over).result
    assert desk.reconcile("write_file", **over) == Happened(done)
    (tmp_path / "a.txt").unlink()
    assert desk.reconcile("write_file", **over) == CannotTell()


def test_a_replacement_is_known_by_the_version_before(desk: Desk, tmp_path: Path) -> None:
    change = {"path": "a.txt", "old": "80", "new": "8080", "expected_version": version(tmp_path)}
    assert desk.reconcile("replace_in_file", **change) == DidNotHappen()
    done = desk.call("replace_in_file", **change).result
    assert desk.reconcile("replace_in_file", **change) == Happened(done)
    (tmp_path / "a.txt").write_text("another's 8080")
    assert desk.reconcile("replace_in_file", **change) == CannotTell()


@pytest.mark.parametrize(
    ("now", "old", "new", "known"),
    [
        ("port = 80", "80", "90", True),  # it still waits
        ("port = 90", "80", "90", False),  # done, or it never could be
        ("port = 8080", "80", "8080", False),  # done, and to be done again
        ("port = 80", "80", "8080", True),
        ("xab", "ab", "xa", False),  # of "abb", or still waiting
        ("a", "a", "", True),
        ("", "a", "", False),
        ("aa", "a", "b", False),
    ],
)
def test_without_a_version_only_a_text_that_still_waits_tells(
    desk: Desk, tmp_path: Path, now: str, old: str, new: str, known: bool
) -> None:
    (tmp_path / "a.txt").write_text(now)
    found = desk.reconcile("replace_in_file", path="a.txt", old=old, new=new)
    assert found == (DidNotHappen() if known else CannotTell())


@given(
    before=st.text(alphabet="abc", min_size=1, max_size=8),
    old=st.text(alphabet="abc", min_size=1, max_size=3),
    new=st.text(alphabet="abc", max_size=3),
    expects=st.booleans(),
)
def test_no_reconciliation_is_ever_wrong(
    tmp_path_factory: pytest.TempPathFactory, before: str, old: str, new: str, expects: bool
) -> None:
    top = tmp_path_factory.mktemp("ws")
    (top / "f").write_text(before)
    desk = Desk.at(top)
    arguments = {"path": "f", "old": old, "new": new} | (
        {"expected_version": version(top, "f")} if expects else {}
    )
    if before.count(old) != 1:
        return
    assert not isinstance(desk.reconcile("replace_in_file", **arguments), Happened) or old == new
    if desk.call("replace_in_file", **arguments).code == "":
        assert not isinstance(desk.reconcile("replace_in_file", **arguments), DidNotHappen)
        if expects and new:
            assert isinstance(desk.reconcile("replace_in_file", **arguments), Happened)


def test_a_delete_is_known_by_what_it_left_and_gives_it_to_the_record(desk: Desk, tmp_path: Path) -> None:
    gone = {"path": "a.txt"}
    assert desk.reconcile("delete_file", **gone) == DidNotHappen()
    done = desk.call("delete_file", **gone).result
    after_a_crash = Desk.at(tmp_path)
    assert after_a_crash.reconcile("delete_file", **gone) == Happened(done)
    (tmp_path / "a.txt").write_text("made again")
    assert after_a_crash.reconcile("delete_file", **gone) == Happened(done)
    assert after_a_crash.reconcile("delete_file", key="another call", **gone) == DidNotHappen()
    (tmp_path / "a.txt").unlink()
    assert after_a_crash.reconcile("delete_file", key="another call", **gone) == CannotTell()


@pytest.mark.parametrize("tool", ["write_file", "replace_in_file", "delete_file"])
def test_a_path_that_cannot_be_used_any_more_tells_nothing(desk: Desk, tool: str) -> None:
    arguments = {"path": "../x", "content": "x", "old": "x", "new": "y"}
    assert desk.reconcile(tool, **arguments) == CannotTell()


def test_a_file_that_is_gone_or_no_text_tells_nothing_of_a_replacement(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "bin").write_bytes(b"x\0")
    for path in ("missing", "bin", "."):
        assert desk.reconcile("replace_in_file", path=path, old="x", new="y") == CannotTell()
