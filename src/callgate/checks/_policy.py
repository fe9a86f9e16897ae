"""Who may do what: a small typed table of rules over the effect classes.

In: a tool and the accesses of one call. Out: allow, ask or deny, with reasons for people. Promise: deny
beats ask beats allow; a rule about resources that cannot be sure which are touched forbids or asks and
never allows; nothing in a call's arguments speaks for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, TypeAlias, get_args

from callgate.calls import Access, Effect, digest
from callgate.errors import ConfigurationError
from callgate.tools import Tool

Word: TypeAlias = Literal["allow", "ask", "deny"]

_STRICTEST_FIRST: Final[tuple[Word, ...]] = ("deny", "ask", "allow")
_WHY: Final[dict[Effect, str]] = {
    Effect.READ: "it reads",
    Effect.WRITE: "it changes data",
    Effect.IRREVERSIBLE: "it cannot be taken back",
    Effect.EXECUTE: "it runs code",
}


@dataclass(frozen=True, slots=True)
class Permission:
    """What the policy says of one call. ``reasons`` are sentences for a person; empty when it is allowed."""

    decision: Word
    reasons: tuple[str, ...] = ()


_ALLOWED: Final = Permission("allow")


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of a policy: which calls it is about, and what is decided of them.

    Args:
        tool: Shell pattern over the tool's name, or over ``server/name`` for a tool of an MCP server. A rule
            that allows takes a pattern with ``/`` for the second and any other for the first, case counting;
            one that asks or denies tries both, since a server chooses the names of its tools.
        effect: Only tools of this class; its word will do.
        resource: Only calls that touch this resource or what is below it (``file:/src`` covers
            ``file:/src/a.py``); each step may be a shell pattern (``file:/src/*.py``, ``ticket:*``). A rule
            that allows is about calls of which *every* access is covered; one that asks or denies about
            calls of which *any* access may overlap, so it is also about tools that do not declare what they
            touch.
        decision: ``allow``, ``ask`` or ``deny``.
        reason: Why, for the person who is asked or the model that is refused.
        egress: Only tools that send data out, or only those that do not.

    Raises:
        ConfigurationError: The decision is none of the three, the effect or egress is none, or the pattern is
            empty.
    """

    tool: str = "*"
    effect: Effect | None = None
    resource: str = ""
    decision: Word = "ask"
    reason: str = ""
    egress: bool | None = None

    def __post_init__(self) -> None:
        """Refuse a rule that could not be meant."""
        _check_word(self.decision, "decision")
        if not self.tool:
            raise ConfigurationError("a rule needs a pattern for the tool; '*' is every tool", rule=str(self))
        if not (self.egress is None or isinstance(self.egress, bool)):
            raise ConfigurationError("egress of a rule is true, false or not said", got=repr(self.egress))
        object.__setattr__(self, "effect", _effect(self.effect))

    def __str__(self) -> str:
        """As a person reads it: ``deny delete_* on file:/src (reason)``."""
        parts = (
            self.decision,
            self.tool if self.tool != "*" else "every tool",
            self.effect and f"of class {self.effect}",
            self.egress is not None and ("that sends data out" if self.egress else "that sends no data out"),
            self.resource and f"on {self.resource}",
            self.reason and f"({self.reason})",
        )
        return " ".join(part for part in parts if part)

    def covers(self, tool: Tool, accesses: Sequence[Access]) -> bool:
        """Whether the rule is about this call."""
        if self.effect is not None and self.effect is not tool.effect:
            return False
        if self.egress is not None and self.egress is not tool.egress:
            return False
        return self._names(tool) and (not self.resource or self._touches(accesses))

    def _names(self, tool: Tool) -> bool:
        names = (tool.name, f"{tool.server}/{tool.name}") if tool.server else (tool.name,)
        if self.decision == "allow":
            named = names[1:] if "/" in self.tool else names[:1]
            return any(fnmatchcase(name, self.tool) for name in named)
        return any(fnmatchcase(name.casefold(), self.tool.casefold()) for name in names)

    def _touches(self, accesses: Sequence[Access]) -> bool:
        pattern = _steps(self.resource)
        if self.decision == "allow":
            touched = [_steps(access.resource) for access in accesses]
            return bool(touched) and all(
                len(pattern) <= len(steps) and _agree(pattern, steps) for steps in touched
            )
        return any(access.resource == "*" or _agree(pattern, _steps(access.resource)) for access in accesses)


def _steps(resource: str) -> list[str]:
    return resource.rstrip("/").split("/")


def _agree(pattern: Sequence[str], steps: Sequence[str]) -> bool:
    """Whether one lies on the way to the other."""
    return all(fnmatchcase(step, part) for part, step in zip(pattern, steps, strict=False))


def _effect(given: Any) -> Effect | None:
    try:
        return None if given is None else Effect(given)
    except ValueError as problem:
        raise ConfigurationError(
            "no tool is of this class", got=repr(given), known=[str(effect) for effect in Effect]
        ) from problem


def _check_word(word: object, where: str) -> None:
    if word not in get_args(Word):
        raise ConfigurationError(
            "a policy allows, asks or denies", where=where, got=word, known=get_args(Word)
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules, and what holds for each class of effect where no rule speaks.

    By default a read passes, a write passes when the other checks do, and what cannot be taken back or runs
    code asks. ``egress`` is for tools that send data out, beside their class: the stricter of the two
    holds.

    Raises:
        ConfigurationError: A default is not ``allow``, ``ask`` or ``deny``.
    """

    rules: tuple[Rule, ...] = ()
    read: Word = "allow"
    write: Word = "allow"
    irreversible: Word = "ask"
    execute: Word = "ask"
    egress: Word = "allow"

    def __post_init__(self) -> None:
        """Refuse a default that could not be meant; take rules from any sequence."""
        for field in dataclasses.fields(self)[1:]:
            _check_word(getattr(self, field.name), field.name)
        object.__setattr__(self, "rules", tuple(self.rules))

    def decide(self, tool: Tool, accesses: Sequence[Access]) -> Permission:
        """What holds for one call: the strictest rule about it, else the default of its class.

        A tool that always asks (an unguarded path in a schema from outside) asks whatever allows it.
        """
        permission = self._ruled(tool, accesses) if self.rules else None
        if permission is None:
            permission = self._default(tool)
        if tool.always_ask and permission.decision != "deny":
            return Permission("ask", (*permission.reasons, tool.always_ask))
        return permission

    def _ruled(self, tool: Tool, accesses: Sequence[Access]) -> Permission | None:
        about = [rule for rule in self.rules if rule.covers(tool, accesses)]
        for word in _STRICTEST_FIRST:
            reasons = tuple(
                rule.reason or f"the policy says: {rule}" for rule in about if rule.decision == word
            )
            if reasons:
                return _ALLOWED if word == "allow" else Permission(word, reasons)
        return None

    def _default(self, tool: Tool) -> Permission:
        of_class: Word = getattr(self, tool.effect)
        if of_class == "allow" and not tool.egress:
            return _ALLOWED
        said = {of_class: _WHY[tool.effect]}
        if tool.egress and self.egress not in said:
            said[self.egress] = "it sends data out"
        word = next(word for word in _STRICTEST_FIRST if word in said)
        return _ALLOWED if word == "allow" else Permission(word, (said[word],))

    @property
    def digest(self) -> str:
        """SHA-256 over all of it in canonical form: what the journal says a run was judged under."""
        return digest(dataclasses.asdict(self))
