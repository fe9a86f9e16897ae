"""What a dialect is: one provider's wire format as a row of the table ``DIALECTS``.

In: nothing. Out: the row and the port. Promise: the decoder knows of a dialect only what stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import msgspec

from callgate.calls import StreamEvent

from ._assembly import Assembly
from ._loose import Loose


class DialectState(Protocol):
    """A dialect's side of one response."""

    assembly: Assembly

    def take(self, event: Any, out: list[StreamEvent]) -> None:
        """Take in one event: a struct of the dialect's event type, or a chunk if the framing is ``raw``."""
        ...

    def take_all(self, events: Iterable[Any], out: list[StreamEvent]) -> None:
        """Take in many events, as ``take`` one by one would; this is where the time goes."""
        ...

    def end(self) -> None:
        """The stream ended: close what its end closes."""
        ...

    def copy(self, assembly: Assembly) -> Self:
        """The same state over a copy of the assembly."""
        ...


def as_it_is(loose: Loose) -> Loose:
    """The mending of a dialect that needs none."""
    return loose


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How a dialect is read.

    ``framing``: ``sse``, ``ndjson`` or ``raw``. ``event``: the struct that one event decodes to. ``state``:
    makes the state of one response. ``mend``: brings an event that the struct refuses into the shape that
    it takes.
    """

    framing: str
    state: Callable[[Assembly], DialectState]
    event: type[msgspec.Struct] = msgspec.Struct
    mend: Callable[[Loose], Loose] = as_it_is
