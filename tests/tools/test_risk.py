"""Risk classes of parameters: by type first, at any depth."""

from collections import Counter
from typing import Any, get_args

import pytest
from hypothesis import given

from callgate.tools import Risk, classify
from tests.corpus import needs_corpus
from tests.schemas import published, tool_schemas


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


def test_a_format_of_ours_in_a_foreign_schema_guards_nothing() -> None:
    (parameter,) = classify({"properties": {"path": {"type": "string", "format": "workspace-path"}}})
    assert not parameter.guarded


@given(tool_schemas)
def test_every_parameter_has_a_class(schema: dict[str, Any]) -> None:
    assert {p.name for p in classify(schema)} >= set(schema["properties"])
    assert {p.kind for p in classify(schema)} <= set(get_args(Risk))


@needs_corpus
def test_the_parameters_of_published_tools() -> None:
    counted = Counter(p.kind for _, tool in published() for p in classify(tool["inputSchema"]))
    # docs/explanation/risk_classes.md tells how these were judged by reading; other words give other figures.
    assert (counted["command"], counted["path"], counted["url"]) == (19, 337, 146)
    assert sum(counted.values()) == 8280
