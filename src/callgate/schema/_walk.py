"""Moving about in a JSON Schema: its subschemas, its references, the place a path names.

In: a schema as data. Out: the subschemas with their places. Promise: keywords that hold data (``enum``,
``const``, ``default``, ``examples``) are never taken for schemas; a reference is followed inside the
document only.

JSON Schema 2020-12 core section 10, and draft-07 section 9, for which keyword holds schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from callgate.calls import pointer, steps

Path = tuple[str | int, ...]

_ONE: Final = frozenset(
    {
        *(
            "not",
            "if",
            "then",
            "else",
            "contains",
            "propertyNames",
            "additionalProperties",
            "additionalItems",
        ),
        *("unevaluatedProperties", "unevaluatedItems", "contentSchema", "items"),
    }
)
# Draft-07 allows a list under `items` too, and lists of names under `dependencies`.
_MANY: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_NAMED: Final = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"}
)


def children(schema: Any) -> Iterator[tuple[Path, Any]]:
    """The subschemas directly inside a schema, each with the steps that lead to it."""
    for keyword, held in schema.items() if isinstance(schema, dict) else ():
        if isinstance(held, list):
            if keyword in _MANY:
                yield from (((keyword, position), item) for position, item in enumerate(held))
        elif keyword in _NAMED and isinstance(held, dict):
            yield from (((keyword, name), item) for name, item in held.items() if not isinstance(item, list))
        elif keyword in _ONE:
            yield (keyword,), held


def subschemas(schema: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """A schema and all below it, outermost first, each with its path."""
    waiting = [(path, schema)]
    while waiting:
        here, current = waiting.pop()
        yield here, current
        waiting.extend(((*here, *steps), child) for steps, child in reversed(list(children(current))))


def reachable(document: Any, schema: Any) -> Iterator[dict[str, Any]]:
    """A subschema and all that it leads to, references included; each once, object schemas only."""
    waiting, seen = [schema], set()
    while waiting:
        current = waiting.pop()
        if not isinstance(current, dict) or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting.extend(child for _, child in children(current))
        waiting.append(target(document, current))


def target(document: Any, schema: Mapping[str, Any]) -> Any:
    """What the schema's own local ``$ref`` names; None without one, or when it leads nowhere."""
    reference = schema.get("$ref")
    return find(document, reference) if isinstance(reference, str) and reference.startswith("#") else None


def find(document: Any, reference: str) -> Any:
    """What a local reference (``#``, ``#/…`` or ``#anchor``) names in its document; None when nothing."""
    fragment = unquote(reference.removeprefix("#"))
    if fragment and not fragment.startswith("/"):
        anchored = (s for _, s in subschemas(document) if isinstance(s, dict) and fragment in _anchors(s))
        return next(anchored, None)
    current = document
    for name in steps(fragment):
        if isinstance(current, list) and name.isdecimal() and int(name) < len(current):
            current = current[int(name)]
        elif isinstance(current, dict) and name in current:
            current = current[name]
        else:
            return None
    return current


def _anchors(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    # Up to draft-07 an anchor is an `$id` that is only a fragment.
    own = schema.get("$id")
    old = own[1:] if isinstance(own, str) and own.startswith("#") else None
    return (schema.get("$anchor"), schema.get("$dynamicAnchor"), old)


def resolve(document: Any, schema: Any) -> dict[str, Any]:
    """A schema with its local references followed; ``{}`` for ``true``, for unknown and for circular ones.

    Keywords beside a reference are laid over what it names, which is how 2020-12 reads annotations.
    """
    over: dict[str, Any] = {}
    seen: set[int] = set()
    while isinstance(schema, dict) and id(schema) not in seen:
        if "$ref" not in schema:
            return {**schema, **over} if over else schema
        seen.add(id(schema))
        over = {**{keyword: held for keyword, held in schema.items() if keyword != "$ref"}, **over}
        schema = target(document, schema)
    return over


def rebuild(schema: Any, change: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]) -> Any:
    """A copy made by ``change(copy, original)`` at every object schema, innermost first.

    Data is left alone.
    """
    if not isinstance(schema, dict):
        return schema
    copy = dict(schema)
    for keyword, held in schema.items():
        if isinstance(held, list):
            if keyword in _MANY:
                copy[keyword] = [rebuild(item, change) for item in held]
        elif keyword in _NAMED and isinstance(held, dict):
            copy[keyword] = {name: rebuild(item, change) for name, item in held.items()}
        elif keyword in _ONE:
            copy[keyword] = rebuild(held, change)
    return change(copy, schema)


def strip(schema: Any, prefix: str) -> Any:
    """A copy without the annotations whose name begins with ``prefix``."""
    return rebuild(schema, lambda copy, _: {k: v for k, v in copy.items() if not k.startswith(prefix)})


def place(path: Path) -> str:
    """Where in a document, for a person: a JSON Pointer behind ``#``."""
    return "#" + pointer(path)
