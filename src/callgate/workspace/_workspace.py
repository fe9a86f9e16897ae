"""The workspace: a folder that tools may work in, and nothing around it.

In: paths as a model wrote them (``locate``), then canonical names (everything else). Out: where they lead;
files read, written and removed. Promise: nothing outside the root is read, made, changed or removed, also
while others swap folders for links; a write is whole or not there; of two writers who expect the same version
one wins. Implements ``callgate.tools.World`` and ``callgate.tools.Files``.

Not told apart from what is inside: a hard link to a file outside (it is read; a write gives the name a new
file and leaves the other alone) and file systems mounted inside the root.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import BinaryIO, Final, Self

from callgate.calls import Finding, Mode
from callgate.errors import ToolError
from callgate.tools import Located

from ._content import bounded, version_of, version_of_file
from ._draft import OURS, Draft, give_name, one_at_a_time
from ._refusals import refusal, refuse
from ._resolve import Kind, resolve, unusable
from ._root import LISTED, Root, sync_folder

FILE_BYTES: Final = 64 << 20
"""The largest file that is taken: a version is a hash of all of it."""

ABSENT: Final = "absent"
"""As an expected version: nothing may be there yet."""

NAMES_BYTES: Final = 4095  # Linux PATH_MAX, 4096, less the NUL
NAMES_SHOWN: Final = 200

_SCHEME: Final = "file:/"
# A FIFO without a writer must not hang us, nor a terminal become ours.
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


Place = tuple[int, str, str]
"""An open folder, a name in it, and the canonical name of both for words to the model."""


@dataclass(frozen=True, slots=True)
class Removed:
    """What a discarded file was: all it takes to put it back."""

    data: bytes
    mode: int


class Workspace:
    """A folder as tools see it.

    Args:
        root: The folder; it may be given as a link, which is followed once, now.
        file_bytes: The largest file that is taken.

    Raises:
        ConfigurationError: ``root`` is no folder, or may not be opened.

    The methods that take a canonical name raise ``ToolError``: ``NOT_FOUND``, ``WRONG_KIND``,
    ``PATH_UNUSABLE``, ``DENIED_BY_SYSTEM``; ``RESOURCE_MOVED`` or ``OUTSIDE_WORKSPACE`` where it leads
    elsewhere by now.
    """

    def __init__(self, root: str | os.PathLike[str], *, file_bytes: int = FILE_BYTES) -> None:
        self._root = Root(root)
        self._file_bytes = file_bytes
        self._discarded: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def root(self) -> str:
        """The root's real path, for people."""
        return str(self._root.real)

    def close(self) -> None:
        """Remove for good what ``discard`` took away; to be called when all results are recorded."""
        while self._discarded:
            relative = self._discarded.pop()
            with suppress(ToolError), self._at(relative) as (folder, name):
                os.unlink(name, dir_fd=folder)

    def locate(self, text: str, mode: Mode) -> Located | Finding:
        """Where a path leads, or why it cannot be used; links are followed inside the root."""
        spot = resolve(self._root, text)
        if isinstance(spot, Finding):
            return spot
        if spot.kind == "other":
            return unusable("a file or a folder, no pipe, socket or device")
        if spot.as_folder and not spot.kind and mode is Mode.WRITE:
            return unusable("a file's name", "leave out the trailing slash")
        if spot.size > self._file_bytes:
            return unusable(f"a file of at most {self._file_bytes} bytes")
        inside = "/".join(spot.names)
        relative = _relative(inside)
        version = self.version(relative) if spot.kind == "file" else None
        return Located(text, relative, _SCHEME + inside, bool(spot.kind), version)

    def version(self, resource: str) -> str | None:
        """The version of a file, by canonical resource or name; None where no file can be read."""
        relative = _relative(resource.removeprefix(_SCHEME)) if resource.startswith(_SCHEME) else resource
        try:
            with self.open_read(relative) as source:
                return version_of_file(source)
        except (ToolError, OSError):
            return None

    def kind(self, relative: str) -> Kind:
        """``file``, ``folder``, ``other`` (link, pipe, socket, device), or ``""`` where nothing is."""
        if not _names(relative):
            return "folder"
        try:
            with self._at(relative) as (folder, name):
                found = _look(folder, name)
        except ToolError as problem:
            if problem.tool_code in {"NOT_FOUND", "WRONG_KIND"}:
                return ""
            raise
        return _kind(found)

    def names(self, relative: str) -> list[str]:
        """The names in a folder, sorted; folders end in ``/``, links do not.

        Names that are not UTF-8, and our own temporary ones, are left out.
        """
        with self._at(relative) as (above, name):
            folder = os.open(name, LISTED, dir_fd=above)
            try:
                with os.scandir(folder) as entries:
                    found = [entry.name + "/" * entry.is_dir(follow_symlinks=False) for entry in entries]
            finally:
                os.close(folder)
        return sorted(one for one in found if not one.startswith(OURS) and _is_text(one))

    def open_read(self, relative: str) -> BinaryIO:
        """Open a file for reading, as bytes."""
        with self._at(relative) as (folder, name):
            _must_be_file(_look(folder, name), relative)
            return _opened((folder, name, relative), self._file_bytes)

    def write_bytes(
        self, relative: str, data: bytes, expected_version: str | None = None, *, mode: int | None = None
    ) -> str:
        """Create or replace a file at once; missing folders on the way are made. Gives the new version.

        Args:
            relative: Its canonical name.
            data: All of the new content.
            expected_version: The version it must have now; ``ABSENT``: it must not exist; None: whatever is
                there.
            mode: Permission bits; without them those of the file that is replaced, or what the umask leaves a
                new one.

        Raises:
            ToolError: Also ``VERSION_CONFLICT`` (with ``current_version``), ``VERSION_UNKNOWN``,
                ``ALREADY_EXISTS``, ``TOO_LARGE``.
        """
        if len(data) > self._file_bytes:
            message = f"the content has {len(data)} bytes; a file has at most {self._file_bytes}"
            raise refuse("TOO_LARGE", message, relative)
        create = expected_version in {None, ABSENT}
        with self._at(relative, create=create) as (folder, name):
            like = _look(folder, name)
            if like is not None:
                _must_be_file(like, relative)
            with Draft(folder, data, like, mode) as draft:
                with one_at_a_time(folder):
                    _must_match((folder, name, relative), expected_version, self._file_bytes)
                    (draft.create if expected_version == ABSENT else draft.replace)(name)
                sync_folder(folder)
        return version_of(data)

    def delete(self, relative: str, expected_version: str | None = None) -> None:
        """Remove a file for good. Raises also ``VERSION_CONFLICT`` and ``VERSION_UNKNOWN``."""
        with self._at(relative) as (folder, name):
            _must_be_file(_look(folder, name), relative)
            with one_at_a_time(folder):
                _must_match((folder, name, relative), expected_version, self._file_bytes)
                os.unlink(name, dir_fd=folder)
            sync_folder(folder)

    def discard(self, relative: str, key: str, limit: int) -> Removed:
        """Remove a file, but keep what it held, unlisted, until ``close``: by then it is recorded.

        ``key`` is the call's idempotency key: under the same key nothing is removed twice; ``recall`` finds
        it again after a crash. ``limit`` is the most bytes that are taken.
        """
        with self._at(relative) as (folder, name):
            _must_be_file(_look(folder, name), relative)
            gone = _gone(key)
            with one_at_a_time(folder):
                if _look(folder, gone) is not None:
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
                os.rename(name, gone, src_dir_fd=folder, dst_dir_fd=folder)
                try:
                    removed = _taken((folder, gone, relative), limit)
                except BaseException:
                    give_name(folder, gone, name)
                    raise
            sync_folder(folder)
        self._discarded.add(_sibling(relative, gone))
        return removed

    def recall(self, relative: str, key: str) -> Removed | None:
        """What ``discard`` removed under this key; None if it removed nothing, or ``close`` came since."""
        try:
            with self._at(relative) as (folder, _):
                removed = _taken((folder, _gone(key), relative), self._file_bytes)
        except ToolError as problem:
            if problem.tool_code == "NOT_FOUND":
                return None
            raise
        self._discarded.add(_sibling(relative, _gone(key)))
        return removed

    @contextmanager
    def _at(self, relative: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
        """The open folder of a canonical name and its last part (``.``: the root); errors become refusals."""
        self._root.must_stand()
        names = _names(relative)
        *above, name = names or ["."]
        try:
            with self._root.folder(above, create=create) as folder:
                yield folder, name
        except OSError as problem:
            raise refusal(self._root, problem, relative) from problem


def _relative(inside: str) -> str:
    """A canonical name; one that could be read as a resource begins with ``./``."""
    return f"./{inside}" if inside.startswith(_SCHEME) else inside or "."


def _names(relative: str) -> list[str]:
    names = [name for name in relative.split("/") if name not in {"", "."}]
    if ".." in names:
        raise refuse("OUTSIDE_WORKSPACE", "only canonical names are opened", relative)
    if "\0" in relative or not _is_text(relative):
        raise refuse("PATH_UNUSABLE", "a name has no NUL and no halves of characters", relative)
    if len(relative.encode()) > NAMES_BYTES:
        raise refuse("PATH_UNUSABLE", f"a path has at most {NAMES_BYTES} bytes", relative[:NAMES_SHOWN])
    return names


def _sibling(relative: str, name: str) -> str:
    return f"{relative.rpartition('/')[0]}/{name}".lstrip("/")


def _gone(key: str) -> str:
    return f"{OURS}{hashlib.sha256(key.encode()).hexdigest()[:32]}.gone"


def _is_text(name: str) -> bool:
    """Names that are not UTF-8 come as lone surrogates (PEP 383)."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _look(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _kind(found: os.stat_result | None) -> Kind:
    if found is None:
        return ""
    if stat.S_ISREG(found.st_mode):
        return "file"
    return "folder" if stat.S_ISDIR(found.st_mode) else "other"


def _must_be_file(found: os.stat_result | None, relative: str) -> None:
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if stat.S_ISDIR(found.st_mode):
        raise refuse("WRONG_KIND", "it is a folder", relative)
    if not stat.S_ISREG(found.st_mode):
        raise refuse("PATH_UNUSABLE", "it is neither a file nor a folder", relative)


def _opened(place: Place, limit: int) -> BinaryIO:
    """Open a file that was looked at; what it is by now is asked of the descriptor."""
    folder, name, relative = place
    fd = os.open(name, _READ, dir_fd=folder)
    try:
        _must_be_file(os.fstat(fd), relative)
        return bounded(fd, limit)
    except BaseException:
        os.close(fd)
        raise


def _must_match(place: Place, expected: str | None, limit: int) -> None:
    if expected is None or expected == ABSENT:  # the latter is asked when the name is taken
        return
    try:
        with _opened(place, limit) as source:
            current = version_of_file(source)
    except FileNotFoundError:
        raise refuse("VERSION_UNKNOWN", "the file is gone", place[2]) from None
    if current != expected:
        message = "the file has another version by now"
        raise refuse("VERSION_CONFLICT", message, place[2], current_version=current)


def _taken(place: Place, limit: int) -> Removed:
    with _opened(place, limit) as source:
        found = os.fstat(source.fileno())
        if found.st_size > limit:
            message = f"it has more than {limit} bytes, too many to keep; ask a person to delete it"
            raise refuse("TOO_LARGE", message, place[2])
        return Removed(source.read(), stat.S_IMODE(found.st_mode))
