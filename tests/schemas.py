"""JSON Schemas of tools, for several rooms' tests: drawn by Hypothesis, and those of published MCP servers.

`tool_schemas` are what a careful author writes; `hostile_schemas` are JSON in which the keywords of JSON
Schema hold anything. `instance` makes arguments that fit a schema more often than not: ask a validator.
"""

import json
import random
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.corpus import CORPUS
from tests.strategies import json_values

NAMES: Final = ("a", "b", "kind", "资料")

_SCALARS: Final[list[dict[str, Any]]] = [
    {"type": "string"},
    {"type": "string", "minLength": 1, "maxLength": 5, "description": "A text."},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "uri-template", "default": "x"},
    {"type": "string", "pattern": "^[ab]*$"},
    {"type": "integer", "minimum": 0, "maximum": 9, "default": 3},
    {"type": "number", "exclusiveMinimum": 0},
    {"type": "boolean", "title": "Flag"},
    {"type": "null"},
    {"type": ["string", "null"], "default": None},
    {"type": ["integer", "string"]},
    {"enum": ["x", "y"]},
    {"type": "string", "enum": ["x", "y", None]},
    {"enum": [1, "one", None]},
    {"const": "fixed"},
    {"type": "string", "const": "fixed"},
]
_FREE: Final[list[Any]] = [
    {},
    True,
    {"type": "object"},
    {"type": "array"},
    {"type": "object", "additionalProperties": {"type": "integer"}},
    {"type": "object", "patternProperties": {"^x": {"type": "string"}}},
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
    {"description": "Anything."},
]


def _objects(inner: SearchStrategy[Any], closed: SearchStrategy[Any]) -> SearchStrategy[dict[str, Any]]:
    @st.composite
    def build(draw: DrawFn) -> dict[str, Any]:
        properties = draw(st.dictionaries(st.sampled_from(NAMES), inner, max_size=3))
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required := draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []:
            schema["required"] = required
        if draw(closed):
            schema["additionalProperties"] = False
        return schema

    return build()


def _nested(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
    branches = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        _objects(inner, st.booleans()),
        inner.map(lambda item: {"type": "array", "items": item}),
        inner.map(lambda item: {"type": ["array", "null"], "items": item, "maxItems": 2}),
        branches.map(lambda held: {"anyOf": held, "description": "One of."}),
        branches.map(lambda held: {"oneOf": held}),
        inner.map(lambda item: {"allOf": [item], "description": "Just this."}),
        st.sampled_from([{"$ref": "#/$defs/D"}, {"$ref": "#/$defs/D", "description": "A reference."}]),
    )


_closed_parts: Final = st.recursive(st.sampled_from(_SCALARS), _nested, max_leaves=5)
_open_parts: Final = st.recursive(st.sampled_from([*_SCALARS, *_FREE]), _nested, max_leaves=5)


@st.composite
def _tool_schemas(draw: DrawFn, parts: SearchStrategy[Any]) -> dict[str, Any]:
    schema = draw(_objects(parts, st.booleans()))
    definition = draw(
        st.one_of(parts, st.just({"type": "object", "properties": {"a": {"$ref": "#/$defs/D"}}}))
    )
    # A definition that is nothing but itself says nothing.
    plain = "$ref" not in json.dumps(definition) or definition.get("type") == "object"
    return {**schema, "$defs": {"D": definition if plain else {"type": "string"}}}


closed_schemas: Final = _tool_schemas(_closed_parts)
"""Schemas in which every value has a declared kind."""
tool_schemas: Final = _tool_schemas(_open_parts)

_KEYWORDS: Final = (
    *(
        "type",
        "enum",
        "const",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
    ),
    *("not", "if", "then", "$ref", "$defs", "format", "pattern", "minimum", "exclusiveMinimum", "minLength"),
    *(
        "dependencies",
        "patternProperties",
        "prefixItems",
        "additionalItems",
        "description",
        "default",
        "nullable",
    ),
)
_oddities: Final = st.sampled_from(
    [
        "string",
        "object",
        "any",
        "#",
        "#/properties/a",
        "#/$defs/D",
        "https://example.com/s",
        ["object", "null"],
        [],
        {},
    ]
)
hostile_schemas: Final[SearchStrategy[dict[str, Any]]] = st.recursive(
    st.dictionaries(st.sampled_from(_KEYWORDS), json_values | _oddities, max_size=4),
    lambda inner: st.dictionaries(
        st.sampled_from(_KEYWORDS),
        st.one_of(
            inner,
            st.booleans(),
            st.lists(inner | st.booleans(), max_size=3),
            st.dictionaries(st.sampled_from(NAMES), inner | st.booleans(), max_size=3),
        ),
        max_size=4,
    ),
    max_leaves=8,
)


@cache
def published() -> tuple[tuple[str, dict[str, Any]], ...]:
    """Name and definition of every tool of the corpus, as its server lists it."""
    return tuple(_published())


def _published() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((CORPUS / "mcp_tools").glob("*.json")):
        tools = json.loads(path.read_text())
        if isinstance(tools, list):
            yield from ((f"{path.stem}:{tool['name']}", tool) for tool in tools)


def instance(schema: Any, root: dict[str, Any], chance: random.Random, depth: int = 0) -> Any:
    """A value that is meant to fit."""
    if not isinstance(schema, dict):
        return chance.choice([None, 1, "free"])
    if "$ref" in schema:
        target: Any = root
        for step in schema["$ref"].split("/")[1:]:
            target = target.get(step, {})
        return instance(target, root, chance, depth + 1)
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in schema:
            return instance(chance.choice(schema[keyword]), root, chance, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return chance.choice(schema["enum"])
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    kind = kinds if isinstance(kinds, str) else chance.choice(kinds)
    return _of_kind(kind, schema, root, chance, depth)


def _of_kind(
    kind: str, schema: dict[str, Any], root: dict[str, Any], chance: random.Random, depth: int
) -> Any:
    if kind == "object":
        properties = schema.get("properties", {})
        kept = [
            name
            for name in properties
            if name in schema.get("required", ()) or (depth < 6 and chance.random() < 0.5)
        ]
        return {name: instance(properties[name], root, chance, depth + 1) for name in kept}
    if kind == "array":
        size = schema.get("minItems", chance.randrange(3) if depth < 6 else 0)
        return [instance(schema.get("items", {}), root, chance, depth + 1) for _ in range(size)]
    if kind in ("integer", "number"):
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
        return min(low + chance.randrange(3), schema.get("maximum", low + 3))
    if kind == "string":
        formats = {
            "date": "2026-01-31",
            "date-time": "2026-01-31T10:00:00Z",
            "uri": "https://example.com",
            "email": "a@b.de",
        }
        return formats.get(schema.get("format", ""), "a" * max(1, schema.get("minLength", 1)))
    return chance.choice([True, False]) if kind == "boolean" else None
