"""The risk class of a parameter: what a model could reach through it.

In: a schema, of ours or from outside. Out: for each parameter a class, by type first, then by name, then by
description. Promise: a guard type or a closed set of values is never called a risk; open text that speaks of
a path, a command or an address is, at any depth.

``value``: numbers, booleans, closed sets, ids and dates. ``structured``: objects, and lists of anything but
what is followed. ``path``, ``command``, ``url``: text that some system will follow. ``free_text``: any other
text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from callgate.calls import pointer
from callgate.schema import Path, children, resolve, target, types_of

from ._followed import BY_FORMAT, FOLLOWED, Risk, by_words, is_narrow
from ._markers import PATH, SOURCE, UNGUARDED


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool, for checks and lint.

    ``name`` joins the names on the way with dots; ``where`` is its JSON Pointer, with ``*`` for any item or
    name. ``guarded`` says that a path, command or URL cannot escape, or was let through;
    ``unguarded_reason`` is why it was. ``source`` is ``request``, ``result`` or ``any`` of both where the
    value must occur, ``""`` where nobody asked for that.
    """

    name: str
    kind: Risk = "value"
    guarded: bool = True
    required: bool = False
    description: str = ""
    source: str = ""
    where: str = ""
    unguarded_reason: str = ""


def classify(schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Every listed parameter of a tool's schema, each followed by the paths, commands and URLs nested in it.

    Then those that stand elsewhere: under a reference or an alternative at the top, or a free name.
    """
    required = schema.get("required") or ()
    found: list[Parameter] = []
    for name, subschema in (schema.get("properties") or {}).items():
        place = _Place(schema, (name,), (name,))
        found.append(_parameter(place, subschema, required=name in required))
        found.extend(_nested(place, subschema, set()))
    unlisted = {keyword: held for keyword, held in schema.items() if keyword != "properties"}
    found.extend(_nested(_Place(schema, (), ()), unlisted, set()))
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a schema stands.

    ``names`` are the properties on the way, ``path`` has ``*`` for items and free names.
    """

    document: Mapping[str, Any]
    names: tuple[str, ...]
    path: Path

    def below(self, step: str | None) -> _Place:
        if step is None:
            return _Place(self.document, self.names, (*self.path, "*"))
        return _Place(self.document, (*self.names, step), (*self.path, step))


_BRANCHES: Final = frozenset({"anyOf", "oneOf", "allOf", "if", "then", "else"})
_SAME: Final = _BRANCHES | {"dependentSchemas", "dependencies"}
_ITEMS: Final = frozenset({"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"})
_FREE: Final = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties"})
"""Members whose names the caller chooses."""


def _nested(place: _Place, schema: Any, seen: set[int]) -> Iterator[Parameter]:
    """What is followed, or has a source, in the members of objects.

    Through arrays, maps and alternatives, once.
    """
    if not isinstance(schema, dict) or id(schema) in seen:
        return
    seen.add(id(schema))
    yield from _nested(place, target(place.document, schema), seen)
    for steps, child in children(schema):
        if steps[0] == "properties" or steps[0] in _FREE:
            below = place.below(str(steps[1]) if steps[0] == "properties" else None)
            parameter = _parameter(below, child)
            if parameter.kind in FOLLOWED or parameter.source:
                yield parameter
            yield from _nested(below, child, seen)
        elif steps[0] in _SAME or steps[0] in _ITEMS:
            yield from _nested(place if steps[0] in _SAME else place.below(None), child, seen)


def _parameter(place: _Place, schema: Any, *, required: bool = False) -> Parameter:
    leaves = tuple(_leaves(place.document, schema, set()))
    description = str(resolve(place.document, schema).get("description") or "")
    reasons, sources = _said(leaves, UNGUARDED), _said(leaves, SOURCE)
    kind = _kind(leaves, place.names[-1] if place.names else "", description)
    is_guarded = (
        kind not in FOLLOWED or bool(reasons) or all(PATH in leaf for leaf in leaves if _is_text(leaf))
    )
    return Parameter(
        name=".".join(place.names) or "*",
        kind=kind,
        guarded=is_guarded,
        required=required,
        description=description,
        source=sources[0] if sources else "",
        where=pointer(place.path),
        unguarded_reason="; ".join(reasons),
    )


def _leaves(document: Any, schema: Any, seen: set[int]) -> Iterator[dict[str, Any]]:
    """The schemas that judge the value itself, or an item of it.

    References, alternatives and arrays opened.
    """
    if not isinstance(schema, dict) or id(schema) in seen:
        return
    seen.add(id(schema))
    yield schema
    yield from _leaves(document, target(document, schema), seen)
    for steps, child in children(schema):
        if steps[0] in _BRANCHES or steps[0] in _ITEMS:
            yield from _leaves(document, child, seen)


def _said(leaves: tuple[dict[str, Any], ...], key: str) -> list[str]:
    return list(dict.fromkeys(text for leaf in leaves for text in leaf.get(key, ())))


_CLOSED: Final = frozenset({"enum", "const"})
_ONLY_A_WAY: Final = frozenset(
    {"$ref", "anyOf", "oneOf", "allOf", "items", "prefixItems", "properties", "additionalProperties"}
)


def _is_text(leaf: Mapping[str, Any]) -> bool:
    """Whether any text may stand there.

    Not a closed set, not another type, not only a way to other schemas.
    """
    if _CLOSED.intersection(leaf):
        return False
    types = types_of(leaf)
    return "string" in types if types else not _ONLY_A_WAY.intersection(leaf)


def _kind(leaves: tuple[dict[str, Any], ...], name: str, description: str) -> Risk:
    kinds = [_text_kind(leaf, name, description) for leaf in leaves if _is_text(leaf)]
    followed = next((kind for kind in kinds if kind in FOLLOWED), None)
    if followed:
        return followed
    if any({"object", "array"}.intersection(types_of(leaf)) or "properties" in leaf for leaf in leaves):
        return "structured"
    return "free_text" if "free_text" in kinds else "value"


def _text_kind(leaf: Mapping[str, Any], name: str, description: str) -> Risk:
    if PATH in leaf:
        return "path"
    if by_format := BY_FORMAT.get(str(leaf.get("format", ""))):
        return by_format
    kind = by_words(name, str(leaf.get("description") or description))
    pattern = leaf.get("pattern")
    return "value" if kind in FOLLOWED and isinstance(pattern, str) and is_narrow(pattern, kind) else kind
