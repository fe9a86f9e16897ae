"""Closing objects: what can be closed is, and nothing that fitted by listed names stops fitting."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.schema import Validator, close_objects
from tests.corpus import needs_corpus
from tests.schemas import instance, published, tool_schemas

A: dict[str, Any] = {"properties": {"a": {}}}
B: dict[str, Any] = {"properties": {"b": {}}}


def closed(schema: dict[str, Any]) -> set[str]:
    """Places of the objects that became closed."""
    result = close_objects(schema)
    return {where for where, s in _objects(result) if s.get("additionalProperties") is False}


def _objects(schema: Any, where: str = "") -> list[tuple[str, dict[str, Any]]]:
    found = []
    if isinstance(schema, dict):
        found.append((where, schema))
        for key, value in schema.items():
            found.extend(_objects(value, f"{where}/{key}"))
    elif isinstance(schema, list):
        for place, item in enumerate(schema):
            found.extend(_objects(item, f"{where}/{place}"))
    return found


@pytest.mark.parametrize(
    ("schema", "places"),
    [
        (A, {""}),
        ({"properties": {"p": A, "l": {"items": A}}}, {"", "/properties/p", "/properties/l/items"}),
        ({"properties": {}}, {""}),
        ({"type": "object"}, set()),
        ({**A, "additionalProperties": True}, set()),
        ({**A, "patternProperties": {"^x": {}}}, set()),
        ({"anyOf": [A, B]}, {"/anyOf/0", "/anyOf/1"}),
        ({**A, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {""}),
        ({**A, "if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["a"]}}, {""}),
        ({**A, "anyOf": [B, {}]}, set()),
        ({"allOf": [A, B]}, set()),
        ({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": A}}, set()),
        ({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": A}}, {"/$defs/a"}),
        ({**B, "$ref": "#/$defs/a", "$defs": {"a": A}}, set()),
        ({"not": A}, set()),
        ({"if": A, "then": B}, set()),
    ],
)
def test_what_is_closed(schema: dict[str, Any], places: set[str]) -> None:
    assert closed(schema) == places


@given(tool_schemas, st.randoms(use_true_random=False))
def test_listed_names_fit_as_before(schema: dict[str, Any], chance: random.Random) -> None:
    value = instance(schema, schema, chance)
    if Validator(schema).is_valid(value):
        assert Validator(close_objects(schema)).is_valid(value)


@given(tool_schemas)
def test_closing_twice_is_closing_once(schema: dict[str, Any]) -> None:
    once = close_objects(schema)
    assert close_objects(once) == once


@needs_corpus
def test_arguments_of_published_tools_fit_as_before() -> None:
    chance = random.Random(7)
    compared = 0
    for name, tool in published()[::4]:
        schema = tool["inputSchema"]
        value = instance(schema, schema, chance)
        if Validator(schema).is_valid(value):
            compared += 1
            assert Validator(close_objects(schema)).is_valid(value), name
    assert compared > 350
