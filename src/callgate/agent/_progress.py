"""Whether a loop still gets anywhere.

In: the calls and results of one round after the other. Out: how often the same came back, and how many
rounds in a row no call was admitted. Promise: the same rounds give the same counts, live and after a
recovery; no clock, no randomness.

A round is stale when each of its calls was made before in this run, with the same result: so A, A, A
counts, and A, B, A, B, and any longer circle, while a call whose result changed, or a single new call
beside old ones, starts the count again. The signature is the tool's name, the canonical arguments and the
result. Calls of polling tools are left out. Reads are also compared with every number in their arguments
struck out, since a counter in a field that does nothing is no progress; that count weighs half.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec import structs

from callgate.calls import CODES, Finding, Mender, Status, ToolCall, ToolResult, canonical, digest

_NUMBER: Final = re.compile(r"\d+")
_NOT_ADMITTED: Final = frozenset({Status.REFUSED, Status.NOT_RUN})
_EXHAUSTED: Final = "CALLS_EXHAUSTED"


@dataclass(slots=True)
class _Streak:
    """Stale rounds in a row."""

    rounds: int = 0
    seen: set[str] = field(default_factory=set)

    def add(self, signatures: set[str]) -> None:
        if signatures:
            self.rounds = self.rounds + 1 if signatures <= self.seen else 0
            self.seen |= signatures


@dataclass(slots=True)
class Progress:
    """The counts of a run. ``polling`` and ``reading`` are names of tools.

    ``stuck`` and ``stuck_unmendable`` are rounds in a row without an admitted call, counted apart by
    whether the model could mend any of its calls.
    """

    polling: frozenset[str] = frozenset()
    reading: frozenset[str] = frozenset()
    stuck: int = 0
    stuck_unmendable: int = 0
    _exact: _Streak = field(default_factory=_Streak)
    _loose: _Streak = field(default_factory=_Streak)

    @property
    def times(self) -> int:
        """How often the calls of the last round have been made, at least, with the results they gave."""
        return 1 + max(self._exact.rounds, self._loose.rounds // 2)

    def add(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> int:
        """Count one round, its results in call order; how often it came, 0 where nothing in it counts."""
        counted = [
            (call, result)
            for call, result in zip(calls, results, strict=True)
            if call.name not in self.polling and result.code != _EXHAUSTED
        ]
        self._exact.add({_signature(call, result) for call, result in counted})
        self._loose.add({_signature(call, result, call.name in self.reading) for call, result in counted})
        self._count_stuck(results)
        return self.times if counted else 0

    def forgive(self) -> None:
        """Start all counts again: someone looked at the run and let it go on."""
        self.stuck = self.stuck_unmendable = self._exact.rounds = self._loose.rounds = 0

    def _count_stuck(self, results: Sequence[ToolResult]) -> None:
        if any(result.status not in _NOT_ADMITTED for result in results):
            self.stuck = self.stuck_unmendable = 0
        elif any(code in CODES and CODES[code].mender is Mender.MODEL for code in _codes(results)):
            self.stuck += 1
        elif results:
            self.stuck_unmendable += 1


def warned(results: Iterable[ToolResult], times: int) -> tuple[ToolResult, ...]:
    """The same results, each saying that it came back ``times`` times."""
    finding = Finding("REPEATED_CALL", expected=f"something new: this came back {times} times")
    return tuple(structs.replace(result, findings=(*result.findings, finding)) for result in results)


def _codes(results: Iterable[ToolResult]) -> Iterable[str]:
    for result in results:
        yield result.code
        yield from (finding.code for finding in result.findings)


def _signature(call: ToolCall, result: ToolResult, loose: bool = False) -> str:  # noqa: FBT001, FBT002 - one flag, private
    arguments = call.arguments_text if call.fault else canonical(call.arguments).decode()
    # Not what names this one call: key, handle and evidence differ each time.
    told = [str(result.status), result.code, result.content, [[f.code, f.where] for f in result.findings]]
    return digest([call.name, _NUMBER.sub("#", arguments) if loose else arguments, told, result.version])
