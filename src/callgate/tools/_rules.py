"""A tool's own check functions, made ready at declaration and asked with typed values.

In: functions that take some of the tool's parameters by name, or one named ``arguments`` that gets the JSON
object. Out: findings of the business layer. Promise: an exception in a check is the refusal
``CHECK_FAILED``, never a pass; nothing of it reaches the model.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from callgate.calls import CODES, Finding, Layer
from callgate.errors import ToolDeclarationError
from callgate.schema import nearest

Check = Callable[..., Any]
_WHOLE: Final = "arguments"


@dataclass(frozen=True, slots=True)
class Rule:
    """One check: ``names`` are the parameters it takes; empty when it takes the arguments whole."""

    function: Check
    names: tuple[str, ...]

    def findings(self, typed: Mapping[str, Any], arguments: Mapping[str, Any]) -> tuple[Finding, ...]:
        """Ask it."""
        given = {name: typed.get(name) for name in self.names} if self.names else {_WHOLE: arguments}
        try:
            answer = self.function(**given)
            return _read(answer)
        except Exception:  # noqa: BLE001 - whatever an author's check raises, the call is not judged
            return (Finding("CHECK_FAILED", expected="the tool's own check to give an answer"),)


def make_rules(checks: Any, known: Iterable[str], tool: str) -> tuple[Rule, ...]:
    """Check the checks: one function or several.

    Raises:
        ToolDeclarationError: One is asynchronous, or takes a parameter that the tool does not have.
    """
    if checks is None:
        return ()
    return tuple(
        _rule(check, list(known), tool)
        for check in (checks if isinstance(checks, list | tuple) else (checks,))
    )


def _rule(check: Check, known: list[str], tool: str) -> Rule:
    if not callable(check) or inspect.iscoroutinefunction(check):
        message = "a check is a synchronous, pure function"
        raise ToolDeclarationError(
            message, tool=tool, mend="look up nothing in it; let the tool itself refuse"
        )
    names = [
        p.name
        for p in inspect.signature(check).parameters.values()
        if p.default is p.empty or p.name in known
    ]
    if names == [_WHOLE] and _WHOLE not in known:
        return Rule(check, ())
    for name in names:
        if name not in known:
            near = nearest(name, known)
            message = "the check takes a parameter that the tool does not have"
            mend = f"did you mean {near!r}?" if near else f"take {', '.join(known)} or 'arguments'"
            raise ToolDeclarationError(message, tool=tool, parameter=name, mend=mend)
    return Rule(check, tuple(names))


def _read(answer: Any) -> tuple[Finding, ...]:
    """None and true pass; false, a sentence, a finding or several of them do not."""
    if answer is None or answer is True:
        return ()
    if answer is False:
        return (Finding("RULE_BROKEN", expected="arguments that keep the tool's own rule"),)
    if isinstance(answer, str):
        return (Finding("RULE_BROKEN", expected=answer),) if answer else ()
    if isinstance(answer, Finding):
        return (
            (answer,)
            if _is_business(answer)
            else (Finding("RULE_BROKEN", answer.where, answer.expected, answer.mend),)
        )
    if isinstance(answer, list | tuple):
        return tuple(finding for one in answer for finding in _read(one))
    return (Finding("CHECK_FAILED", expected="a finding, a sentence, or nothing from the tool's own check"),)


def _is_business(finding: Finding) -> bool:
    row = CODES.get(finding.code)
    return row is not None and row.layer is Layer.BUSINESS
