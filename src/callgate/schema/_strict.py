"""A provider's strict form of a tool's parameters, and the way back.

In: a tidy schema with a plain top; later, arguments that a model wrote to its strict form. Out: the closed
schema, or why there is none; the arguments as the tool's own schema means them. Promise: whatever arguments
fit the tool's schema (and name only its declared parameters) can be said in the strict form, and
``undo`` makes them the same again.

Strict form: every object is closed, every key required, an optional one may be null, defaults are told in
words. A map with free keys, or a value of any type, cannot be said: such a tool stays ordinary. Source:
OpenAI, Structured Outputs, "Supported schemas".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from callgate.calls import FrozenDict, FrozenList, pointer

from ._shape import allows_null, by_type, concerns, is_of, note, type_of, types_of
from ._tidy import ANNOTATIONS, Tidy, words
from ._walk import Path

Told = tuple[str, str]
"""A JSON Pointer, and what happened there."""


@dataclass(frozen=True, slots=True)
class Strictness:
    """A provider's strict mode: the keywords and formats it takes, and its limits over the whole schema.

    ``properties``, ``levels`` of nested objects, ``listed`` values of all enums, ``letters`` of all names and
    listed values.
    """

    keywords: frozenset[str]
    formats: frozenset[str]
    properties: int
    levels: int
    listed: int
    letters: int


_COMPOSED: Final = words("$ref allOf anyOf oneOf if then else dependentSchemas")
"""Keywords whose schemas may name parameters of the object they stand in."""
_SHAPE: Final = words(
    "type properties required additionalProperties patternProperties items prefixItems const enum"
)
"""Keywords that the shape itself takes care of."""
_NAMING: Final = words("properties patternProperties additionalProperties $ref items")
_HARD_PATTERN: Final = re.compile(r"\(\?|\\[1-9pPkbB]")
"""Look-around, back references and classes of Unicode, which a regular grammar does not have."""


def close(plain: Tidy, rules: Strictness) -> tuple[dict[str, Any] | None, list[Told], list[Told]]:
    """The strict form (``None`` if there is none), what it no longer says, and why there is none."""
    work = _Closing(plain, rules)
    top = work.top(plain.schema)
    definitions = {name: work.schema(held, ("$defs", name)) for name, held in plain.definitions.items()}
    whole = Tidy(top, definitions).whole()
    if not work.why_not:
        work.why_not += (("", what) for what in _excess(whole, rules))
    return (None if work.why_not else whole), work.dropped, work.why_not


class _Closing:
    """One run over one schema. What cannot be said is noted and the run goes on: one report names it all."""

    def __init__(self, plain: Tidy, rules: Strictness) -> None:
        self.plain = plain
        self.rules = rules
        self.dropped: list[Told] = []
        self.why_not: list[Told] = []

    def top(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """A tool without parameters is one, whether it says that the object is closed or not."""
        closed = (
            given
            if given["properties"] or "additionalProperties" in given
            else {**given, "additionalProperties": False}
        )
        return self.schema(closed, ())

    def schema(self, given: Mapping[str, Any], path: Path) -> dict[str, Any]:
        kinds = types_of(given)
        if len(kinds) > 1 and ("object" in kinds or "array" in kinds):
            return self.schema(by_type(given), path)
        out = {keyword: given[keyword] for keyword in ("title", "description") if keyword in given}
        branching = None if kinds else self._branching(given)
        if branching is not None:
            out["anyOf"] = self._branches(given[branching], (*path, branching))
        elif "$ref" in given and not kinds:
            # A reference takes nothing beside it.
            if len(given) > 1:
                out["anyOf"] = [{"$ref": given["$ref"]}]
            else:
                out["$ref"] = given["$ref"]
        else:
            self._typed(out, given, path)
        for keyword in given:
            if keyword not in out and keyword != branching:
                self._drop(out, given, keyword, (*path, keyword))
        return out

    def _branching(self, given: Mapping[str, Any]) -> str | None:
        found = [keyword for keyword in ("anyOf", "oneOf", "allOf") if keyword in given]
        # All of one is any of one.
        return found[0] if found and (found[0] != "allOf" or len(given["allOf"]) == 1) else None

    def _branches(self, given: list[Any], path: Path) -> list[Any]:
        branches = [self.schema(branch, (*path, place)) for place, branch in enumerate(given)]
        if path[-1] == "oneOf" and len(branches) > 1:
            self.dropped.append((pointer(path), "that only one alternative may fit is not taken; dropped"))
        firsts: dict[str, list[Any]] = {}
        for branch in branches:
            object_ = self.plain.target(branch["$ref"]) if "$ref" in branch else branch
            for name, first in list(object_.get("properties", {}).items())[:1]:
                firsts.setdefault(name, []).append(first)
        if any(len(held) > 1 and not _are_apart(held) for held in firsts.values()):
            self._cannot(path, "alternatives begin with the same key")
        return branches

    def _typed(self, out: dict[str, Any], given: Mapping[str, Any], path: Path) -> None:
        listed = [given["const"]] if "const" in given else given.get("enum")
        kinds = types_of(given) or list(dict.fromkeys(map(type_of, listed or ())))
        if not kinds:
            self._cannot(path, "a value of any type")
            return
        out["type"] = kinds[0] if len(kinds) == 1 else kinds
        if listed is not None:
            self._listed(out, listed, kinds, path)
        if kinds == ["object"]:
            self._object(out, given, path)
        elif kinds == ["array"]:
            if "prefixItems" in given or "items" not in given:
                self._cannot(path, "an array whose items are not all of one declared kind")
            else:
                out["items"] = self.schema(given["items"], (*path, "items"))

    def _listed(self, out: dict[str, Any], listed: list[Any], kinds: list[str], path: Path) -> None:
        held = [value for value in listed if is_of(value, kinds)]
        if not held or any(isinstance(value, dict | list) for value in held):
            self._cannot(path, "listed values that are not scalars of the declared type")
        out["enum"] = held

    def _object(self, out: dict[str, Any], given: Mapping[str, Any], path: Path) -> None:
        properties = given.get("properties", {})
        required = given.get("required", ())
        is_open = given.get("additionalProperties", None if properties else True)
        if is_open not in (None, False) or "patternProperties" in given:
            self._cannot(path, "a map with free keys")
        if not properties.keys() >= set(required):
            self._cannot(path, "a required parameter that is not declared")
        out["properties"] = {}
        for name, schema in properties.items():
            closed = self.schema(schema, (*path, "properties", name))
            out["properties"][name] = closed if name in required else self._nullable(closed, schema)
        out["required"] = list(properties)
        out["additionalProperties"] = False

    def _nullable(self, closed: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        if allows_null(schema, self.plain):
            return closed
        if "anyOf" in closed:
            return {**closed, "anyOf": [*closed["anyOf"], {"type": "null"}]}
        kinds = types_of(closed)
        if not kinds or "object" in kinds or "array" in kinds:
            told = {keyword: value for keyword, value in closed.items() if keyword in ANNOTATIONS}
            rest = {keyword: value for keyword, value in closed.items() if keyword not in told}
            return {**told, "anyOf": [rest, {"type": "null"}]}
        listed = {"enum": [*closed["enum"], None]} if "enum" in closed else {}
        return {**closed, "type": list(dict.fromkeys([*kinds, "null"])), **listed}

    def _drop(self, out: dict[str, Any], given: Mapping[str, Any], keyword: str, path: Path) -> None:
        """A keyword beside the shape: kept, told in words, or the reason why there is no strict form."""
        value = given[keyword]
        kinds = types_of(out)
        if kinds and (keyword in _SHAPE or not concerns(keyword, kinds)):
            return
        if keyword in _SHAPE or (keyword in _COMPOSED and (keyword == "$ref" or _names(value))):
            self._cannot(path, f"{keyword} beside what else describes the value")
        elif keyword in self.rules.keywords - _COMPOSED and self._is_taken(keyword, value) and kinds:
            out[keyword] = value
        else:
            if keyword not in ANNOTATIONS:
                self.dropped.append((pointer(path), "keyword not taken in strict form; dropped"))
            note(out, keyword, value)

    def _is_taken(self, keyword: str, value: Any) -> bool:
        if keyword == "format":
            return value in self.rules.formats
        return keyword != "pattern" or not _HARD_PATTERN.search(value)

    def _cannot(self, path: Path, what: str) -> None:
        self.why_not.append((pointer(path), what))


def _are_apart(firsts: list[Any]) -> bool:
    """Whether each alternative's first key has listed values that no other has: then it tells them apart."""
    seen: list[Any] = []
    for first in firsts:
        listed = [first["const"]] if "const" in first else first.get("enum", [])
        if not listed or any(value in seen for value in listed):
            return False
        seen += listed
    return True


