"""What a tool, or its ``reconcile`` function, may return beside a plain value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from callgate.calls import Range


class Result(msgspec.Struct, frozen=True):
    """A value with what should stand beside it in the tool result.

    ``resource`` and ``version`` name what was read or written and its version now; ``next_range`` says where
    to read on; ``trusted`` says that the content is our own word and not text from outside; ``kept`` is a
    JSON value for the record alone, such as what was deleted.
    """

    content: Any
    resource: str = ""
    version: str = ""
    next_range: Range | None = None
    trusted: bool = False
    kept: Any = None


@dataclass(frozen=True, slots=True)
class Happened:
    """``reconcile`` found evidence that the effect took place.

    ``result`` is what the call would have returned.
    """

    result: Any = None


@dataclass(frozen=True, slots=True)
class DidNotHappen:
    """``reconcile`` found evidence that the effect did not take place."""


@dataclass(frozen=True, slots=True)
class CannotTell:
    """``reconcile`` found no evidence either way; a person decides."""


Reconciliation = Happened | DidNotHappen | CannotTell
