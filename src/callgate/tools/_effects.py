"""The effect class of a tool: declared, or derived from the first verb of its name; and what follows from it.

In: a declaration, a name, the hints of an MCP server. Out: an ``Effect``. Promise: a hint may raise a class
and never lowers one; what nobody classed is an error for a function of ours and irreversible for a tool from
outside.

MCP 2025-11-25, ToolAnnotations: ``destructiveHint`` is true by default where ``readOnlyHint`` is false.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from callgate.calls import Effect, Mode

VERBS: Final[dict[str, Effect]] = {
    **dict.fromkeys(("read", "get", "list", "search"), Effect.READ),
    **dict.fromkeys(("create", "update", "write"), Effect.WRITE),
    **dict.fromkeys(("delete", "drop", "send", "deploy", "pay"), Effect.IRREVERSIBLE),
    **dict.fromkeys(("run", "exec"), Effect.EXECUTE),
}
"""First word of a name → the class it says."""

NOTES: Final[dict[Effect, str]] = {
    Effect.READ: "Read only.",
    Effect.WRITE: "Changes data.",
    Effect.IRREVERSIBLE: "Irreversible, needs approval.",
    Effect.EXECUTE: "Runs code, needs approval.",
}
"""What the model is told of the class; the author cannot say otherwise."""

MODES: Final[dict[Effect, Mode]] = dict.fromkeys(Effect, Mode.WRITE) | {Effect.READ: Mode.READ}
"""How a tool of the class touches what it declares without saying how; everything if it declares nothing."""

RANK: Final[dict[Effect, int]] = {effect: rank for rank, effect in enumerate(Effect)}
"""Read, write, irreversible, execute: each asks for at least the care of the one before."""

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words(name: str) -> list[str]:
    """The words of a name in snake, kebab, dotted or camel case, in lower case."""
    return [word.lower() for word in _WORDS.findall(name)]


def said_by_name(name: str) -> Effect | None:
    """The class that the first verb of a name says, if it is a known one."""
    return VERBS.get(next(iter(words(name)), ""))


def raised_by_hints(effect: Effect, hints: Mapping[str, Any]) -> Effect:
    """The class after an MCP server's hints: never lower than before."""
    hinted = Effect.READ
    if hints.get("readOnlyHint") is False:
        hinted = Effect.WRITE if hints.get("destructiveHint") is False else Effect.IRREVERSIBLE
    elif hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True:
        hinted = Effect.IRREVERSIBLE
    return max(effect, hinted, key=RANK.__getitem__)
