"""The system's errors as codes."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from callgate.calls import CODES
from callgate.workspace._refusals import refusal
from callgate.workspace._root import Root


@pytest.mark.parametrize(
    ("number", "code", "transient"),
    [
        (errno.ENOENT, "NOT_FOUND", False),
        (errno.EEXIST, "ALREADY_EXISTS", False),
        (errno.EACCES, "DENIED_BY_SYSTEM", False),
        (errno.EROFS, "DENIED_BY_SYSTEM", False),
        (errno.ENOSPC, "DENIED_BY_SYSTEM", False),
        (errno.EISDIR, "WRONG_KIND", False),
        (errno.ENAMETOOLONG, "PATH_UNUSABLE", False),
        (errno.EMFILE, "TOOL_ERROR", True),
        (errno.EAGAIN, "TOOL_ERROR", True),
        (errno.EIO, "TOOL_ERROR", False),
        (0, "TOOL_ERROR", False),
    ],
)
def test_an_error_of_the_system_has_a_code(number: int, code: str, transient: bool, tmp_path: Path) -> None:
    problem = OSError(number, "words", f"{tmp_path}/a/secret/place")
    refused = refusal(Root(tmp_path), problem, "a.txt")
    assert refused.tool_code == code
    assert refused.transient is transient
    assert refused.facts == {"path": "a.txt"}
    assert "secret" not in str(refused)
    assert code in CODES


def test_what_stands_in_the_way_is_looked_at_again_to_say_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "ws/src").mkdir(parents=True)
    (tmp_path / "ws/file").touch()
    (tmp_path / "ws/link").symlink_to("src")
    (tmp_path / "ws/out").symlink_to("..")
    (tmp_path / "ws/loop").symlink_to("loop")
    root = Root(tmp_path / "ws")
    said = {
        name: refusal(root, OSError(errno.ENOTDIR, ""), name).tool_code
        for name in ("file", "file/x", "link/x", "out/x", "loop")
    }
    assert said == {
        "file": "WRONG_KIND",
        "file/x": "NOT_FOUND",
        "link/x": "RESOURCE_MOVED",
        "out/x": "OUTSIDE_WORKSPACE",
        "loop": "PATH_UNUSABLE",
    }
