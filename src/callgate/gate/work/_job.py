"""One try of one call: what is to be run, and how far it is.

Plain state, changed by the executor alone; as a piece of work it hands itself to the executor.
"""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
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
    turnstile: list[None] = field(default_factory=lambda: [None])

    @property
    def key(self) -> CallKey:
        """The call's key."""
        return self.call.key

    @property
    def evidence(self) -> str:
        """What a person looks this try up by."""
        return f"{self.call.key}#{self.attempt}"

    def enters(self) -> bool:
        """Whether the function may be called; from then on nobody can say that it was not.

        The thread that is about to call it meets the loop that gives the job up: one of them passes.
        """
        self.entered = passes(self.turnstile)
        return self.entered

    async def run(self) -> None:
        """As a piece of work: run the tool and report; never raises."""
        if self.perform is not None:
            await self.perform(self)


def passes(turnstile: list[None]) -> bool:
    """Whether nobody came through before; a pop is one step, whichever threads meet here."""
    try:
        turnstile.pop()
    except IndexError:
        return False
    return True