def _names(value: Any) -> bool:
    if isinstance(value, dict):
        return not _NAMING.isdisjoint(value) or any(map(_names, value.values()))
    return isinstance(value, list) and any(map(_names, value))


def _excess(whole: Mapping[str, Any], rules: Strictness) -> Iterator[str]:
    properties = listed = letters = levels = 0
    open_: list[tuple[Any, int]] = [(whole, 0)]
    while open_:
        schema, level = open_.pop()
        named = {**schema.get("properties", {}), **schema.get("$defs", {})}
        level += "properties" in schema
        levels = max(levels, level)
        properties += len(schema.get("properties", ()))
        values = [value for value in schema.get("enum", ()) if isinstance(value, str)]
        listed += len(schema.get("enum", ()))
        letters += sum(map(len, [*named, *values]))
        inner = [*named.values(), *schema.get("anyOf", ())]
        open_ += ((part, level) for part in ([*inner, schema["items"]] if "items" in schema else inner))
    for what, found, most in (
        ("parameters", properties, rules.properties),
        ("levels of nested objects", levels, rules.levels),
        ("listed values", listed, rules.listed),
        ("letters in names and listed values", letters, rules.letters),
    ):
        if found > most:
            yield f"{found} {what}; at most {most}"


def undo(plain: Tidy, arguments: FrozenDict) -> FrozenDict:
    """Arguments of the strict form as the tool's own schema means them.

    ``null`` for an optional parameter that does not allow null means that it is absent, at every depth. Any
    other value stays as it is, also one that fits nothing: the checks have the last word.
    """
    if not _has_null(arguments):
        return arguments
    undone: FrozenDict = _Undoing(plain).undone(arguments, plain.schema)
    return undone


