"""Trees to try paths against, and what the path cases say of each path.

In: a fresh folder T. Out: `T/ws`, a workspace, and around it what no tool may reach, with the word SECRET.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from callgate.errors import ToolError
from tests.corpus import CORPUS

SECRET: Final = "SECRET"
NOBODY: Final = 65534
AROUND: Final = ("outside", "ws-evil", "home")

SMALL: Final[tuple[dict[str, Any], ...]] = (
    {"op": "dir", "path": "ws/src/deep"},
    {"op": "dir", "path": "ws/empty"},
    {"op": "file", "path": "ws/a.txt", "content": "A"},
    {"op": "file", "path": "ws/src/main.py", "content": "print(1)\n"},
    {"op": "file", "path": "ws/src/deep/d.txt", "content": "D"},
    {"op": "file", "path": "ws/资料/说明.md", "content": "说明\n"},
    {"op": "file", "path": "ws/~", "content": "TILDE"},
    {"op": "file", "path": "outside/secret.txt", "content": SECRET},
    {"op": "file", "path": "ws-evil/secret.txt", "content": SECRET},
    {"op": "file", "path": "home/secret.txt", "content": SECRET},
    {"op": "symlink", "path": "ws/link", "target": "src/main.py"},
    {"op": "symlink", "path": "ws/folder", "target": "src"},
    {"op": "symlink", "path": "ws/absolute", "target": "{T}/ws/a.txt"},
    {"op": "symlink", "path": "ws/src/up", "target": ".."},
    {"op": "symlink", "path": "ws/src/up2", "target": "../.."},
    {"op": "symlink", "path": "ws/out", "target": "../outside/secret.txt"},
    {"op": "symlink", "path": "ws/out-abs", "target": "{T}/outside/secret.txt"},
    {"op": "symlink", "path": "ws/out-dir", "target": "../outside"},
    {"op": "symlink", "path": "ws/chain", "target": "out"},
    {"op": "symlink", "path": "ws/new-out", "target": "../outside/new.txt"},
    {"op": "symlink", "path": "ws/new-in", "target": "new.txt"},
    {"op": "symlink", "path": "ws/loop", "target": "loop2"},
    {"op": "symlink", "path": "ws/loop2", "target": "loop"},
    {"op": "symlink", "path": "ws-alias", "target": "ws"},
    {"op": "hardlink", "path": "ws/hard", "target": "outside/secret.txt"},
    {"op": "fifo", "path": "ws/pipe"},
    {"op": "socket", "path": "ws/socket"},
)
"""A tree like that of the path cases, for a checkout without the corpus."""

SMALL_CASES: Final[tuple[tuple[str, str, str], ...]] = (
    ("read", "a.txt", "allow"),
    ("read", "./src/../a.txt", "allow"),
    ("read", "资料/说明.md", "allow"),
    ("read", "link", "allow"),
    ("read", "folder/main.py", "allow"),
    ("read", "absolute", "allow"),
    ("read", "{T}/ws/a.txt", "allow"),
    ("read", "src/up/a.txt", "allow"),
    ("read", "~", "allow"),
    ("read", "a.txt\n", "not_found"),
    ("read", "A.TXT", "not_found"),
    ("read", "~/secret.txt", "not_found"),
    ("read", "%2e%2e/outside/secret.txt", "not_found"),
    ("read", "．．/outside/secret.txt", "not_found"),
    ("read", "file:///etc/passwd", "not_found"),
    ("read", "", "deny"),
    ("read", "..", "deny"),
    ("read", "../outside/secret.txt", "deny"),
    ("read", "../ws-evil/secret.txt", "deny"),
    ("read", "{T}/ws-evil/secret.txt", "deny"),
    ("read", "missing/../../outside/secret.txt", "deny"),
    ("read", "missing/../a.txt", "deny"),
    ("read", "a.txt/../../outside/secret.txt", "deny"),
    ("read", "src/up/../outside/secret.txt", "deny"),
    ("read", "src/up2/outside/secret.txt", "deny"),
    ("read", "out", "deny"),
    ("read", "out-abs", "deny"),
    ("read", "chain", "deny"),
    ("read", "out-dir/secret.txt", "deny"),
    ("read", "/etc/passwd", "deny"),
    ("read", "/", "deny"),
    ("read", "a.txt\0.png", "deny"),
    ("read", "a\ud800.txt", "deny"),
    ("read", "pipe", "deny"),
    ("read", "socket", "deny"),
    ("read", "a.txt/", "deny"),
    ("read", "x" * 300, "deny"),
    ("read", "loop", "error"),
    ("read", "src", "error"),
    ("read", "src/", "error"),
    ("list", ".", "allow"),
    ("list", "src/", "allow"),
    ("list", "a.txt", "error"),
    ("list", "out-dir", "deny"),
    ("write", "new.txt", "allow"),
    ("write", "new-in", "allow"),
    ("write", "made/on/the/way.txt", "allow"),
    ("write", "new-out", "deny"),
    ("write", "out-dir/new.txt", "deny"),
    ("write", "../outside/new.txt", "deny"),
    ("write", "new.txt/", "deny"),
    ("write", "src", "error"),
    ("write", "loop", "error"),
    ("delete", "src/main.py", "allow"),
    ("delete", ".", "deny"),
    ("delete", "out-dir", "deny"),
    ("delete", "link", "error"),
    ("delete", "src", "error"),
)
"""Operation, path, verdict."""


def build(top: Path, tree: Iterable[Mapping[str, Any]]) -> None:
    """Make a tree, or do to one what a case's setup says."""
    for entry in tree:
        if "op" in entry:
            path = top / entry.get("path", "")
            path.parent.mkdir(parents=True, exist_ok=True)
            _MADE[entry["op"]](top, path, entry)


