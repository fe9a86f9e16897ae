"""How a dialect writes: what each of them fills in, and what all of them share.

In: the values of ``_request``. Out: ``Writing``, a row of functions for each dialect, which ``_encode`` calls
in a fixed order. Promise: pure functions; what they return is JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from callgate.calls import ToolCall, ToolDefinition, Turn
from callgate.errors import LocalProtocolError

from ._lower import Lowered, Rules
from ._names import wire_name
from ._request import Answered, Encoded, Loss, Request, Said

Message = dict[str, Any]


class Told(NamedTuple):
    """A tool and its lowered form."""

    definition: ToolDefinition
    lowered: Lowered


@dataclass(frozen=True, slots=True)
class Writing:
    """A dialect's way out.

    ``ids``: the call ids its provider takes. ``said`` writes a plain message; ``heard`` an assistant's turn
    and the results of its calls, in call order; ``body`` puts the request together.
    """

    rules: Rules
    ids: re.Pattern[str]
    said: Callable[[Said], list[Message]]
    heard: Callable[[Turn, Sequence[Answered]], list[Message]]
    body: Callable[[Request, list[Message], Sequence[Told]], Encoded]


class Choice(NamedTuple):
    """Which calls the model may make: ``auto``, ``none``, ``required``, ``tool`` or ``""`` (not said)."""

    kind: str = ""
    tool: str = ""


_CHOICES: Final = ("auto", "none", "required")
_OWN: Final = frozenset(("strict", "tool_choice", "parallel_calls"))


def choice_of(request: Request) -> Choice:
    """The request's ``tool_choice``.

    Raises:
        LocalProtocolError: It is none of the forms, names a tool that is not offered, or requires a call
        where none is.
    """
    asked = request.parameters.get("tool_choice")
    if asked is None or (asked in _CHOICES[:2] and not request.tools):
        return Choice()
    if asked in _CHOICES and request.tools:
        return Choice(asked)
    offered = [definition.name for definition in request.tools]
    if isinstance(asked, dict) and asked.keys() == {"tool"} and asked["tool"] in offered:
        return Choice("tool", asked["tool"])
    message = 'tool_choice is "auto", "none", "required" or {"tool": name}, and the tool must be offered'
    raise LocalProtocolError(message, got=asked, offered=offered)


def parameters_as(request: Request, names: Mapping[str, str]) -> tuple[dict[str, Any], list[Loss]]:
    """The request's parameters under a provider's names.

    ``names``: callgate's name → the provider's, or ``""`` for what it does not have, which is a loss. A name
    that is not in it passes as it is.
    """
    out: dict[str, Any] = {}
    losses = []
    for name, value in request.parameters.items():
        own = names.get(name, name)
        if value is None or name in _OWN:
            continue
        if own:
            out[own] = value
        else:
            losses.append(Loss("", f"/{name}", "this dialect has no such parameter; left out"))
    return out, losses


def tool_fields(
    request: Request, told: Sequence[Told], tool: Callable[[Told], Message], named: Callable[[str], Message]
) -> dict[str, Any]:
    """The tools and the choice among them, as both APIs of OpenAI name them; none where no tool is offered.

    ``tool`` writes one tool, ``named`` the choice of the tool that has this name.
    """
    kind, chosen = choice_of(request)
    if not told:
        return {}
    fields: dict[str, Any] = {"tools": [tool(one) for one in told]}
    if kind:
        fields["tool_choice"] = named(wire_name(chosen)) if chosen else kind
    if (parallel := request.parameters.get("parallel_calls")) is not None:
        fields["parallel_tool_calls"] = parallel
    return fields


def arguments_text(call: ToolCall) -> str:
    """The argument text that may go back: what the model wrote where that was one JSON object, else ``{}``.

    A strict server parses the arguments of old turns too, and one broken text in a history makes it refuse
    every later request.
    """
    is_sound = call.fault is None and call.complete and call.arguments_text.strip()
    return call.arguments_text if is_sound else "{}"


def losses_of(told: Sequence[Told]) -> tuple[Loss, ...]:
    """What was lost of all tools."""
    return tuple(loss for tool in told for loss in tool.lowered.losses)