def _has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(item is None or _has_null(item) for item in value.values())
    return isinstance(value, list) and any(map(_has_null, value))


def _alternatives(schema: Mapping[str, Any], plain: Tidy) -> Iterator[Mapping[str, Any]]:
    """The schemas without alternatives of their own that a value may be meant for."""
    open_, seen = [schema], set()
    while open_:
        here = open_.pop()
        inner = [branch for keyword in ("anyOf", "oneOf", "allOf") for branch in here.get(keyword, ())]
        if "$ref" in here and here["$ref"] not in seen:
            seen.add(here["$ref"])
            inner.append(plain.target(here["$ref"]))
        if inner and "type" not in here:
            open_ += reversed(inner)
        else:
            yield here


class _Undoing:
    """The way back for one call: each value (kept, so its id stays its own) is seen once by each schema."""

    def __init__(self, plain: Tidy) -> None:
        self.plain = plain
        self.known: dict[tuple[int, int], tuple[Any, Any]] = {}
        self.fitting: dict[tuple[int, int], tuple[Any, bool]] = {}

    def undone(self, value: Any, schema: Mapping[str, Any]) -> Any:
        pair = (id(value), id(schema))
        if pair not in self.known:
            self.known[pair] = (value, self._undone(value, schema))
        return self.known[pair][1]

    def _undone(self, value: Any, schema: Mapping[str, Any]) -> Any:
        for alternative in _alternatives(schema, self.plain):
            if _may_be(value, alternative):
                undone = self._undone_as(value, alternative)
                if self._fits(undone, alternative):
                    return undone
        return self._undone_as(value, schema)

    def _undone_as(self, value: Any, schema: Mapping[str, Any]) -> Any:
        if isinstance(value, dict):
            properties, required = schema.get("properties", _NONE), schema.get("required", ())
            return FrozenDict(
                {
                    name: self.undone(item, properties.get(name, _NONE))
                    for name, item in value.items()
                    if item is not None
                    or name not in properties
                    or name in required
                    or allows_null(properties[name], self.plain)
                }
            )
        if isinstance(value, list):
            return FrozenList([self.undone(item, schema.get("items", _NONE)) for item in value])
        return value

    def _fits(self, value: Any, schema: Mapping[str, Any]) -> bool:
        """Whether a value is meant for an alternative: type, listed values, keys, and so on inside."""
        if not _may_be(value, schema) or not _is_listed(value, schema):
            return False
        if isinstance(value, dict):
            properties = schema.get("properties", _NONE)
            return value.keys() >= set(schema.get("required", ())) and all(
                name in properties and self._fits_any(item, properties[name]) for name, item in value.items()
            )
        if isinstance(value, list):
            return all(self._fits_any(item, schema.get("items", _NONE)) for item in value)
        return True

    def _fits_any(self, value: Any, schema: Mapping[str, Any]) -> bool:
        pair = (id(value), id(schema))
        if pair not in self.fitting:
            fits = any(self._fits(value, alternative) for alternative in _alternatives(schema, self.plain))
            self.fitting[pair] = (value, fits)
        return self.fitting[pair][1]


_BRANCHING: Final = words("anyOf oneOf allOf $ref")
_NONE: Final[Mapping[str, Any]] = FrozenDict()
"""Says nothing; one value, so that what was seen under it is found again."""


def _may_be(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value may be meant for an alternative, as far as type and listed scalars tell."""
    kinds = types_of(schema)
    if kinds and not is_of(value, kinds):
        return False
    if not isinstance(value, dict):
        return isinstance(value, list) or _is_listed(value, schema)
    return all(
        _is_listed(value[name], held)
        for name, held in schema.get("properties", _NONE).items()
        if isinstance(value.get(name), str | int | float) and not _BRANCHING.intersection(held)
    )


def _is_listed(value: Any, schema: Mapping[str, Any]) -> bool:
    if "const" in schema and not _same(value, schema["const"]):
        return False
    return "enum" not in schema or any(_same(value, listed) for listed in schema["enum"])


def _same(value: Any, other: Any) -> bool:
    """Equality of JSON values: Python takes ``True`` for 1."""
    return value == other and isinstance(value, bool) == isinstance(other, bool)
