"""What is asked of a model, before a dialect writes it down.

In: nothing. Out: the values of a request and of its encoded form. Promise: data only; a dialect reads these
and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from callgate.calls import EMPTY, FrozenDict, ToolCall, ToolDefinition, ToolResult, Turn


@dataclass(frozen=True, slots=True)
class Said:
    """A message in plain text. ``role`` is ``user``, ``system`` or ``assistant``."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn and the results of its calls: the atom of a history, kept or dropped whole."""

    turn: Turn
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """Everything one request says.

    ``parameters`` are named as callgate names them: ``temperature``, ``max_tokens``, ``stop`` (a list of
    texts), ``tool_choice`` (``"auto"``, ``"none"``, ``"required"`` or ``{"tool": name}``), ``parallel_calls``
    and ``strict`` (booleans). A dialect maps them to its own names; any other name goes into the body as it
    is, for what only one provider has. ``None`` leaves a parameter out.
    """

    model: str
    system: str = ""
    history: tuple[Said | Exchange, ...] = ()
    tools: tuple[ToolDefinition, ...] = ()
    parameters: FrozenDict = field(default=EMPTY)


@dataclass(frozen=True, slots=True)
class Loss:
    """Something of a request that a dialect cannot say.

    ``where`` is a JSON Pointer into the tool's parameters; where ``tool`` is empty, into the request.
    """

    tool: str
    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Encoded:
    """A request as it goes out.

    ``path`` is relative to the provider's base URL. ``tool_part`` is that part of ``body`` which tells the
    tools, so that its size can be counted: a JSON value, or ``None`` when no tool was offered.
    """

    path: str
    body: dict[str, Any]
    tool_part: Any = None
    losses: tuple[Loss, ...] = ()


class Answered(NamedTuple):
    """A call, its result, and the id that pairs them in this request."""

    wire_id: str
    call: ToolCall
    result: ToolResult
