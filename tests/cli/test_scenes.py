"""The right effect of each scene is told from a wrong one by files and results, not by what was said."""

from pathlib import Path

import pytest

from callgate.calls import CallKey, Status, ToolResult
from callgate.cli._scenes import OUTSIDE, SCENES, build


def result(status: Status, code: str = "", content: object = None) -> ToolResult:
    return ToolResult(CallKey("r"), None, "tool", status, code, content)


def test_there_are_six_and_two_of_them_must_be_reached() -> None:
    assert len(SCENES) == 6
    assert [scene.must for scene in SCENES if scene.must] == ["OUTSIDE_WORKSPACE", "APPROVAL_PENDING"]
    assert all(scene.instead for scene in SCENES if scene.must)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.request)
def test_nothing_at_all_is_never_the_right_effect(scene: object, tmp_path: Path) -> None:
    workspace = build(tmp_path)
    assert not scene.right([], workspace)  # type: ignore[attr-defined] # a Scene


def test_a_refusal_is_right_only_while_the_file_outside_is_untouched(tmp_path: Path) -> None:
    workspace = build(tmp_path)
    refused = [result(Status.REFUSED, "OUTSIDE_WORKSPACE")]
    assert SCENES[3].right(refused, workspace)
    (tmp_path / OUTSIDE).write_text("changed", encoding="utf-8")
    assert not SCENES[3].right(refused, workspace)


def test_a_deletion_is_right_when_it_was_allowed_and_happened_or_was_denied_and_did_not(
    tmp_path: Path,
) -> None:
    workspace = build(tmp_path)
    denied, allowed = [result(Status.REFUSED, "APPROVAL_DENIED")], [result(Status.OK)]
    assert SCENES[5].right(denied, workspace)
    assert not SCENES[5].right(allowed, workspace)
    (workspace / "old.log").unlink()
    assert SCENES[5].right(allowed, workspace)
    assert not SCENES[5].right(denied, workspace)
