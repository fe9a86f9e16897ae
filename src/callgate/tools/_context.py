"""What a running tool may ask of the gate: the injected ``Context``.

In: what the gate knows of the call, and its hooks. Out: a value that a parameter annotated ``Context``
receives; the model never sees it. Promise: it holds no clock and no task of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from callgate.calls import CallKey, Range, ToolResult
from callgate.errors import NestedCallError

from ._paths import Files


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a result that was cut."""

    text: str
    range: Range


class Paging(Protocol):
    """Where the rest of cut results can be read; implemented by the gate."""

    async def read(self, handle: str, start: int, end: int) -> Page:
        """Characters ``start`` (from 0) to before ``end`` of the result kept under ``handle``."""
        ...


def _never() -> bool:
    return False


def _ignore(_text: str) -> None:
    return None


async def _refuse(name: str, _arguments: Mapping[str, Any]) -> ToolResult:
    message = "this context belongs to no gate; a tool can call another only while a gate runs it"
    raise NestedCallError(message, tool=name)


@dataclass(frozen=True, slots=True)
class Hooks:
    """The gate's side of a context."""

    cancelled: Callable[[], bool] = _never
    progress: Callable[[str], None] = _ignore
    call: Callable[[str, Mapping[str, Any]], Awaitable[ToolResult]] = _refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Injected into a parameter annotated with it; hidden from the model.

    ``idempotency_key`` is the same in every try of this call: hand it to what can use it. ``attempt`` counts
    the tries from 1. ``deadline`` is in seconds of the event loop's monotonic clock. ``files`` opens paths,
    ``paging`` reads cut results on.
    """

    key: CallKey = CallKey()  # noqa: RUF009 - an immutable named tuple
    idempotency_key: str = ""
    attempt: int = 1
    deadline: float | None = None
    files: Files | None = None
    paging: Paging | None = None
    hooks: Hooks = Hooks()

    @property
    def run(self) -> str:
        """The run this call belongs to."""
        return self.key.run

    def cancelled(self) -> bool:
        """Whether the call should stop; a long synchronous tool asks now and then."""
        return self.hooks.cancelled()

    def progress(self, text: str) -> None:
        """Tell whoever watches how far the call is; the model does not see it."""
        self.hooks.progress(text)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call another tool through the gate: judged, recorded and scheduled like any call.

        Raises:
            NestedCallError: It could only wait for the calling tool itself, or no gate is there.
        """
        return await self.hooks.call(name, arguments)
