"""The workspace: a folder that tools may work in, and nothing around it.

In: paths as a model wrote them (``locate``), then canonical names (everything else). Out: where they lead;
files read, written and removed. Promise: nothing outside the root is read, made, changed or removed, also
while others swap folders for links; a write is whole or not there; of two writers who expect the same version
one wins. Implements ``callgate.tools.World``, ``Files`` and ``Keeper``.

Not told apart from what is inside: a hard link to a file outside (it is read; a write gives the name a new
file and leaves the other alone) and file systems mounted inside the root.
"""

from __future__ import annotations

import os
from typing import BinaryIO, Final

from callgate.calls import Finding, Mode
from callgate.errors import ToolError
from callgate.tools import Located

from ._content import version_of, version_of_file
from ._draft import OURS, Draft, one_at_a_time
from ._place import Place, at, is_text, kind_of
from ._refusals import refuse
from ._resolve import Kind, resolve, unusable
from ._root import LISTED, Root, sync_folder
from ._trash import Trash

FILE_BYTES: Final = 64 << 20
"""The largest file that is taken: a version is a hash of all of it."""

ABSENT: Final = "absent"
"""As an expected version: nothing may be there yet."""

_SCHEME: Final = "file:/"


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
        self.trash: Final = Trash(self._root)

    @property
    def root(self) -> str:
        """The root's real path, for people."""
        return str(self._root.real)

    def recorded(self, resource: str, idempotency_key: str) -> None:
        """Remove for good what this call deleted: the journal has it. Nothing where it deleted nothing."""
        self.trash.drop(_relative(resource.removeprefix(_SCHEME)), idempotency_key)

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
        try:
            with at(self._root, relative) as place:
                return kind_of(place.look())
        except ToolError as problem:
            if problem.tool_code == "NOT_FOUND":
                return ""
            raise

    def names(self, relative: str) -> list[str]:
        """The names in a folder, sorted; folders end in ``/``, links do not.

        Names that are not UTF-8, and our own temporary ones, are left out.
        """
        with at(self._root, relative) as place:
            folder = os.open(place.name, LISTED, dir_fd=place.folder)
            try:
                with os.scandir(folder) as entries:
                    found = [entry.name + "/" * entry.is_dir(follow_symlinks=False) for entry in entries]
            finally:
                os.close(folder)
        return sorted(name for name in found if not name.startswith(OURS) and is_text(name))

    def open_read(self, relative: str) -> BinaryIO:
        """Open a file for reading, as bytes."""
        with at(self._root, relative) as place:
            return place.open_read(self._file_bytes)

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
        with at(self._root, relative, create=create) as place:
            like = None if place.look() is None else place.must_be_file()
            if like is not None and expected_version == ABSENT:
                raise refuse("ALREADY_EXISTS", "a file of this name exists", relative)
            with Draft(place.folder, data, like, mode) as draft:
                with one_at_a_time(place.folder):
                    _must_match(place, expected_version, self._file_bytes)
                    (draft.create if expected_version == ABSENT else draft.replace)(place.name)
                sync_folder(place.folder)
        return version_of(data)

    def delete(self, relative: str, expected_version: str | None = None) -> None:
        """Remove a file for good. Raises also ``VERSION_CONFLICT`` and ``VERSION_UNKNOWN``."""
        with at(self._root, relative) as place:
            place.must_be_file()
            with one_at_a_time(place.folder):
                _must_match(place, expected_version, self._file_bytes)
                os.unlink(place.name, dir_fd=place.folder)
            sync_folder(place.folder)


def _relative(inside: str) -> str:
    """A canonical name; one that could be read as a resource begins with ``./``."""
    return f"./{inside}" if inside.startswith(_SCHEME) else inside or "."


def _must_match(place: Place, expected: str | None, limit: int) -> None:
    if expected is None or expected == ABSENT:  # the latter is asked when the name is taken
        return
    if place.look() is None:
        raise refuse("VERSION_UNKNOWN", "the file is gone", place.path)
    with place.open_read(limit) as source:
        current = version_of_file(source)
    if current != expected:
        message = "the file has another version by now"
        raise refuse("VERSION_CONFLICT", message, place.path, current_version=current)
