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
        result_limit: Characters of a result before it is cut.
        polling: Calling it again with the same arguments makes sense.
        expected_version: The parameter that holds the version the model saw.
        accesses: Resources it touches, from ``reads`` and ``writes``.
        unguarded: Parameter → why it needs no guard. One inside another is named by its JSON Pointer, with
            ``*`` for any item or name: ``/edits/*/file``.
        sources: Parameter → where its value must come from.
        hints: The ``annotations`` an MCP server gives; they may raise the class, never lower it.
        server: The MCP server it comes from: with the name, its identity for rules.
        replace: It takes the place of the tool of the same name.

    Raises:
        ToolDeclarationError: The effect is none, or an option has a value of another kind.
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
    result_limit: int = 20_000
    polling: bool = False
    expected_version: str = ""
    accesses: Sequence[Marker] = ()
    unguarded: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    hints: Mapping[str, Any] = field(default_factory=dict)
    server: str = ""
    replace: bool = False

    def __post_init__(self) -> None:
        """Refuse what could not be meant: a word taken for its letters, a number for a yes."""
        object.__setattr__(self, "effect", _effect(self.effect))
        for name in ("tags", "phases"):
            held = getattr(self, name)
            if isinstance(held, str) or not all(isinstance(word, str) for word in held):
                raise _other(name, held, "a list of words")
        for name in ("egress", "idempotent", "polling", "replace"):
            held = getattr(self, name)
            if not isinstance(held, bool) and (held is not None or name != "egress"):
                raise _other(name, held, "true or false")
        for name in ("unguarded", "sources", "hints"):
            held = getattr(self, name)
            if not isinstance(held, Mapping):
                raise _other(name, held, "names with what is said of each")

    def but(self, **more: Any) -> ToolOptions:
        """The same with some changed.

        Raises:
            ToolDeclarationError: A name is no option, or a value is of another kind.
        """
        known = [one.name for one in dataclasses.fields(self)]
        for name in more:
            if name not in known:
                near = nearest(name, known)
                mend = f"did you mean {near!r}?" if near else "see ToolOptions"
                message = "this is no option of a tool"
                raise ToolDeclarationError(message, option=name, mend=mend)
        return dataclasses.replace(self, **more)


def _other(option: str, got: Any, mend: str) -> ToolDeclarationError:
    message = "the option has a value of another kind"
    return ToolDeclarationError(message, option=option, got=repr(got), mend=f"give {mend}")


def _effect(given: Any) -> Effect | None:
    try:
        return None if given is None else Effect(given)
    except ValueError as problem:
        message = "an effect is one of read, write, irreversible, execute"
        raise ToolDeclarationError(message, got=repr(given)) from problem
