"""What must be looked up in the world before a call is judged, and who looks it up.

In: a tool's touches. Out: ``Facts``. Promise: the looking up is done by the ``World`` that is handed in;
nothing is opened here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, runtime_checkable

import msgspec

from callgate.calls import Finding, Mode


class Touch(msgspec.Struct, frozen=True, gc=False):
    """Something one call reaches for: the place in its arguments (JSON Pointer), the text there, and how.

    ``kind`` is ``path`` (``text`` is what the model wrote, still to be located) or ``resource`` (``text`` is
    canonical already).
    """

    where: str
    text: str
    mode: Mode
    kind: Literal["path", "resource"]


@dataclass(frozen=True, slots=True)
class Located:
    """Where a path leads: ``relative`` to the root, and the canonical ``resource`` (``file:/src/a.py``.

    The root is ``file:/``).

    ``version`` is None where no file is.
    """

    text: str
    relative: str
    resource: str
    exists: bool = False
    version: str | None = None


class PathResolver(Protocol):
    """Finds out where a path really leads."""

    def locate(self, text: str, mode: Mode) -> Located | Finding:
        """Locate a path as a model wrote it, or say why not.

        The findings are ``OUTSIDE_WORKSPACE``, ``PATH_UNUSABLE`` and ``DENIED_BY_SYSTEM``.
        """
        ...


class Versions(Protocol):
    """Knows the current version of a resource."""

    def version(self, resource: str) -> str | None:
        """The version of a canonical resource; None where nothing is."""
        ...


class World(PathResolver, Versions, Protocol):
    """What the gate asks before it judges a call."""


@runtime_checkable
class Keeper(Protocol):
    """A world that holds on to what a call took away until that is recorded."""

    def recorded(self, resource: str, idempotency_key: str) -> None:
        """What the call took from this resource is in the journal, durably; also said again after a crash."""
        ...


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found: for each path as it was written where it leads or why not.

    For each resource its version. Not by place: a map's key and its value have one pointer.
    """

    located: Mapping[str, Located | Finding] = field(default_factory=dict)
    versions: Mapping[str, str | None] = field(default_factory=dict)


NO_FACTS: Final = Facts()
"""For a call that touches nothing that must be looked up."""
