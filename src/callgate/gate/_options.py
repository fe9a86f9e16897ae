"""How a gate is opened."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """Everything about a gate that has a good default.

    ``writes``: ``by-resource`` runs writes together unless they touch the same thing, ``serial`` runs every
    write in call order. ``timeout_seconds`` holds for tools that declare none; none may exceed
    ``timeout_ceiling``. ``can_ask`` is False where nobody can answer: a call that needs a person is refused
    then. An approval not given within ``approval_seconds`` expires. ``poll_seconds``: how often the inbox
    is read while a call waits. ``concurrency``: calls that run at once; ``threads``: synchronous ones among
    them. ``clock`` gives Unix seconds.
    """

    writes: Literal["by-resource", "serial"] = "by-resource"
    timeout_seconds: float = 60.0
    timeout_ceiling: float = 600.0
    can_ask: bool = True
    approval_seconds: float | None = None
    poll_seconds: float = 0.25
    concurrency: int = 64
    threads: int = 40
    lease_seconds: float = 30.0
    close_seconds: float = 5.0
    clock: Callable[[], float] = time.time
