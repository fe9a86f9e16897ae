"""Moving about in a JSON Schema: its subschemas, its references, the place a pointer names.

In: a schema as data. Out: the subschemas with their places. Promise: keywords that hold data (``enum``, ``const``, ``default``,
``examples``) are never taken for schemas; a reference is followed inside the document only.

JSON Schema 2020-12 core section 10 and draft-07 section 9 for which keyword holds schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from callgate.calls import pointer

Path = tuple[str | int, ...]

_ONE: Final = (
    *("not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "additionalItems"),
    *("unevaluatedProperties", "unevaluatedItems", "contentSchema"),
)
_MANY: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED: Final = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")


def children(schema: Any) -> Iterator[tuple[Path, Any]]:
    """The subschemas directly inside a schema, each with the steps that lead to it."""
    if not isinstance(schema, dict):
        return
    for keyword in _ONE:
        if keyword in schema:
            yield (keyword,), schema[keyword]
    for keyword in (*_MANY, "items"):
        found = schema.get(keyword)
        if isinstance(found, list):
            yield from (((keyword, place), item) for place, item in enumerate(found))
        elif keyword == "items" and found is not None:
            yield (keyword,), found
    for keyword in (*_NAMED, "dependencies"):
        found = schema.get(keyword)
        if isinstance(found, dict):
            # A draft-07 dependency may be a list of names, which is no schema.
            yield from (((keyword, name), item) for name, item in found.items() if not isinstance(item, list))


def subschemas(schema: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """A schema and all below it, outermost first, each with its path."""
    waiting = [(path, schema)]
    while waiting:
        here, current = waiting.pop()
        yield here, current
        waiting.extend(((*here, *steps), child) for steps, child in reversed(list(children(current))))


def reachable(document: Any, schema: Any) -> Iterator[dict[str, Any]]:
    """A subschema and all that it leads to, references included; each once, objects only."""
    waiting, seen = [schema], set()
    while waiting:
        current = waiting.pop()
        if not isinstance(current, dict) or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting.extend(child for _, child in children(current))
        reference = current.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            waiting.append(find(document, reference))


def find(document: Any, reference: str) -> Any:
    """What a local reference (``#``, ``#/…`` or ``#anchor``) names in its document; None when nothing."""
    fragment = unquote(reference.removeprefix("#"))
    if fragment and not fragment.startswith("/"):
        anchored = (s for _, s in subschemas(document) if isinstance(s, dict) and fragment in _anchors(s))
        return next(anchored, None)
    current = document
    for step in fragment.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(current, list) and name.isdigit() and int(name) < len(current):
            current = current[int(name)]
        elif isinstance(current, dict) and name in current:
            current = current[name]
        else:
            return None
    return current


def _anchors(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        schema.get("$anchor"),
        schema.get("$dynamicAnchor"),
        str(schema.get("$id", "")).removeprefix("#") or None,
    )


def resolve(document: Any, schema: Any) -> dict[str, Any]:
    """A schema with its local references followed: ``{}`` for ``true``, unknown or circular ones.

    Keywords beside a reference are laid over what it names, which is how 2020-12 reads annotations.
    """
    seen: set[str] = set()
    over: dict[str, Any] = {}
    while isinstance(schema, dict):
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return {**schema, **over} if over else schema
        over = {**{k: v for k, v in schema.items() if k != "$ref"}, **over}
        if reference in seen or not reference.startswith("#"):
            return over
        seen.add(reference)
        schema = find(document, reference)
    return over


def rebuild(schema: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """A copy in which ``change`` was applied to every object schema, innermost first; data inside a schema is left alone."""
    if not isinstance(schema, dict):
        return schema
    copy = dict(schema)
    for keyword, held in schema.items():
        if keyword in _ONE or (keyword == "items" and isinstance(held, dict)):
            copy[keyword] = rebuild(held, change)
        elif keyword in (*_MANY, "items") and isinstance(held, list):
            copy[keyword] = [rebuild(item, change) for item in held]
        elif keyword in (*_NAMED, "dependencies") and isinstance(held, dict):
            copy[keyword] = {name: rebuild(item, change) for name, item in held.items()}
    return change(copy)


def strip(schema: Any, prefix: str) -> Any:
    """A copy without the annotations whose name begins with ``prefix``."""
    return rebuild(
        schema, lambda s: {name: value for name, value in s.items() if not name.startswith(prefix)}
    )


def close_objects(schema: Any) -> Any:
    """A copy in which every object that lists its properties and does not speak of others refuses others.

    An object without ``properties`` is a free-form map, and one put together by ``allOf``, ``$ref`` and the like takes part of its
    properties from elsewhere; both stay as they are.
    """
    return rebuild(schema, _close)


_SPEAKS: Final = frozenset(
    {
        *("additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"),
        *("allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if", "dependentSchemas", "dependencies"),
    }
)


def _close(schema: dict[str, Any]) -> dict[str, Any]:
    if "properties" not in schema or _SPEAKS.intersection(schema):
        return schema
    return {**schema, "additionalProperties": False}


def place(path: Path) -> str:
    """Where in a document, for a person: a JSON Pointer, ``#`` for the whole."""
    return "#" + pointer(path)
