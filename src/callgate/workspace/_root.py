"""The workspace's root as a descriptor, and the one way down from it: name by name, following no link.

In: the folder's path, once; then canonical names. Out: descriptors of folders. Promise: nothing above the
root is ever opened through it, whatever is renamed or linked meanwhile, because each name is opened in the
folder before it with ``O_NOFOLLOW`` and ``..`` is never handed to the system. (openat: POSIX.1-2017;
``O_NOFOLLOW``: open(2).)
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from callgate.errors import ConfigurationError, ToolError

# O_PATH asks for the right to pass through only, not to list; where there is none a plain open asks for both.
FOLDER: Final = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
LISTED: Final = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_RDONLY


class Root:
    """The root folder, opened once; it may be given as a link.

    The descriptor lives as long as anything refers to this object: a thread that was given up and runs late
    must not find another folder under its number.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        given = Path(path).absolute()
        try:
            self.real = given.resolve(strict=True)
            self.fd = os.open(self.real, FOLDER)
        except (OSError, ValueError) as problem:
            message = "the workspace is not a folder that can be opened"
            raise ConfigurationError(message, path=str(given), why=str(problem)) from problem
        self._finalizer = weakref.finalize(self, os.close, self.fd)
        self._spellings = {tuple(self.real.parts[1:]), tuple(given.parts[1:])}

    def below(self, parts: Sequence[str]) -> Sequence[str] | None:
        """What is left of an absolute path after the root's names; None where it begins with others."""
        for spelling in self._spellings:
            if tuple(parts[: len(spelling)]) == spelling:
                return parts[len(spelling) :]
        return None

    @contextmanager
    def folder(self, names: Sequence[str], *, create: bool = False) -> Iterator[int]:
        """The folder of these names; ``create`` makes those that are missing. Closed on leaving.

        Raises:
            OSError: ``ENOENT``, ``ENOTDIR`` for a file or a link in the way, ``EACCES`` and the like.
        """
        fd = os.dup(self.fd)
        try:
            for name in names:
                above, fd = fd, _enter(fd, name, create=create)
                os.close(above)
            yield fd
        finally:
            os.close(fd)

    def must_stand(self) -> None:
        """Refuse when the root's path no longer leads to the folder that was opened.

        Without this, work would go on in a folder that the user moved away or deleted.
        """
        try:
            here, there = os.fstat(self.fd), self.real.stat()
        except (FileNotFoundError, NotADirectoryError):
            same = False
        except OSError:
            return
        else:
            same = os.path.samestat(here, there)
        if not same:
            message = "the workspace folder itself was moved, replaced or deleted"
            raise ToolError(message, tool_code="DENIED_BY_SYSTEM")


def _enter(fd: int, name: str, *, create: bool) -> int:
    """Open a folder in a folder. On trouble the first one stays open for the caller to close."""
    try:
        return os.open(name, FOLDER, dir_fd=fd)
    except FileNotFoundError:
        if not create:
            raise
    try:
        os.mkdir(name, dir_fd=fd)
    except FileExistsError:
        pass  # made by someone else meanwhile, or a dangling link: the open below says which
    else:
        sync_folder(fd)
    return os.open(name, FOLDER, dir_fd=fd)


def sync_folder(fd: int) -> None:
    """Make the names in a folder durable; a folder that may not be listed cannot be synced."""
    try:
        listed = os.open(".", LISTED, dir_fd=fd)
    except PermissionError:
        return
    try:
        os.fsync(listed)
    finally:
        os.close(listed)
