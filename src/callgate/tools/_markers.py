"""What an author says of a parameter beside its type.

Markers for ``Annotated``, some of them also options of a tool.

In: the author's words. Out: markers that ride through pydantic as ``x-callgate-…`` annotations of the
schema, so that they are found at any depth; they are taken out before the schema is published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from callgate.errors import ToolDeclarationError

PREFIX: Final = "x-callgate-"
READS: Final = PREFIX + "reads"
WRITES: Final = PREFIX + "writes"
UNGUARDED: Final = PREFIX + "unguarded"
SOURCE: Final = PREFIX + "source"
PATH: Final = PREFIX + "path"
"""Marks where a ``WorkspacePath`` stands. Not the published ``format``: that a server could write too."""

Source = Literal["request", "result", "any"]
SOURCES: Final = ("request", "result", "any")


@dataclass(frozen=True, slots=True)
class Marker:
    """One thing said of a parameter: ``key`` is one of this file's names, ``value`` what was said."""

    key: str
    value: str

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> Any:
        """Ride along in the schema."""
        schema = handler(core)
        return {**schema, self.key: [*schema.get(self.key, ()), self.value]}


def reads(resource: str = "") -> Marker:
    """The call reads a resource.

    ``reads("ticket:{id}")``, or without a template the path that the parameter holds.

    ``{name}`` stands for the value of the parameter of that name, percent-encoded, so that no value can name
    another resource. Beside a parameter (``Annotated[str, reads("ticket:{id}")]``) or as an option of the
    tool (``accesses=[…]``).
    """
    return Marker(READS, resource)


def writes(resource: str = "") -> Marker:
    """The call changes a resource; otherwise as ``reads``."""
    return Marker(WRITES, resource)


def unguarded(reason: str) -> Marker:
    """Let a path, command or URL parameter through as plain text. The reason stands in the lint findings.

    Raises:
        ToolDeclarationError: The reason is blank.
    """
    if not isinstance(reason, str) or not reason.strip():
        message = "unguarded() needs a reason that a reviewer can judge"
        raise ToolDeclarationError(message)
    return Marker(UNGUARDED, reason.strip())


def source(where: Source) -> Marker:
    """Where the value must come from: the user's ``request``, an earlier ``result``, or ``any`` of both.

    Raises:
        ToolDeclarationError: ``where`` is none of the three.
    """
    if where not in SOURCES:
        message = "a value comes from 'request', 'result' or 'any' of both"
        raise ToolDeclarationError(message, got=where)
    return Marker(SOURCE, where)
