"""Hearing one reply out.

In: the bytes of one reply, as a model hands them out. Out: its turn. Promise: whatever becomes of the
connection there is a turn, unless not one byte came; only a dialect's own completion makes one that may be
executed.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

import anyio

from callgate.calls import Finish, StreamEvent, StreamFault, Turn, TurnDone
from callgate.errors import TransportError
from callgate.wire import Decoder

CONNECTION_BROKE: Final = "CONNECTION_BROKE"
"""The fault of a turn that was cut because its connection broke."""
_TAIL_SECONDS: Final = 5.0
"""How long after a reply's own end the connection may stay open.

Its usage may still come, but some servers never hang up.
"""


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn, the SHA-256 of the bytes it came as, and those bytes where they are kept."""

    turn: Turn
    body_digest: str
    body: bytes = b""


async def listen(
    chunks: AsyncGenerator[bytes, None],
    decoder: Decoder,
    on_event: Callable[[StreamEvent], None] | None,
    deadline: float,
    *,
    keep_body: bool = False,
) -> Heard:
    """Feed a reply to a decoder until it ends, breaks off, or the deadline (of anyio's clock) passes.

    Raises:
        TransportError: The model could not be asked: no byte came.
    """
    told, pieces, broken = hashlib.sha256(), list[bytes](), None
    with anyio.CancelScope(deadline=deadline) as scope:
        begun = False
        try:
            async with aclosing(chunks):
                async for chunk in chunks:
                    begun = True
                    told.update(chunk)
                    if keep_body:
                        pieces.append(chunk)
                    for event in decoder.feed(chunk):
                        if on_event is not None:
                            on_event(event)
                        if isinstance(event, TurnDone):
                            scope.deadline = min(scope.deadline, anyio.current_time() + _TAIL_SECONDS)
        except TransportError as problem:
            if not begun:
                raise
            broken = problem
    turn = decoder.close()
    if broken is not None and turn.finish is Finish.CUT:
        kind = str(broken.facts.get("kind", ""))
        fault = StreamFault(CONNECTION_BROKE, str(broken), kind, retryable=broken.retryable)
        turn = replace(turn, faults=(*turn.faults, fault))
    return Heard(turn, told.hexdigest(), b"".join(pieces))
