"""Names and ids that every provider takes.

In: a tool's name; the call ids of a history, as providers said them. Out: names within
``[a-zA-Z0-9_-]{1,64}``; ids that are unique in the request. Promise: the same input gives the same output,
whatever stands beside it; two names never become one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from callgate.calls import ToolCall, ToolResult

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""OpenAI and Anthropic, the rule for a function's name."""
_MAPPED: Final = re.compile(r".*-x[0-9a-f]{20}", re.DOTALL)
_STEM: Final = 42


def wire_name(name: str) -> str:
    """The name under which a tool goes out: its own where all providers take it, else a stem and a digest.

    The digest is of the whole name (80 bits), so two long names that differ in the last character stay two,
    and the mapping does not depend on which other tools there are. A plain name that looks mapped is mapped
    too: nobody can take the place of another tool. To read it back, look it up among the names of the tools
    that were offered; it is never taken apart.
    """
    if _NAME.fullmatch(name) and not _MAPPED.fullmatch(name):
        return name
    stem = re.sub(r"[^a-zA-Z0-9_-]+", "_", name)[:_STEM] or "tool"
    return f"{stem}-x{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:20]}"


class WireIds:
    """An id for each call of a request: the provider's where it fits and is new, else a derived one.

    Providers leave ids out, repeat them in a turn, or count them anew each turn, and strict ones refuse a
    request in which an id stands twice. The derived id has nine letters and digits, the narrowest rule met
    (Mistral: exactly nine).
    """

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._fits = pattern.fullmatch
        self._taken: set[str] = set()

    def of(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> list[str]:
        """One id for each call, in call order. ``results`` are paired already; their keys know the turn."""
        own = [call.call_id if call.call_id and self._fits(call.call_id) else "" for call in calls]
        given: list[str] = []
        for position, result in enumerate(results):
            wire_id = own[position]
            if not wire_id or wire_id in self._taken:
                wire_id = self._derived(result, position, {*own[position + 1 :]})
            self._taken.add(wire_id)
            given.append(wire_id)
        return given

    def _derived(self, result: ToolResult, position: int, later: set[str]) -> str:
        place = f"{result.key.turn}.{result.key.attempt}.{position}"
        salt = 0
        while True:
            wire_id = "c" + hashlib.sha256(f"{place}.{salt}".encode()).hexdigest()[:8]
            if wire_id not in self._taken and wire_id not in later:
                return wire_id
            salt += 1
