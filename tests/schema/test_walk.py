"""Subschemas, references and places of a schema."""

from typing import Any

import pytest
from hypothesis import given

from callgate.calls import pointer
from callgate.schema import children, find, place, reachable, rebuild, resolve, strip, subschemas
from tests.schemas import hostile_schemas

DOCUMENT: dict[str, Any] = {
    "properties": {"a/b~c": {"$ref": "#/$defs/x"}, "list": {"items": [{"type": "null"}]}},
    "anyOf": [{"required": ["a"]}, True],
    "enum": [{"properties": {"no": {}}}],
    "default": {"properties": {"no": {}}},
    "dependencies": {"a": ["b"], "c": {"minProperties": 1}},
    "$defs": {"x": {"type": "string", "$anchor": "here"}, "loop": {"$ref": "#/$defs/loop"}},
}


def test_data_is_never_taken_for_a_schema() -> None:
    places = {pointer(path) for path, _ in subschemas(DOCUMENT)}
    assert places == {
        "",
        "/properties/a~1b~0c",
        "/properties/list",
        "/properties/list/items/0",
        "/anyOf/0",
        "/anyOf/1",
        "/dependencies/c",
        "/$defs/x",
        "/$defs/loop",
    }


@pytest.mark.parametrize("reference", ["#/$defs/x", "#here", "#/%24defs/x"])
def test_a_local_reference_is_found(reference: str) -> None:
    assert find(DOCUMENT, reference) is DOCUMENT["$defs"]["x"]


@pytest.mark.parametrize("reference", ["#/nothing", "#nowhere", "#/anyOf/7", "#/anyOf/x"])
def test_a_reference_to_nothing_finds_nothing(reference: str) -> None:
    assert find(DOCUMENT, reference) is None


def test_a_reference_to_the_whole_is_the_whole() -> None:
    assert find(DOCUMENT, "#") is DOCUMENT
    assert find(DOCUMENT, "#/anyOf/1") is True


def test_words_beside_a_reference_lie_over_it() -> None:
    assert resolve(DOCUMENT, {"$ref": "#/$defs/x", "description": "mine"}) == {
        "type": "string",
        "$anchor": "here",
        "description": "mine",
    }


def test_a_circle_of_references_ends() -> None:
    assert resolve(DOCUMENT, DOCUMENT["$defs"]["loop"]) == {}
    assert resolve(DOCUMENT, {"$ref": "other.json"}) == {}
    assert len(list(reachable(DOCUMENT, DOCUMENT))) == 8


@given(hostile_schemas)
def test_rebuilding_without_a_change_changes_nothing(schema: Any) -> None:
    assert rebuild(schema, lambda copy, _: copy) == schema


@given(hostile_schemas)
def test_children_are_where_their_steps_lead(schema: Any) -> None:
    for steps, child in children(schema):
        assert find(schema, place(steps)) is child


def test_only_annotations_of_a_schema_are_stripped() -> None:
    schema = {"x-a": 1, "properties": {"x-a": {"x-a": 2, "enum": [{"x-a": 3}]}}}
    assert strip(schema, "x-") == {"properties": {"x-a": {"enum": [{"x-a": 3}]}}}
