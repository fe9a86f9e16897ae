"""Alternatives, made fit for saying what is wrong with a value: each try of each makes a tree of errors.

In: a schema; then a value that does not fit it. Out: the same schema with a tag's own branch where a tag
tells the branches apart, and how often a value would be tried. Promise: what fits the one schema fits the
other; the count takes polynomial time, however deep schema and value go into one another.

JSON Schema 2020-12 core section 10.2; ``if`` and ``then`` are known from draft-07 on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ._shape import types_of
from ._tidy import words
from ._walk import children, rebuild, resolve, subschemas, target

_EITHER: Final = ("oneOf", "anyOf")
_WITHOUT_IF: Final = ("draft-03", "draft-04", "draft-06")
_IN_PLACE: Final = words("anyOf oneOf allOf not if then else dependentSchemas dependencies")
_MEMBERS: Final = words("additionalProperties patternProperties unevaluatedProperties")
_ITEMS: Final = words("items prefixItems additionalItems unevaluatedItems contains")
_TRIES: Final = 20_000
"""Schemas tried on values, for one list of errors."""
_TRIES_EACH: Final = 64
"""For each value inside a large one."""


def by_tag(schema: Any) -> Any:
    """The schema with every union of tagged objects as "one of these tags, and the branch of that tag"."""
    if not isinstance(schema, dict) or any(name in str(schema.get("$schema", "")) for name in _WITHOUT_IF):
        return schema
    references = [str(one.get("$ref")) for _, one in subschemas(schema) if isinstance(one, dict)]
    if any(f"/{keyword}/" in reference for keyword in _EITHER for reference in references):
        return schema  # a branch named by its number would be another one afterwards

    def change(copy: dict[str, Any], original: dict[str, Any]) -> dict[str, Any]:
        for keyword in _EITHER:
            if isinstance(original.get(keyword), list):
                copy = _tagged(copy, keyword, [resolve(schema, branch) for branch in original[keyword]])
        return copy

    return rebuild(schema, change)


def _tagged(copy: dict[str, Any], keyword: str, branches: list[dict[str, Any]]) -> dict[str, Any]:
    objects = [place for place, branch in enumerate(branches) if types_of(branch) == ["object"]]
    tag = next(_tags([branches[place] for place in objects]), "") if len(objects) > 1 else ""
    if not tag:
        return copy
    tags = [_listed(branches[place]["properties"][tag]) for place in objects]
    chosen = {
        "type": "object",
        "required": [tag],
        "properties": {tag: {"enum": [value for held in tags for value in held]}},
        "allOf": [
            {"if": {"properties": {tag: {"enum": held}}}, "then": copy[keyword][place]}
            for place, held in zip(objects, tags, strict=True)
        ],
    }
    others = [branch for place, branch in enumerate(copy[keyword]) if place not in objects]
    rest = {name: held for name, held in copy.items() if name != keyword}
    if others:
        return {**rest, keyword: [chosen, *others]}
    return {**rest, "allOf": [*rest.get("allOf", ()), chosen]}


def _tags(branches: list[dict[str, Any]]) -> Iterator[str]:
    """The names of the members that every branch requires, each with texts of its own."""
    for name in branches[0].get("properties", {}):
        texts: list[str] = []
        for branch in branches:
            listed = _listed(branch.get("properties", {}).get(name))
            if name not in branch.get("required", ()) or not listed:
                break
            texts.extend(listed)
        else:
            if len(set(texts)) == len(texts):
                yield name


def _listed(schema: Any) -> list[str]:
    """The texts that are all a schema lets through; none when it lets through anything else."""
    if not isinstance(schema, dict):
        return []
    listed = [schema["const"]] if "const" in schema else schema.get("enum", [])
    return listed if all(isinstance(value, str) for value in listed) else []


def is_endless(document: Any, value: Any) -> bool:
    """Whether naming what is wrong would try more schemas than anyone should wait for."""
    known: dict[tuple[int, int], int] = {}

    def tries(schema: Any, value: Any) -> int:
        if not isinstance(schema, dict):
            return 1
        pair = (id(schema), id(value))
        if pair not in known:
            known[pair] = 0  # what leads back here without going into the value ends here
            known[pair] = 1 + sum(tries(*inner) for inner in _inner(document, schema, value))
        return known[pair]

    try:
        return tries(document, value) > max(_TRIES, _TRIES_EACH * _size(value))
    except RecursionError:
        return True


def _size(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_size, inner))


def _inner(document: Any, schema: Mapping[str, Any], value: Any) -> Iterator[tuple[Any, Any]]:
    """The schemas that a schema has tried, each with the value it is tried on."""
    yield target(document, schema), value
    for (keyword, *steps), child in children(schema):
        if keyword in _IN_PLACE:
            if keyword != "then" or not _is_other(schema.get("if"), value):
                yield child, value
        elif keyword == "properties":
            if isinstance(value, dict) and steps[0] in value:
                yield child, value[steps[0]]
        elif keyword in _MEMBERS and isinstance(value, dict):
            yield from ((child, item) for item in value.values())
        elif keyword in _ITEMS and isinstance(value, list):
            yield from ((child, item) for item in value)


def _is_other(tagged: Any, value: Any) -> bool:
    """Whether a value has another tag than the one a branch is for."""
    properties = tagged.get("properties", {}) if isinstance(tagged, dict) else {}
    return isinstance(value, dict) and any(
        name in value and listed and value[name] not in listed
        for name, listed in ((name, _listed(held)) for name, held in properties.items())
    )