def _file(top: Path, path: Path, entry: Mapping[str, Any]) -> None:
    path.write_text(entry["content"], encoding="utf-8")
    path.chmod(int(entry.get("mode", "644"), 8))


def _sparse(top: Path, path: Path, entry: Mapping[str, Any]) -> None:
    path.touch()
    os.truncate(path, entry["size"])


def _socket(top: Path, path: Path, entry: Mapping[str, Any]) -> None:
    """Bound by a short name: a socket's address has 108 bytes."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


_MADE: Final[dict[str, Callable[[Path, Path, Mapping[str, Any]], object]]] = {
    "dir": lambda top, path, entry: path.mkdir(parents=True, exist_ok=True),
    "file": _file,
    "symlink": lambda top, path, entry: path.symlink_to(entry["target"].replace("{T}", str(top))),
    "hardlink": lambda top, path, entry: path.hardlink_to(top / entry["target"]),
    "fifo": lambda top, path, entry: os.mkfifo(path),
    "socket": _socket,
    "sparse": _sparse,
    "grow": lambda top, path, entry: path.write_text("line\n" * 100),
    "rename": lambda top, path, entry: path.rename(top / entry["to"]),
    "remove-root": lambda top, path, entry: shutil.rmtree(top / "ws"),
}


def around(top: Path) -> dict[str, Any]:
    """What stands around the workspace, to see that it did not change."""
    found: dict[str, Any] = {}
    for name in AROUND:
        for path in sorted((top / name).rglob("*")):
            found[str(path)] = path.read_bytes() if path.is_file() else None
    return found


def cases() -> dict[str, Any]:
    """The path cases of the corpus; nothing where there is none."""
    file = CORPUS / "paths" / "cases.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"tree": [], "cases": []}


def path_of(case: Mapping[str, Any], top: Path) -> Any:
    """What the model sent."""
    if "path_b64" in case:
        return base64.b64decode(case["path_b64"]).decode("utf-8", "surrogateescape")
    if "path_json_text" in case:
        return json.loads(case["path_json_text"])
    if "path_repeat" in case:
        said = case["path_repeat"]
        return said["unit"] * said["count"] + said.get("suffix", "")
    if "path_json" in case:
        return case["path_json"]
    return case["path"].removesuffix(" (recursive)").replace("{T}", str(top)).replace("{RAND}", "0")


def code(attempt: Callable[[], object]) -> str:
    """The refusal's code, or an empty text."""
    try:
        attempt()
    except ToolError as refused:
        return refused.tool_code
    return ""


@contextmanager
def nobody() -> Iterator[None]:
    """Without root's rights; as somebody who has none anyway, nothing changes."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
