"""Where a canonical name is: the open folder that holds it, and what is asked of it there.

In: a canonical name. Out: a ``Place``, as long as a context lasts. Promise: the last name is no more followed
than the ones before it; what a file is, is asked of the descriptor that is read; the system's errors come out
as ``ToolError``.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from ._content import bounded
from ._refusals import refusal, refuse
from ._resolve import Kind
from ._root import Root

PATH_BYTES: Final = 4095  # Linux PATH_MAX, 4096, less the NUL
_SHOWN: Final = 200  # characters of a path that is too long

# A FIFO without a writer must not hang us, nor a terminal become ours.
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Place:
    """An open folder, a name in it (``.``: the root), and the canonical name for words to the model."""

    folder: int
    name: str
    path: str

    def beside(self, name: str) -> Place:
        """Another name in the folder, spoken of as this one."""
        return replace(self, name=name)

    def look(self) -> os.stat_result | None:
        """What is there; None for nothing. A link is not followed."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def must_be_file(self) -> os.stat_result:
        """What is there, if it is a file."""
        found = self.look()
        if found is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        self._refuse_other(found)
        return found

    def open_read(self, limit: int) -> BinaryIO:
        """Open the file, of which at most ``limit`` bytes are handed out."""
        self.must_be_file()  # before it is opened: a device may act on that alone
        fd = os.open(self.name, _READ, dir_fd=self.folder)
        try:
            self._refuse_other(os.fstat(fd), limit)
            return bounded(fd, limit)
        except BaseException:
            os.close(fd)
            raise

    def _refuse_other(self, found: os.stat_result, limit: int | None = None) -> None:
        if stat.S_ISLNK(found.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if stat.S_ISDIR(found.st_mode):
            raise refuse("WRONG_KIND", "it is a folder", self.path)
        if not stat.S_ISREG(found.st_mode):
            raise refuse("PATH_UNUSABLE", "it is neither a file nor a folder", self.path)
        if limit is not None and found.st_size > limit:
            raise refuse("PATH_UNUSABLE", f"it has more than {limit} bytes", self.path)


@contextmanager
def at(root: Root, path: str, *, create: bool = False) -> Iterator[Place]:
    """The place of a canonical name; ``create`` makes the folders on the way.

    Raises:
        ToolError: The name is not canonical, or the system refused something on the way or inside the
            context.
    """
    root.must_stand()
    *above, name = names_of(path) or ["."]
    try:
        with root.folder(above, create=create) as folder:
            yield Place(folder, name, path)
    except OSError as problem:
        raise refusal(root, problem, path) from problem


def names_of(path: str) -> list[str]:
    """The names of a canonical path, none for the root."""
    names = [name for name in path.split("/") if name not in {"", "."}]
    if ".." in names:
        raise refuse("OUTSIDE_WORKSPACE", "only canonical names are opened", path)
    if "\0" in path or not is_text(path):
        raise refuse("PATH_UNUSABLE", "a name has no NUL and no halves of characters", path)
    if len(path.encode()) > PATH_BYTES:
        raise refuse("PATH_UNUSABLE", f"a path has at most {PATH_BYTES} bytes", path[:_SHOWN])
    return names


def is_text(name: str) -> bool:
    """Whether it has no lone surrogates, as which names that are not UTF-8 come (PEP 383)."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def kind_of(found: os.stat_result | None) -> Kind:
    """What a look found."""
    if found is None:
        return ""
    if stat.S_ISREG(found.st_mode):
        return "file"
    return "folder" if stat.S_ISDIR(found.st_mode) else "other"
