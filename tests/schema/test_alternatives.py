"""Alternatives by their tag, and an end to looking for the fault where they multiply."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import freeze
from callgate.schema import Validator
from callgate.schema._alternatives import by_tag
from tests.schemas import instance, tool_schemas


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
