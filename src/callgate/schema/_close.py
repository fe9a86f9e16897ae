"""Closing objects: a name that no schema lists is refused and not dropped.

In: a schema. Out: a copy in which every object that lists its properties, and does not itself speak of
others, has ``additionalProperties: false``. Promise: no value that names listed properties only is refused
by it; an object whose properties are put together from several schemas stays as it is, since each alone does
not know the names of the others.

JSON Schema 2020-12 core section 10.2 (in-place applicators) and 10.3.2.3 (``additionalProperties``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ._walk import children, rebuild, subschemas, target

_TOGETHER: Final = frozenset({"allOf", "if", "then", "else", "not", "dependentSchemas", "dependencies"})
"""What stands under these judges the same object as the schema around it."""
_EITHER: Final = frozenset({"anyOf", "oneOf"})
_IN_PLACE: Final = _TOGETHER | _EITHER
_NAMERS: Final = frozenset(
    {"additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames", "$dynamicRef"}
)
"""Keywords that speak of names which no ``properties`` lists."""


def close_objects(schema: Any) -> Any:
    """Close every object that can be closed. A free-form map (no ``properties``) is none of them."""
    shared = {id(one) for one in _shared(schema)}

    def close(copy: dict[str, Any], original: dict[str, Any]) -> dict[str, Any]:
        if id(original) in shared or not isinstance(copy.get("properties"), dict):
            return copy
        known = copy["properties"].keys()
        is_whole = all(
            not _NAMERS.intersection(one) and known >= (one.get("properties") or {}).keys()
            for one in _in_place(schema, original)
        )
        return {**copy, "additionalProperties": False} if is_whole else copy

    return rebuild(schema, close)


def _shared(document: Any) -> Iterator[dict[str, Any]]:
    """The schemas that judge an object together with another one that may list other names."""
    for _, schema in subschemas(document):
        if not isinstance(schema, dict):
            continue
        is_joined = "properties" in schema or sum(keyword in schema for keyword in (*_EITHER, "$ref")) > 1
        for keyword, child in _beside(document, schema):
            if keyword in _TOGETHER or is_joined:
                yield from _in_place(document, child)


def _in_place(document: Any, schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and those that judge the same value with it, each once."""
    waiting, seen = [schema], set()
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict) and id(current) not in seen:
            seen.add(id(current))
            yield current
            waiting.extend(child for _, child in _beside(document, current))


def _beside(document: Any, schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for steps, child in children(schema):
        if steps[0] in _IN_PLACE:
            yield str(steps[0]), child
    if "$ref" in schema:
        yield "$ref", target(document, schema)
