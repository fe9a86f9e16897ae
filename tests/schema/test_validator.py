"""Compiled schemas: offline, formats asserted, frozen values taken, and what cannot be compiled named."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from callgate.calls import freeze
from callgate.errors import UnsupportedSchemaError
from callgate.schema import Validator


def test_a_reference_over_the_network_is_refused_and_never_fetched() -> None:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type": "integer"}')

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        for schema in (
            {"properties": {"a": {"$ref": f"{address}/s.json"}}},
            {"$id": f"{address}/base.json", "properties": {"a": {"$ref": "s.json"}}},
            {"$schema": f"{address}/dialect.json"},
        ):
            with pytest.raises(UnsupportedSchemaError):
                Validator(schema)
        with pytest.raises(UnsupportedSchemaError):
            Validator({"$ref": "urn:known"}, {"urn:known": {"$ref": f"{address}/s.json"}}).is_valid(1)
    finally:
        server.shutdown()
        server.server_close()
    assert asked == []


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"properties": {"a": {"$ref": "#/$defs/gone"}}}, "#/properties/a/$ref"),
        ({"items": {"$ref": "other.json"}}, "#/items/$ref"),
        ({"properties": {"a/b": {"$ref": "#nowhere"}}}, "#/properties/a~1b/$ref"),
        ({"properties": {"a": {"type": "text"}}}, "#/properties/a/type"),
        ({"pattern": "(("}, "#/pattern"),
        ({"minLength": -1}, "#/minLength"),
        ({"$schema": "https://example.com/mine"}, "#"),
    ],
)
def test_the_place_of_what_cannot_be_compiled_is_named(schema: dict[str, Any], where: str) -> None:
    with pytest.raises(UnsupportedSchemaError) as refused:
        Validator(schema)
    assert refused.value.facts["where"] == where


def test_what_is_no_schema_at_all_is_refused() -> None:
    odd: tuple[Any, ...] = ([], "x", {"properties": {"a": object()}})
    for schema in odd:
        with pytest.raises(UnsupportedSchemaError):
            Validator(schema)


def test_formats_are_asserted() -> None:
    assert not Validator({"format": "date-time"}).is_valid("2026")
    assert not Validator({"format": "uuid"}).is_valid("x")
    assert Validator({"format": "made-up"}).is_valid("x")


def test_frozen_schemas_and_values_are_taken() -> None:
    validator = Validator(freeze({"properties": {"a": {"type": "array", "items": {"enum": [1]}}}}))
    assert validator.is_valid(freeze({"a": [1]}))
    assert [f.where for f in validator.findings(freeze({"a": [1, 2]}))] == ["/a/1"]


def test_numbers_beyond_64_bits_keep_their_value() -> None:
    validator = Validator({"type": "integer", "maximum": 2**70})
    assert validator.is_valid(2**70)
    assert not validator.is_valid(2**70 + 1)


def test_the_draft_that_a_schema_names_is_used() -> None:
    beside = {"$ref": "#/definitions/any", "type": "integer", "definitions": {"any": {}}}
    assert Validator({"$schema": "http://json-schema.org/draft-07/schema#", **beside}).is_valid("x")
    assert not Validator(beside).is_valid("x")


def test_a_reference_to_a_published_metaschema_needs_no_network() -> None:
    validator = Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"})
    assert validator.is_valid({"type": "object"})
    assert not validator.is_valid({"type": "text"})


def test_references_relative_to_an_id_stay_inside() -> None:
    schema = {"$id": "https://example.com/s", "$defs": {"x": {"$id": "x", "type": "integer"}}, "$ref": "x"}
    assert Validator(schema).is_valid(1)
    assert not Validator(schema).is_valid("1")


def test_at_most_eight_findings() -> None:
    schema: dict[str, Any] = {"properties": {}, "additionalProperties": False}
    assert len(Validator(schema).findings({str(n): n for n in range(100)})) == 8


def test_a_pattern_that_would_never_end_is_given_up() -> None:
    schema = {"type": "string", "pattern": "^(a|a)*(?=b)$"}
    assert [f.code for f in Validator(schema).findings("a" * 5_000 + "!")] == ["WRONG_FORMAT"]
