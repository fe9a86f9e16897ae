"""Any schema becomes one of draft 2020-12 that stands on its own, and nothing goes without a word."""

import json
from typing import Any

import pytest
from hypothesis import given
from jsonschema_rs import meta

from callgate.schema import Path, Tidy, tidy
from tests.corpus import needs_corpus
from tests.schemas import hostile_schemas, published, tool_schemas


def tidied(schema: dict[str, Any]) -> tuple[Tidy, list[tuple[Path, str]]]:
    told: list[tuple[Path, str]] = []
    return tidy(schema, lambda path, what: told.append((path, what))), told


def references(schema: Any) -> set[str]:
    if isinstance(schema, dict):
        own = {schema["$ref"]} if isinstance(schema.get("$ref"), str) else set()
        return own.union(
            *(references(held) for name, held in schema.items() if name not in ("enum", "const", "default"))
        )
    return set().union(*map(references, schema)) if isinstance(schema, list) else set()


@given(hostile_schemas)
def test_whatever_came_is_a_schema_of_2020_12_after(schema: dict[str, Any]) -> None:
    tidy_schema, _ = tidied(schema)
    meta.validate(tidy_schema.whole() | {"$schema": "https://json-schema.org/draft/2020-12/schema"})


@given(hostile_schemas)
def test_every_reference_leads_to_a_definition_of_the_schema_itself(schema: dict[str, Any]) -> None:
    tidy_schema, _ = tidied(schema)
    assert references(tidy_schema.whole()) == {f"#/$defs/{name}" for name in tidy_schema.definitions}


@given(tool_schemas)
def test_a_good_schema_loses_nothing(schema: dict[str, Any]) -> None:
    tidy_schema, told = tidied(schema)
    assert told == []
    assert tidied(tidy_schema.whole()) == (tidy_schema, [])


@given(hostile_schemas)
def test_the_schema_given_is_not_changed(schema: dict[str, Any]) -> None:
    before = json.dumps(schema)
    tidied(schema)
    assert json.dumps(schema) == before


@needs_corpus
def test_every_published_tool_is_valid_after() -> None:
    for name, tool in published():
        tidy_schema, told = tidied(tool["inputSchema"])
        meta.validate(tidy_schema.whole() | {"$schema": "https://json-schema.org/draft/2020-12/schema"})
        assert told == [], name


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            {"items": [{"type": "string"}], "additionalItems": False},
            {"prefixItems": [{"type": "string"}], "items": {}},
        ),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        (
            {"dependencies": {"a": ["b"], "c": {"type": "object"}}},
            {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"type": "object"}}},
        ),
        (
            {"properties": {"a": {"type": "string", "required": True}}},
            {"properties": {"a": {"type": "string"}}},
        ),
        ({"properties": {"v": True}}, {"properties": {"v": {}}}),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "x-order": 1, "type": "object"},
            {"type": "object"},
        ),
    ],
)
def test_older_spellings_are_renewed(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert tidied(old)[0].whole() == new


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"type": "any"}, ("type",)),
        ({"properties": {"a": {"minLength": "3"}}}, ("properties", "a", "minLength")),
        ({"properties": {"a": False}}, ("properties", "a")),
        ({"properties": {"a": {"$ref": "https://example.com/s.json"}}}, ("properties", "a", "$ref")),
        ({"$ref": "#/nowhere"}, ("$ref",)),
        ({"$dynamicRef": "#x"}, ("$dynamicRef",)),
        ({"anyOf": []}, ("anyOf",)),
        ({"properties": []}, ("properties",)),
        ({"not": 7}, ("not",)),
    ],
)
def test_what_has_to_go_is_told_with_its_place(schema: dict[str, Any], where: Path) -> None:
    assert [path for path, _ in tidied(schema)[1]] == [where]


def test_references_by_pointer_by_anchor_and_to_the_root_become_definitions() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "$anchor": "text"},
            "b": {"$ref": "#/properties/a"},
            "c": {"$ref": "#text"},
            "d": {"$ref": "#"},
            "e": {"$ref": "#/definitions/a%20b"},
        },
        "definitions": {"a b": {"type": "null"}},
    }
    tidy_schema, told = tidied(schema)
    assert told == []
    assert [tidy_schema.schema["properties"][name]["$ref"] for name in "bcde"] == [
        "#/$defs/a",
        "#/$defs/text",
        "#/$defs/root",
        "#/$defs/a_20b",
    ]
    assert tidy_schema.definitions["a"] == {"type": "string"}
    assert tidy_schema.definitions["a_20b"] == {"type": "null"}


def test_two_references_that_end_alike_become_two_definitions() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/x/$defs/x"}, "b": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"type": "string", "$defs": {"x": {"type": "null"}}}},
    }
    tidy_schema, _ = tidied(schema)
    assert tidy_schema.definitions == {"x": {"type": "null"}, "x_2": {"type": "string"}}


def test_a_schema_deeper_than_the_limit_is_left_open_there() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(500):
        schema = {"type": "object", "properties": {"a": schema}}
    tidy_schema, told = tidied(schema)
    assert len(told) == 1
    meta.validate(tidy_schema.whole())
