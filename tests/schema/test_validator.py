"""Compiled schemas: offline, formats asserted, frozen values taken, and what cannot be compiled named."""

import random
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import freeze
from callgate.errors import UnsupportedSchemaError
from callgate.schema import Validator
from callgate.schema._alternatives import by_tag
from tests.schemas import instance, tool_schemas


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


def leaf(depth: int, value: Any) -> Any:
    return value if depth == 0 else {"op": "not", "args": [leaf(depth - 1, value)]}


def expression(*, is_tagged: bool) -> dict[str, Any]:
    """An expression of ``and``, ``or``, ``not`` and numbers; untagged, the first three are alike."""

    def branch(op: str, held: dict[str, Any]) -> dict[str, Any]:
        tag = {"const": op} if is_tagged else {"type": "string", "minLength": len(op)}
        return {"type": "object", "properties": {"op": tag, **held}, "required": ["op", *held]}

    args = {"args": {"type": "array", "items": {"$ref": "#/$defs/e"}}}
    branches = [branch(op, args) for op in ("not", "or", "an")]
    union = {"oneOf" if is_tagged else "anyOf": [*branches, branch("leaf", {"value": {"type": "integer"}})]}
    return {"properties": {"e": {"$ref": "#/$defs/e"}}, "$defs": {"e": union}}


@pytest.mark.parametrize("depth", [1, 8, 20])
def test_a_fault_deep_in_a_tagged_union_is_named_at_its_place(depth: int) -> None:
    validator = Validator(expression(is_tagged=True))
    where = "/e" + "/args/0" * depth
    (finding,) = validator.findings(freeze({"e": leaf(depth, {"op": "leaf", "value": "x"})}))
    assert (finding.code, finding.where) == ("WRONG_TYPE", f"{where}/value")
    (finding,) = validator.findings(freeze({"e": leaf(depth, {"op": "nor", "value": 1})}))
    assert (finding.code, finding.where) == ("NOT_IN_ENUM", f"{where}/op")
    assert validator.findings(freeze({"e": leaf(depth, {"op": "leaf", "value": 1})})) == ()


def test_where_alternatives_multiply_the_fault_is_not_searched_for_ever() -> None:
    validator = Validator(expression(is_tagged=False))
    for depth in (9, 60):
        (finding,) = validator.findings(freeze({"e": leaf(depth, {"op": "", "value": "x"})}))
        assert (finding.code, finding.where) == ("SCHEMA_MISMATCH", "")
    assert validator.findings(freeze({"e": leaf(1, {"op": "leaf"})}))[0].where.startswith("/e")


def test_a_long_list_is_not_taken_for_a_deep_one() -> None:
    item = {
        "anyOf": [
            {"type": "integer"},
            {"type": "array", "items": {"anyOf": [{"type": "null"}, {"const": 1}]}},
        ]
    }
    validator = Validator({"type": "array", "items": item})
    value: Any = freeze([1, [None]] * 10_000 + ["x"])
    assert [f.where for f in validator.findings(value)] == ["/20000"]


@given(tool_schemas, st.integers())
def test_the_schema_that_tells_says_of_each_value_what_the_true_one_says(schema: Any, seed: int) -> None:
    told, true = Validator(by_tag(schema)), Validator(schema)
    values: list[Any] = [instance(schema, schema, random.Random(seed)), {}, None]
    for value in values:
        assert told.is_valid(value) == true.is_valid(value) == (true.findings(value) == ())


_BOX = {
    "type": "object",
    "properties": {"kind": {"const": "box"}, "w": {"type": "number"}},
    "required": ["kind"],
}
_DOT = {"type": "object", "properties": {"kind": {"enum": ["dot", "point"]}}, "required": ["kind"]}


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize("more", [[], [{"type": "null"}], [{"type": "array", "minItems": 1}]])
@pytest.mark.parametrize(
    "value",
    [
        {"kind": "box"},
        {"kind": "box", "w": "x"},
        {"kind": "dot"},
        {"kind": "point"},
        {"kind": "x"},
        {},
        None,
        [],
        [1],
        3,
    ],
)
def test_a_tagged_union_takes_what_it_took(keyword: str, more: list[Any], value: Any) -> None:
    schema = {keyword: [_BOX, *more, {"$ref": "#/$defs/dot"}], "$defs": {"dot": _DOT}}
    told = by_tag(schema)
    assert told != schema
    assert Validator(told).is_valid(value) == Validator(schema).is_valid(value)
    assert bool(Validator(schema).findings(value)) != Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"oneOf": [_BOX, _BOX]},
        {"oneOf": [_BOX, _DOT], "properties": {"a": {"$ref": "#/oneOf/1"}}},
        {"oneOf": [_BOX, {**_DOT, "required": []}]},
        {"oneOf": [_BOX, {**_DOT, "type": ["object", "null"]}]},
        {"$schema": "http://json-schema.org/draft-06/schema#", "oneOf": [_BOX, _DOT]},
    ],
)
def test_branches_that_no_tag_tells_apart_stay_as_they_are(schema: dict[str, Any]) -> None:
    assert by_tag(schema) == schema
