"""Where a path that a model wrote really leads: component by component, links followed by hand, never out.

In: text, taken literally (no ``~``, ``$``, ``%``, glob, URL or Unicode processing). Out: a ``Spot`` or a
``Finding`` (``OUTSIDE_WORKSPACE``, ``PATH_UNUSABLE``, ``DENIED_BY_SYSTEM``, ``RESOURCE_MOVED``). Promise:
nothing outside the root is looked at; ``..`` steps back in the names found and stops at the root; a link's
target is walked as if it had been written; nothing is opened but folders. Resolution as in POSIX.1-2017,
4.13, but within the root.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from callgate.calls import Finding

from ._root import FOLDER, Root

PATH_BYTES: Final = 4 * 4096  # written with detours; the names found obey Linux PATH_MAX, 4096 with its NUL
NAME_BYTES: Final = 255  # Linux NAME_MAX
LINKS: Final = 40  # Linux MAXSYMLINKS; it also bounds how often a folder may be swapped under the walk
STEPS: Final = 20_000  # opens of folders by going back and down again: what a hostile path can cost

Kind = Literal["file", "folder", "other", ""]

OUTSIDE: Final = Finding(
    "OUTSIDE_WORKSPACE", expected="a path that stays inside the workspace, through links and `..` too"
)
_MOVED: Final = Finding("RESOURCE_MOVED", expected="a path that does not change while it is looked up")
_DENIED: Final = Finding("DENIED_BY_SYSTEM", expected="folders that may be passed through")


def unusable(expected: str, mend: str = "") -> Finding:
    """A path that names nothing a tool could take."""
    return Finding("PATH_UNUSABLE", expected=expected, mend=mend)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a path leads: canonical names below the root, and what is there (``""``: nothing, or no way).

    ``as_folder``: the text ends like a folder's name. ``circle``: links that lead in a circle are in the way.
    """

    names: tuple[str, ...]
    kind: Kind
    size: int = 0
    as_folder: bool = False
    circle: bool = False


def resolve(root: Root, text: str) -> Spot | Finding:
    """Find where ``text`` leads."""
    parts = _components(text)
    if isinstance(parts, Finding):
        return parts
    if text.startswith("/"):
        inside = root.below([part for part in parts if part != "."])
        if inside is None:
            return OUTSIDE
        parts = [*inside, *(["."] if parts[-1:] == ["."] else [])]
    walk = _Walk(root, parts)
    try:
        return walk.run()
    except OSError as problem:
        return _FINDINGS.get(problem.errno or 0, _DENIED)
    finally:
        walk.leave()


def _components(text: str) -> list[str] | Finding:
    """The components; a trailing slash is a last ``.``, which only a folder has."""
    if not text:
        return unusable("a path", "write `.` for the workspace's root")
    if "\0" in text:
        return unusable("a path without NUL")
    if len(text) > PATH_BYTES:
        return unusable(f"a path of at most {PATH_BYTES} bytes")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return unusable("whole characters, no halves of surrogate pairs")
    parts = split(text)
    if size > PATH_BYTES or any(len(part.encode()) > NAME_BYTES for part in parts):
        return unusable(f"a path of at most {PATH_BYTES} bytes, each name at most {NAME_BYTES}")
    return parts


def split(text: str) -> list[str]:
    """Names between slashes; a trailing slash gives a last ``.``."""
    parts = [part for part in text.split("/") if part]
    return [*parts, "."] if text.endswith("/") else parts


class _Walk:
    """One walk: ``names`` where it stands, ``fd`` that folder if open, ``pending`` what is left, reversed."""

    def __init__(self, root: Root, parts: Sequence[str]) -> None:
        self.root = root
        self.names: list[str] = []
        self.pending = list(reversed(parts))
        self.fd: int | None = None
        self.links = 0
        self.steps = 0

    def run(self) -> Spot | Finding:
        while self.pending:
            ended = self._step(self.pending.pop())
            if ended is not None:
                return ended
        return Spot(tuple(self.names), "folder")

    def leave(self) -> None:
        """Close the folder; the next look opens it again by its names."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    def _step(self, name: str) -> Spot | Finding | None:
        if name == ".":
            return None
        if name == "..":
            if not self.names:
                return OUTSIDE
            self.names.pop()
            self.leave()
            return None
        try:
            found = os.stat(name, dir_fd=self._here(), follow_symlinks=False)
        except FileNotFoundError:
            return self._beyond(name, "")
        if self.steps > STEPS:
            return unusable("a path that does not go back and forth")
        if stat.S_ISLNK(found.st_mode):
            return self._follow(name)
        if stat.S_ISDIR(found.st_mode):
            return self._enter(name)
        return self._beyond(name, "file" if stat.S_ISREG(found.st_mode) else "other", found.st_size)

    def _here(self) -> int:
        if self.fd is None:
            self.steps += len(self.names)
            with self.root.folder(self.names) as fd:
                self.fd = os.dup(fd)  # the context closes its own
        return self.fd

    def _enter(self, name: str) -> Finding | None:
        try:
            below = os.open(name, FOLDER, dir_fd=self._here())
        except (FileNotFoundError, NotADirectoryError):
            return self._again(name)
        self.leave()
        self.fd = below
        self.names.append(name)
        return None

    def _again(self, name: str) -> Finding | None:
        """A folder was swapped for something else between look and open: look once more, not for ever."""
        self.links += 1
        self.pending.append(name)
        return _MOVED if self.links > LINKS else None

    def _follow(self, name: str) -> Spot | Finding | None:
        self.links += 1
        if self.links > LINKS:
            return self._beyond(name, "")
        try:
            target = os.readlink(name, dir_fd=self._here())
        except OSError as problem:
            if problem.errno == errno.EINVAL:  # a link no more
                return self._again(name)
            raise
        parts: Sequence[str] = split(target)
        if target.startswith("/"):
            inside = self.root.below(parts)
            if inside is None:
                return OUTSIDE
            parts = inside
            self.names.clear()
            self.leave()
        self.pending.extend(reversed(parts))
        return None

    def _beyond(self, name: str, kind: Kind, size: int = 0) -> Spot | Finding:
        """The walk ends at ``name``: a file, a circle of links, or nothing. What is left is only text."""
        names, rest = [*self.names, name], self.pending[::-1]
        went_back = False
        for part in rest:
            if part == "..":
                if not names:
                    return OUTSIDE
                names.pop()
                went_back = True
            elif part != ".":
                names.append(part)
        if went_back:
            return unusable(
                "a path whose `..` follows a folder that exists", "leave out what `..` takes back"
            )
        as_folder = rest[-1:] == ["."]
        if not rest or not kind:
            return Spot(tuple(names), kind, size, as_folder, circle=self.links > LINKS)
        if all(part == "." for part in rest):
            return unusable(
                "a folder where the path ends like one", "name the file without the trailing slash"
            )
        return Spot(tuple(names), "")


_FINDINGS: Final[dict[int, Finding]] = {
    errno.ENOENT: _MOVED,
    errno.ENOTDIR: _MOVED,
    errno.ELOOP: _MOVED,
    errno.ENAMETOOLONG: unusable(f"names of at most {NAME_BYTES} bytes"),
}
