"""Paths that a tool may take.

Text for the model, a handle for the tool, and nothing that escapes the workspace.

In: the path a model wrote, checked to be text; when a call is bound, the ``Files`` it opens through and the
canonical name that the judgement found. Out: a ``str`` that is that name, with methods that read and write
through the handle. Promise: without a handle nothing is opened; the name is never joined to a folder here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO, ClassVar, Final, Protocol, Self

import msgspec

from callgate.calls import EMPTY
from callgate.errors import LocalProtocolError

from ._markers import PATH

WORKSPACE_PATH_FORMAT: Final = "workspace-path"
"""The ``format`` by which a published schema marks a path.

Asserted by nobody, so any provider may drop it.
"""


class Files(Protocol):
    """What a bound path opens through; implemented by the workspace.

    Every ``relative`` is a canonical name relative to the root (``"."`` is the root itself). It is walked
    again from the root at each call, one component at a time without following links, because the judgement
    was a while ago: what leads elsewhere by then is refused with a ``ToolError`` of ``RESOURCE_MOVED``.
    Other refusals are ``ToolError`` too (``NOT_FOUND``, ``WRONG_KIND``, ``DENIED_BY_SYSTEM``,
    ``VERSION_CONFLICT``). The methods block; an asynchronous tool calls them in a thread.
    """

    def open_read(self, relative: str) -> BinaryIO:
        """Open a file for reading."""
        ...

    def write_bytes(self, relative: str, data: bytes, expected_version: str | None = None) -> str:
        """Replace or create a file at once (temporary file, fsync, rename). Gives the new version."""
        ...

    def delete(self, relative: str, expected_version: str | None = None) -> None:
        """Remove a file."""
        ...

    def names(self, relative: str) -> list[str]:
        """The names in a folder, sorted; folders end in ``/``."""
        ...

    def kind(self, relative: str) -> str:
        """``file``, ``folder``, ``other``, or ``""`` where nothing is."""
        ...

    def version(self, relative: str) -> str | None:
        """The version of a file: a hash of its content; None where no file is."""
        ...


class Opening(msgspec.Struct, frozen=True, gc=False):
    """What the paths of one call are bound to.

    The handle, and for each text as written the canonical name that was judged.
    """

    files: Files | None = None
    names: Mapping[str, str] = EMPTY


class WorkspacePath(str):
    """A path inside the workspace: as a parameter type it makes the path judged, located and locked.

    Its text is the canonical path relative to the workspace root; ``written`` is what the model wrote, which
    may be a link to it. The methods open it through the workspace and block.
    """

    __slots__ = ("_files", "written")
    _files: Files | None
    written: str

    DESCRIPTION: ClassVar[str] = "A path inside the workspace, relative to its root."

    def __new__(cls, text: str, files: Files | None = None, written: str | None = None) -> Self:
        """A path, bound to ``files`` or to nothing yet."""
        self = super().__new__(cls, text)
        self._files = files
        self.written = text if written is None else written
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the text alone: a handle belongs to its process."""
        return WorkspacePath, (str(self),)

    @property
    def files(self) -> Files:
        """The handle.

        Raises:
            LocalProtocolError: The path is bound to no workspace: it did not come from a call.
        """
        if self._files is None:
            message = "this path is bound to no workspace; only the paths of a running call can be opened"
            raise LocalProtocolError(message, path=str(self))
        return self._files

    def open_read(self) -> BinaryIO:
        """Open the file for reading, as bytes."""
        return self.files.open_read(self)

    def read_bytes(self) -> bytes:
        """All of the file."""
        with self.files.open_read(self) as source:
            return source.read()

    def read_text(self) -> str:
        """All of the file as UTF-8. Raises ``UnicodeDecodeError`` where it is no text."""
        return self.read_bytes().decode()

    def write_bytes(self, data: bytes, expected_version: str | None = None) -> str:
        """Replace or create the file at once; gives the new version."""
        return self.files.write_bytes(self, data, expected_version)

    def write_text(self, text: str, expected_version: str | None = None) -> str:
        """``write_bytes`` of the text as UTF-8."""
        return self.write_bytes(text.encode(), expected_version)

    def delete(self, expected_version: str | None = None) -> None:
        """Remove the file."""
        self.files.delete(self, expected_version)

    def names(self) -> list[str]:
        """The names in the folder, sorted; folders end in ``/``."""
        return self.files.names(self)

    def kind(self) -> str:
        """``file``, ``folder``, ``other``, or ``""`` where nothing is."""
        return self.files.kind(self)

    def exists(self) -> bool:
        """Whether anything is there."""
        return bool(self.kind())

    def version(self) -> str | None:
        """The version of the file; None where no file is."""
        return self.files.version(self)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Text, then bound to what the validation context holds (a core schema is a plain dict.

        Nothing to import).
        """
        step = {"type": "with-info", "function": _bind}
        return {"type": "function-after", "function": step, "schema": handler(str), "metadata": {PATH: True}}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
        """A string with our format, and our own mark."""
        said = {"format": WORKSPACE_PATH_FORMAT, "description": cls.DESCRIPTION, PATH: [""]}
        return {**handler(core), **said}


def _bind(text: str, info: Any) -> WorkspacePath:
    opening = info.context
    if not isinstance(opening, Opening):
        return WorkspacePath(text)
    if opening.files is not None and text not in opening.names:
        raise ValueError("a path that nobody judged cannot be opened")
    return WorkspacePath(opening.names.get(text, text), opening.files, text)
