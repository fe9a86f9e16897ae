"""Everything an author may declare of a tool, in one value.

In: keywords. Out: ``ToolOptions``. Promise: a word that is no option is refused with the nearest one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from callgate.calls import Effect, Example
from callgate.errors import ToolDeclarationError
from callgate.schema import nearest

from ._markers import Marker


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """What is declared beside the function.

    Args:
        effect: What it does to the world; by default what the first verb of its name says.
        name: What the model calls it; the function's own name by default.
        what: What it does; the docstring by default.
        when: When to use it.
        when_not: When not.
        instead: The tool to use then; it must exist when the set is linted.
        returns: What comes back; from the docstring by default.
        danger: What could go wrong; from the docstring's warning by default.
        tags: Words to choose tools by.
        phases: Phases of a task in which it is offered.
        examples: Requests in plain words with the arguments that answer them; each is validated.
        egress: It sends data out. By default true for a name like ``send_…`` and for tools with an address
            parameter.
        idempotent: The same idempotency key has one effect, so a lost call may run again.
        timeout_seconds: After this the call is given up; None means the gate's ceiling.
        check: A pure function, or several, that judges the values.
        reconcile: Finds out whether a lost call happened.
        choices: Lists the values that a parameter may take now.
        result_limit: Characters of a result before it is cut.
        polling: Calling it again with the same arguments makes sense.
        expected_version: The parameter that holds the version the model saw.
        accesses: Resources it touches, from ``reads`` and ``writes``.
        unguarded: For raw schemas: parameter (or its JSON Pointer) → why it needs no guard.
        sources: For raw schemas: parameter → where its value must come from.
        hints: For raw schemas: the ``annotations`` an MCP server gives; they may raise the class, never
            lower it.
        server: The MCP server it comes from: with the name, its identity for rules.
        replace: It takes the place of the tool of the same name.
    """

    effect: Effect | None = None
    name: str = ""
    what: str = ""
    when: str = ""
    when_not: str = ""
    instead: str = ""
    returns: str = ""
    danger: str = ""
    tags: Sequence[str] = ()
    phases: Sequence[str] = ()
    examples: Sequence[Example | tuple[str, Mapping[str, Any]]] = ()
    egress: bool | None = None
    idempotent: bool = False
    timeout_seconds: float | None = None
    check: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None
    reconcile: Callable[..., Any] | None = None
    choices: Callable[..., Any] | None = None
    result_limit: int = 20_000
    polling: bool = False
    expected_version: str = ""
    accesses: Sequence[Marker] = ()
    unguarded: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    hints: Mapping[str, Any] = field(default_factory=dict)
    server: str = ""
    replace: bool = False

    def but(self, **more: Any) -> ToolOptions:
        """The same with some changed.

        Raises:
            ToolDeclarationError: A name is no option, or the effect is none.
        """
        known = [one.name for one in dataclasses.fields(self)]
        for name in more:
            if name not in known:
                near = nearest(name, known)
                mend = f"did you mean {near!r}?" if near else "see ToolOptions"
                message = "this is no option of a tool"
                raise ToolDeclarationError(message, option=name, mend=mend)
        if "effect" in more:
            more["effect"] = _effect(more["effect"])
        return dataclasses.replace(self, **more)


def _effect(given: Any) -> Effect | None:
    try:
        return None if given is None else Effect(given)
    except ValueError as problem:
        message = "an effect is one of read, write, irreversible, execute"
        raise ToolDeclarationError(message, got=repr(given)) from problem
