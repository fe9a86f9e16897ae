"""A tool's parameters in the part of JSON Schema that a provider takes, and a report of what was lost.

In: a ``ToolDefinition`` and a provider's ``Rules``. Out: ``Lowered``. Promise: the schema obeys the rules,
whatever the tool's own is; everything it no longer says is a ``Loss``; what it no longer enforces is told in
words where there is a description to tell it in. The tool's own schema stays the one its calls are judged by,
so nothing gets through that was lost here.

One row of rules a provider; a further provider is a further row in its dialect's file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from callgate.calls import FrozenDict, ToolDefinition, freeze, pointer
from callgate.schema import (
    ANNOTATIONS,
    LIST,
    ONE,
    TABLE,
    Path,
    Report,
    Strictness,
    Tidy,
    by_type,
    close,
    note,
    plain_top,
    tidy,
)

from ._request import Loss

_CACHED: Final = 1024
"""Definitions kept: the same tools go out with every turn."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What one provider takes.

    ``keywords``: those it takes, all where ``None``; a ``const`` or ``oneOf`` that it does not take becomes
    an ``enum`` or ``anyOf``. ``formats``: the values of ``format`` it takes. ``plain_top``: the parameters
    must be one plain object. ``parameter_name``: a pattern for the names of parameters.
    ``description_limit``: characters of a tool's description, 0 for any. ``type_lists``: ``type`` may be a
    list. ``most_tools``: how many one request may offer, 0 for any. ``strict``: its strict mode, if any.
    """

    keywords: frozenset[str] | None = None
    formats: frozenset[str] | None = None
    plain_top: bool = True
    parameter_name: str = ""
    description_limit: int = 0
    type_lists: bool = True
    most_tools: int = 0
    strict: Strictness | None = None


@dataclass(frozen=True, slots=True)
class Lowered:
    """A tool as one provider is told of it.

    ``strict`` is whether the schema is in the provider's strict form; then ``plain`` is the schema before
    that, by which ``schema.undo`` reads the model's arguments back.
    """

    schema: FrozenDict
    description: str
    strict: bool
    losses: tuple[Loss, ...]
    plain: Tidy


class _ByDigest:
    """A definition as a key: hashing all of its schema would cost more than it saves."""

    __slots__ = ("definition",)

    def __init__(self, definition: ToolDefinition) -> None:
        self.definition = definition

    def __hash__(self) -> int:
        return hash(self.definition.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByDigest) and self.definition == other.definition


def lower_by(rules: Rules, definition: ToolDefinition, *, strict: bool = False) -> Lowered:
    """Lower one tool.

    With ``strict``, to the provider's strict form if it has one and the tool fits in; where it does not, to
    the ordinary form, and the losses say why. Never raises: the original schema may be anything.
    """
    return _lowered(rules, _ByDigest(definition), strict)


@lru_cache(maxsize=_CACHED)
def _lowered(rules: Rules, key: _ByDigest, strict: bool) -> Lowered:  # noqa: FBT001 - part of the cache's key
    definition = key.definition
    losses: list[Loss] = []

    def report(path: Path, what: str) -> None:
        losses.append(Loss(definition.name, pointer(path), what))

    plain = tidy(definition.parameters, report)
    if rules.plain_top:
        plain = plain_top(plain, report)
    description = _description(definition, rules.description_limit, report)
    if strict and rules.strict is not None:
        closed, dropped, why_not = close(plain, rules.strict)
        if closed is not None:
            losses += (Loss(definition.name, where, what) for where, what in dropped)
            return Lowered(freeze(closed), description, True, tuple(losses), plain)
        losses += (Loss(definition.name, where, f"not strict: {what}") for where, what in why_not)
    elif strict:
        report((), "not strict: this dialect has no strict form")
    schema = _Restricting(rules, report).whole(plain)
    return Lowered(freeze(schema), description, False, tuple(losses), plain)


def _description(definition: ToolDefinition, limit: int, report: Report) -> str:
    """The tool's description; where it must be shorter, what it does is cut, and the warnings stay."""
    said = definition.description
    text = said.text()
    if not limit or len(text) <= limit:
        return text
    report((), f"description cut from {len(text)} to {limit} characters")
    warnings = "\n".join(
        part for part in (said.danger and f"Danger: {said.danger}", said.effect_note) if part
    )
    tail = f"…\n{warnings}" if warnings and len(warnings) < limit // 2 else "…"
    return text[: limit - len(tail)] + tail


class _Restricting:
    """One run over one tidy schema: keeps what the rules take, fills in what providers miss."""

    def __init__(self, rules: Rules, report: Report) -> None:
        self.rules = rules
        self.report = report

    def whole(self, plain: Tidy) -> dict[str, Any]:
        definitions = {name: self.schema(held, ("$defs", name)) for name, held in plain.definitions.items()}
        top = self.schema(plain.schema, ())
        if self.rules.plain_top:
            self._names(top)
        return Tidy(top, definitions).whole()

    def schema(self, given: dict[str, Any], path: Path) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for keyword, value in given.items():
            here = (*path, keyword)
            kept = self._renamed(keyword, given)
            if kept is None:
                if keyword not in ANNOTATIONS:
                    self.report(here, "keyword not taken; dropped")
                note(out, keyword, value)
            elif kept == "format" and self.rules.formats is not None and value not in self.rules.formats:
                self.report(here, f"format {value!r} not taken; dropped")
                note(out, keyword, value)
            elif keyword == "const" and kept == "enum":
                out["enum"] = [value]
            else:
                out[kept] = self._inside(keyword, value, here)
        return self._filled(out)

    def _renamed(self, keyword: str, given: dict[str, Any]) -> str | None:
        taken = self.rules.keywords
        if taken is None or keyword in taken or keyword in ("type", "$ref", "description"):
            return keyword
        other = {"const": "enum", "oneOf": "anyOf"}.get(keyword)
        return other if other in taken and other not in given else None

    def _inside(self, keyword: str, value: Any, path: Path) -> Any:
        if keyword in ONE and isinstance(value, dict):
            return self.schema(value, path)
        if keyword in LIST:
            return [self.schema(branch, (*path, place)) for place, branch in enumerate(value)]
        if keyword in TABLE:
            return {name: self.schema(held, (*path, name)) for name, held in value.items()}
        return value

    def _filled(self, out: dict[str, Any]) -> dict[str, Any]:
        """Some providers refuse an array that does not say of what, and an object that names nothing."""
        kinds = out.get("type", ())
        kinds = (kinds,) if isinstance(kinds, str) else kinds
        if "array" in kinds:
            out.setdefault("items", {})
        if "object" in kinds:
            out.setdefault("properties", {})
        return out if self.rules.type_lists or isinstance(out.get("type", ""), str) else by_type(out)

    def _names(self, top: dict[str, Any]) -> None:
        """A parameter whose name is not taken is told in the description; the object is left open for it."""
        pattern = self.rules.parameter_name
        odd = [name for name in top["properties"] if pattern and not re.fullmatch(pattern, name)]
        for name in odd:
            self.report(("properties", name), "name not taken; told in the description, the object left open")
            note(top, "also takes the parameter", {name: top["properties"].pop(name)})
        if odd:
            top.pop("additionalProperties", None)
            top["required"] = [name for name in top.get("required", ()) if name not in odd]
