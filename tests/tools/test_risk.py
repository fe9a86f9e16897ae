"""Risk classes of parameters: by type first, at any depth."""

from typing import Any, get_args

import pytest
from hypothesis import given

from callgate.tools import Risk, classify
from tests.schemas import tool_schemas


def kind(schema: Any, name: str = "path") -> str:
    (parameter, *_) = classify({"properties": {name: schema}})
    return parameter.kind


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "path"),
        ({}, "path"),
        (True, "value"),
        ({"type": ["string", "null"]}, "path"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "path"),
        ({"type": "array", "items": {"type": "string"}}, "path"),
        ({"type": "integer"}, "value"),
        ({"type": "boolean"}, "value"),
        ({"enum": ["a", "b"]}, "value"),
        ({"type": "string", "enum": ["a"]}, "value"),
        ({"const": "a"}, "value"),
        ({"type": "string", "format": "uuid"}, "value"),
        ({"type": "string", "format": "uri"}, "url"),
        ({"type": "string", "format": "file-path"}, "path"),
        ({"type": "string", "pattern": "^[0-9]+$"}, "value"),
        ({"type": "object"}, "structured"),
        ({"type": "array", "items": {"type": "integer"}}, "structured"),
        ({"$ref": "#/$defs/x"}, "path"),
    ],
)
def test_the_type_decides_before_the_name(schema: Any, expected: str) -> None:
    (parameter, *_) = classify({"properties": {"path": schema}, "$defs": {"x": {"type": "string"}}})
    assert parameter.kind == expected


def test_other_text_is_free() -> None:
    assert kind({"type": "string"}, "city") == "free_text"
    assert kind({"type": "array", "items": {"type": "string"}}, "cities") == "structured"


def test_what_is_nested_is_found_with_its_place() -> None:
    schema = {
        "properties": {
            "edits": {"type": "array", "items": {"$ref": "#/$defs/Edit"}},
            "env": {"type": "object", "additionalProperties": {"properties": {"url": {"type": "string"}}}},
        },
        "required": ["edits"],
        "$defs": {
            "Edit": {"properties": {"file": {"type": "string"}, "next": {"$ref": "#/$defs/Edit"}, "n": {}}}
        },
    }
    found = {(p.name, p.kind, p.where, p.required) for p in classify(schema)}
    assert found == {
        ("edits", "structured", "/edits", True),
        ("edits.file", "path", "/edits/*/file", False),
        ("env", "structured", "/env", False),
        ("env.url", "url", "/env/*/url", False),
    }


_PATH: dict[str, Any] = {"properties": {"path": {"type": "string"}}}


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"allOf": [_PATH]}, "/path"),
        ({"anyOf": [{"properties": {"n": {}}}, _PATH]}, "/path"),
        ({"$ref": "#/$defs/a", "$defs": {"a": _PATH}}, "/path"),
        ({"properties": {"n": {}}, "dependentSchemas": {"n": _PATH}}, "/path"),
        ({"properties": {"n": {}}, "dependencies": {"n": _PATH}}, "/path"),
        ({"if": _PATH, "then": {}}, "/path"),
        ({"properties": {"path": {"const": "a"}}, "allOf": [_PATH]}, "/path"),
        ({"additionalProperties": {"type": "string", "format": "path"}}, "/*"),
        ({"unevaluatedProperties": _PATH}, "/*/path"),
        ({"patternProperties": {"^x": {"type": "string", "description": "Path to write to."}}}, "/*"),
        ({"properties": {"files": {"additionalProperties": {"type": "string"}}}}, "/files/*"),
        ({"properties": {"o": {"dependentSchemas": {"n": _PATH}}}}, "/o/path"),
        ({"properties": {"a": {"contains": _PATH}}}, "/a/*/path"),
        ({"properties": {"a": {"items": [{}], "additionalItems": _PATH}}}, "/a/*/path"),
        ({"properties": {"a": {"prefixItems": [{}], "unevaluatedItems": _PATH}}}, "/a/*/path"),
        ({"properties": {"paths": {"type": "array", "contains": {"type": "string"}}}}, "/paths"),
    ],
)
def test_an_open_path_is_found_wherever_a_schema_can_put_it(schema: dict[str, Any], where: str) -> None:
    assert [(p.where, p.kind) for p in classify(schema) if not p.guarded] == [(where, "path")]


def test_a_path_that_two_alternatives_hold_is_one_parameter() -> None:
    assert len(classify({"anyOf": [_PATH, {"allOf": [_PATH, {}]}]})) == 1


def test_a_format_of_ours_in_a_foreign_schema_guards_nothing() -> None:
    (parameter,) = classify({"properties": {"path": {"type": "string", "format": "workspace-path"}}})
    assert not parameter.guarded


@given(tool_schemas)
def test_every_parameter_has_a_class(schema: dict[str, Any]) -> None:
    assert {p.name for p in classify(schema)} >= set(schema["properties"])
    assert {p.kind for p in classify(schema)} <= set(get_args(Risk))
