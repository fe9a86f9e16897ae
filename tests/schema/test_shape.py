"""Moves on tidy schemas: lists of types split, tops made plain; what fitted fits on."""

import random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import meta

from callgate.schema import Path, Tidy, by_type, note, plain_top, tidy
from callgate.schema._shape import allows_null
from tests.schemas import hostile_schemas, instance, tool_schemas
from tests.strategies import json_values


def silent(_path: Path, _what: str) -> None:
    """Take a report and say nothing."""


def plain(schema: dict[str, Any]) -> tuple[Tidy, list[Path]]:
    told: list[Path] = []
    return plain_top(tidy(schema, silent), lambda path, _: told.append(path)), told


def fits(value: Any, schema: Any) -> bool:
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid(value)


LISTS: list[dict[str, Any]] = [
    {"type": ["array", "null"], "items": {"type": ["object", "null"], "properties": {"v": {}}}},
    {"type": ["string", "integer"], "minLength": 2, "minimum": 3, "description": "Either."},
    {"type": ["string", "integer", "null"], "enum": ["a", 1, None]},
    {"type": ["string", "integer"], "enum": ["a"]},
    {"type": ["number", "boolean"], "const": 1},
]


@pytest.mark.parametrize("schema", LISTS)
@given(value=json_values | st.sampled_from(["a", 1, 1.5, True, None, [None], [{"v": 1}], "abc", 4]))
def test_a_list_of_types_split_into_branches_takes_the_same_values(
    schema: dict[str, Any], value: Any
) -> None:
    assert fits(value, by_type(schema)) == fits(value, schema)


@pytest.mark.parametrize("schema", LISTS)
def test_each_branch_holds_the_keywords_of_its_type_only(schema: dict[str, Any]) -> None:
    split = by_type(schema)
    assert all(isinstance(branch["type"], str) for branch in split["anyOf"])
    assert not any("items" in branch for branch in split["anyOf"] if branch["type"] != "array")
    assert split.get("description") == schema.get("description")


@given(tool_schemas)
def test_null_is_allowed_exactly_where_a_validator_takes_it(schema: dict[str, Any]) -> None:
    tidied = tidy(schema, silent)
    for held in tidied.schema["properties"].values():
        whole = Tidy(held, tidied.definitions).whole()
        assert allows_null(held, tidied) == fits(None, whole)


@given(hostile_schemas)
def test_a_plain_top_is_one_object_whatever_came(schema: dict[str, Any]) -> None:
    top, _ = plain(schema)
    assert top.schema["type"] == "object"
    assert isinstance(top.schema["properties"], dict)
    assert top.schema.keys().isdisjoint({"anyOf", "oneOf", "allOf", "enum", "const", "not", "$ref"})
    meta.validate(top.whole() | {"$schema": "https://json-schema.org/draft/2020-12/schema"})


BRANCHED: list[dict[str, Any]] = [
    {
        "anyOf": [
            {"properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {}}, "required": ["b"]},
        ]
    },
    {
        "type": "object",
        "properties": {"kind": {"type": "string"}},
        "required": ["kind"],
        "oneOf": [{"$ref": "#/$defs/A"}, {"properties": {"kind": {"const": "b"}, "y": {"type": "null"}}}],
        "$defs": {"A": {"properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["x"]}},
    },
    {"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"a": {"minLength": 1}, "b": {}}}]},
    {
        "$ref": "#/$defs/A",
        "description": "Mine.",
        "$defs": {"A": {"type": "object", "properties": {"a": {}}}},
    },
    {"anyOf": [{"additionalProperties": False, "properties": {"a": {}}}, {"additionalProperties": False}]},
]


@pytest.mark.parametrize("schema", BRANCHED)
@given(seed=st.integers(0, 999))
def test_what_fitted_alternatives_at_the_top_fits_the_plain_top(schema: dict[str, Any], seed: int) -> None:
    value = instance({**schema, "type": "object"}, schema, random.Random(seed))
    if isinstance(value, dict) and fits(value, schema):
        assert fits(value, plain(schema)[0].whole())


def test_merged_alternatives_are_told_and_what_each_requires_is_said_in_words() -> None:
    top, told = plain(BRANCHED[0])
    assert told == [("anyOf",)]
    assert top.schema["required"] == []
    assert top.schema["description"] == '(give all of one of these: [["a"], ["b"]])'


def test_a_parameter_that_every_alternative_requires_stays_required() -> None:
    branches = [
        {"properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
        {"properties": {"a": {}}, "required": ["a"]},
    ]
    assert plain({"anyOf": branches})[0].schema["required"] == ["a"]


def test_what_a_reference_at_the_top_says_is_joined_with_what_stands_beside_it() -> None:
    target = {
        "description": "Theirs.",
        "title": "T",
        "properties": {"a": {"type": "string"}},
        "patternProperties": {"^x": {}},
        "additionalProperties": False,
    }
    schema = {
        "$ref": "#/$defs/A",
        "description": "Mine.",
        "patternProperties": {"^y": {}},
        "$defs": {"A": target},
    }
    top, _ = plain(schema)
    assert (top.schema["description"], top.schema["title"]) == ("Mine.", "T")
    assert top.schema["patternProperties"] == {"^x": {}, "^y": {}}
    assert top.schema["additionalProperties"] is False


def test_a_reference_that_leads_to_itself_ends() -> None:
    top, _ = plain({"$ref": "#"})
    assert top.schema["properties"] == {}


def test_a_note_is_added_to_what_the_description_says() -> None:
    schema: dict[str, Any] = {"description": "A city."}
    note(schema, "default", "北京")
    assert schema == {"description": 'A city. (default: "北京")'}
