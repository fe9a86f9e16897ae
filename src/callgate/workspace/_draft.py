"""Writing a file at once: a new file beside it, made durable, then given the name.

In: an open folder, bytes. Out: the name changed from the old content to the new one in one step. Promise:
whoever opens the name at any time, also after ``kill -9`` or a power cut, finds all of the old or all of the
new content; what a hard link or a link shares with the name is not written through. (rename, link:
POSIX.1-2017; fsync of a folder: fsync(2).)
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, Self

from ._root import LISTED

OURS: Final = ".callgate-"
"""Our own files begin so; the tools neither list nor search them."""

WAIT_SECONDS: Final = 5.0
"""How long another process may hold a folder."""

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# FAT and some network file systems have no hard links.
_NO_LINKS: Final = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS})
_PROCESS: Final = threading.Lock()


class Draft:
    """Content under a name nobody guesses, in the folder where it will stand.

    ``like`` is the file it replaces, whose mode and, where that is allowed, owner it takes; ``mode`` sets the
    permission bits; without either the process's umask decides. Leaving the context removes what was not
    committed.
    """

    def __init__(
        self, folder: int, data: bytes, like: os.stat_result | None = None, mode: int | None = None
    ) -> None:
        self._folder = folder
        self._name = f"{OURS}{secrets.token_hex(8)}.tmp"
        # Closed to others until it is whole: the file it replaces may be a private one.
        fd = os.open(self._name, _NEW, 0o666 if like is None and mode is None else 0o600, dir_fd=folder)
        try:
            with os.fdopen(fd, "wb") as target:
                target.write(data)
                _take_over(target.fileno(), like, mode)
                target.flush()
                os.fsync(target.fileno())
        except BaseException:
            self.discard()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def replace(self, name: str) -> None:
        """Take the name, whatever file holds it."""
        os.rename(self._name, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def create(self, name: str) -> None:
        """Take the name only if nothing holds it; no other process gets between.

        Raises:
            FileExistsError: Something does.
        """
        give_name(self._folder, self._name, name)

    def discard(self) -> None:
        """Remove what is left under the draft's own name."""
        with suppress(FileNotFoundError):
            os.unlink(self._name, dir_fd=self._folder)


def give_name(folder: int, name: str, new: str) -> None:
    """Rename inside a folder without taking the place of anything.

    Raises:
        FileExistsError: Something has the new name.
    """
    try:
        os.link(name, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as problem:
        if problem.errno not in _NO_LINKS:
            raise
        if new in os.listdir(folder):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from problem
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=folder)
        return
    os.unlink(name, dir_fd=folder)


@contextmanager
def one_at_a_time(folder: int) -> Iterator[None]:
    """Compare and change with no other writer between: neither a thread of this process nor another process.

    The second is an advisory lock on the folder (flock(2)); where the file system or the folder's rights
    allow none, the first alone holds.

    Raises:
        BlockingIOError: Another process held the folder for ``WAIT_SECONDS``.
    """
    with _PROCESS:
        try:
            listed = os.open(".", LISTED, dir_fd=folder)
        except PermissionError:
            yield
            return
        try:
            _wait_for(listed)
            yield
        finally:
            os.close(listed)


def _wait_for(folder: int) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(0.002)
        except OSError:
            return
        else:
            return


def _take_over(fd: int, like: os.stat_result | None, mode: int | None) -> None:
    if like is not None:
        mine = os.fstat(fd)
        if (like.st_uid, like.st_gid) != (mine.st_uid, mine.st_gid):
            with suppress(PermissionError):
                os.fchown(fd, like.st_uid, like.st_gid)
        mode = like.st_mode & 0o7777 if mode is None else mode
    if mode is not None:
        os.fchmod(fd, mode)
