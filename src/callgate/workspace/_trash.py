"""Removing a file without losing what it held before that is recorded.

In: a canonical name and the key of the call that removes it. Out: the content. Promise: the file leaves its
name in one step and stays beside it under a name of ours, which no tool lists; after a crash the same key
finds it again, which is also the evidence that the call happened; it is gone for good only when it is said
to be in the record.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass

from callgate.errors import ToolError

from ._draft import OURS, give_name, one_at_a_time
from ._place import Place, at, names_of
from ._refusals import refuse
from ._root import Root, sync_folder


@dataclass(frozen=True, slots=True)
class Removed:
    """What a removed file was: all it takes to put it back."""

    data: bytes
    mode: int


class Trash:
    """What was removed below one root and is not yet known to be recorded."""

    def __init__(self, root: Root) -> None:
        self._root = root

    def take(self, path: str, key: str, limit: int) -> Removed:
        """Remove a file under a call's idempotency key, once; ``limit`` is the most bytes that are taken.

        Raises:
            ToolError: ``TOO_LARGE``; ``ALREADY_EXISTS``: something was removed under this key; and what
                ``at`` raises.
        """
        with at(self._root, path) as place:
            if place.must_be_file().st_size > limit:
                message = f"it has more than {limit} bytes, too many to keep; ask a person to delete it"
                raise refuse("TOO_LARGE", message, path)
            gone = place.beside(_gone(key))
            with one_at_a_time(place.folder):
                if gone.look() is not None:
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
                os.rename(place.name, gone.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
                try:
                    removed = _read(gone, limit)
                except BaseException:
                    give_name(place.folder, gone.name, place.name)
                    raise
            sync_folder(place.folder)
        return removed

    def recall(self, path: str, key: str, limit: int) -> Removed | None:
        """What was removed under this key; None if nothing was, or it was dropped."""
        try:
            with at(self._root, path) as place:
                return _read(place.beside(_gone(key)), limit)
        except ToolError as problem:
            if problem.tool_code == "NOT_FOUND":
                return None
            raise

    def drop(self, path: str, key: str) -> None:
        """Remove it for good: its content is in the record. What is not there any more was dropped before."""
        *above, _ = names_of(path)
        with suppress(OSError), self._root.folder(above) as folder:
            os.unlink(_gone(key), dir_fd=folder)


def _gone(key: str) -> str:
    return f"{OURS}{hashlib.sha256(key.encode()).hexdigest()[:32]}.gone"


def _read(place: Place, limit: int) -> Removed:
    with place.open_read(limit) as source:
        return Removed(source.read(), stat.S_IMODE(os.fstat(source.fileno()).st_mode))
