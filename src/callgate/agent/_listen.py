"""Hearing one reply out.

In: the bytes of one reply, as a model hands them out. Out: its turn. Promise: whatever becomes of the
connection there is a turn, unless not one byte came; only a dialect's own completion makes one that may be
executed.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

import anyio

from callgate.calls import StreamEvent, Turn, TurnDone
from callgate.errors import TransportError
from callgate.wire import Decoder

_TAIL_SECONDS: Final = 5.0
"""How long after a reply's own end the connection may stay open.

Its usage may still come, but some servers never hang up.
"""


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn, the SHA-256 of the bytes it came as, and what broke the connection, if anything did."""

    turn: Turn
    body_digest: str
    detail: str


async def listen(
    chunks: AsyncGenerator[bytes, None],
    decoder: Decoder,
    on_event: Callable[[StreamEvent], None] | None,
    deadline: float,
) -> Heard:
    """Feed a reply to a decoder until it ends, breaks off, or the deadline (of anyio's clock) passes.

    Raises:
        TransportError: The model could not be asked: no byte came.
    """
    body, detail = hashlib.sha256(), ""
    with anyio.CancelScope(deadline=deadline) as scope:
        begun = False
        try:
            async with aclosing(chunks):
                async for chunk in chunks:
                    begun = True
                    body.update(chunk)
                    for event in decoder.feed(chunk):
                        if on_event is not None:
                            on_event(event)
                        if isinstance(event, TurnDone):
                            scope.deadline = min(scope.deadline, anyio.current_time() + _TAIL_SECONDS)
        except TransportError as problem:
            if not begun:
                raise
            detail = str(problem)
    return Heard(decoder.close(), body.hexdigest(), detail)
