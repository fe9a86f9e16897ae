"""One try of one call: what is to be run, and how far it is.

Plain state, changed by the executor alone; as a piece of work it hands itself to the executor.
"""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import anyio

from callgate.calls import Access, CallKey, LostSight, Raised, Reconciled, Returned, ToolCall
from callgate.tools import Context, Tool

Outcome = Returned | Raised | LostSight | Reconciled

_NO_CONTEXT: Final = Context()


@dataclass(slots=True, eq=False)
class Job:
    """One try of one call. ``report`` takes the entry; it is called on the event loop and never waits."""

    call: ToolCall
    tool: Tool | None
    accesses: tuple[Access, ...]
    attempt: int
    report: Callable[[Outcome], None]
    variables: contextvars.Context
    deadline: float
    context: Context = _NO_CONTEXT
    is_nested: bool = False
    reconciling: bool = False
    scope: anyio.CancelScope | None = None
    entered: bool = False
    settled: bool = False
    stopping: str = ""
    perform: Callable[[Job], Awaitable[None]] | None = None

    @property
    def key(self) -> CallKey:
        """The call's key."""
        return self.call.key

    @property
    def evidence(self) -> str:
        """What a person looks this try up by."""
        return f"{self.call.key}#{self.attempt}"

    async def run(self) -> None:
        """As a piece of work: run the tool and report; never raises."""
        if self.perform is not None:
            await self.perform(self)
