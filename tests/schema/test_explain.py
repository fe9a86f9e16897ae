"""Findings: the place, the code and the words for each thing that can be wrong; never the value."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import CODES, Layer
from callgate.schema import Validator, describe
from tests.schemas import instance, tool_schemas

OBJECT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "dry_run": {"type": "boolean"},
        "inner": {"$ref": "#/$defs/Inner"},
        "maybe": {"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}]},
        "shape": {"oneOf": [{"$ref": "#/$defs/Dot"}, {"$ref": "#/$defs/Box"}]},
        "either": {"anyOf": [{"enum": ["on", "off"]}, {"type": "integer"}]},
    },
    "required": ["dry_run"],
    "additionalProperties": False,
    "$defs": {
        "Inner": {
            "type": "object",
            "properties": {"depth": {"type": "integer"}},
            "required": ["depth"],
            "additionalProperties": False,
        },
        "Dot": {"properties": {"kind": {"const": "dot"}, "x": {"type": "number"}}, "required": ["kind", "x"]},
        "Box": {"properties": {"kind": {"const": "box"}, "w": {"type": "number"}}, "required": ["kind", "w"]},
    },
}


def found(schema: Any, value: Any) -> list[tuple[str, str]]:
    return [(f.code, f.where) for f in Validator(schema).findings(value)]


def test_a_schema_that_names_itself_is_described_as_far_as_it_goes() -> None:
    again = {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}, {"anyOf": [{"$ref": "#/$defs/b"}]}]}}
    again["b"] = {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}
    schema = {"properties": {"x": {"$ref": "#/$defs/a"}}, "required": ["x"], "$defs": again}
    (finding,) = Validator(schema).findings({})
    assert (finding.code, finding.expected) == ("MISSING_PARAMETER", "string or null")


@pytest.mark.parametrize(
    ("schema", "value", "code", "expected"),
    [
        ({"type": "integer"}, "x", "WRONG_TYPE", "integer"),
        ({"type": ["integer", "null"]}, "x", "WRONG_TYPE", "integer or null"),
        ({"enum": ["a", 2, None]}, "b", "NOT_IN_ENUM", 'one of "a", 2, null'),
        ({"const": "a"}, "b", "NOT_IN_ENUM", '"a"'),
        ({"minimum": 1}, 0, "OUT_OF_RANGE", "at least 1"),
        ({"maximum": 1}, 2, "OUT_OF_RANGE", "at most 1"),
        ({"exclusiveMinimum": 1}, 1, "OUT_OF_RANGE", "more than 1"),
        ({"exclusiveMaximum": 1}, 1, "OUT_OF_RANGE", "less than 1"),
        ({"multipleOf": 5}, 7, "OUT_OF_RANGE", "a multiple of 5"),
        ({"minLength": 2}, "a", "WRONG_SIZE", "at least 2 characters"),
        ({"maxLength": 2}, "abc", "WRONG_SIZE", "at most 2 characters"),
        ({"minItems": 1}, [], "WRONG_SIZE", "at least 1 items"),
        ({"maxItems": 1}, [1, 2], "WRONG_SIZE", "at most 1 items"),
        ({"minProperties": 1}, {}, "WRONG_SIZE", "at least 1 names"),
        ({"maxProperties": 0}, {"a": 1}, "WRONG_SIZE", "at most 0 names"),
        ({"format": "date"}, "2026-13-01", "WRONG_FORMAT", "text in the format date"),
        ({"pattern": "^a"}, "b", "WRONG_FORMAT", "text that matches ^a"),
        ({"uniqueItems": True}, [1, 1], "SCHEMA_MISMATCH", "items that differ from one another"),
        ({"not": {}}, 1, "SCHEMA_MISMATCH", "a value that fits the schema's 'not'"),
        ({"contains": {"const": 1}}, [2], "SCHEMA_MISMATCH", "a value that fits the schema's 'contains'"),
        (False, 1, "SCHEMA_MISMATCH", "no value"),
    ],
)
def test_each_keyword_has_its_code_and_words(schema: Any, value: Any, code: str, expected: str) -> None:
    (finding,) = Validator(schema).findings(value)
    assert (finding.code, finding.where, finding.expected) == (code, "", expected)


def test_the_pointer_names_the_missing_and_the_unknown_key() -> None:
    findings = Validator(OBJECT).findings({"dryrun": True, "inner": {"deep": 1}})
    assert {(f.code, f.where) for f in findings} == {
        ("MISSING_PARAMETER", "/dry_run"),
        ("UNKNOWN_PARAMETER", "/dryrun"),
        ("MISSING_PARAMETER", "/inner/depth"),
        ("UNKNOWN_PARAMETER", "/inner/deep"),
    }
    told = {f.where: (f.expected, f.mend) for f in findings}
    assert told["/dry_run"] == ("boolean", "add 'dry_run'")
    assert told["/dryrun"][1] == "did you mean 'dry_run'?"
    assert told["/inner/deep"] == ("only depth", "did you mean 'depth'?")


def test_an_alternative_with_null_says_what_the_other_lacks() -> None:
    assert found(OBJECT, {"dry_run": True, "maybe": {}}) == [("MISSING_PARAMETER", "/maybe/depth")]
    assert found(OBJECT, {"dry_run": True, "maybe": 3}) == [("WRONG_TYPE", "/maybe")]


def test_the_alternative_with_the_tag_that_was_sent_is_meant() -> None:
    assert found(OBJECT, {"dry_run": True, "shape": {"kind": "box", "x": 1}}) == [
        ("MISSING_PARAMETER", "/shape/w")
    ]


def test_alternatives_of_plain_values_are_listed_together() -> None:
    (finding,) = Validator(OBJECT).findings({"dry_run": True, "either": "offf"})
    assert (finding.code, finding.expected) == ("NOT_IN_ENUM", 'one of "on", "off" or integer')
    assert finding.mend == "did you mean 'off'?"


def test_an_optional_choice_says_all_that_it_takes() -> None:
    schema = {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]}
    told = [(f.code, f.expected) for value in ("c", 3) for f in Validator(schema).findings(value)]
    assert told == [("NOT_IN_ENUM", 'one of "a", "b" or null'), ("WRONG_TYPE", 'one of "a", "b" or null')]


def test_a_fault_inside_another_document_has_its_place_and_no_guesses() -> None:
    schema = {"properties": {"p": {"$ref": "urn:x"}}}
    (finding,) = Validator(schema, {"urn:x": {"required": ["q"]}}).findings({"p": {}})
    assert (finding.code, finding.where, finding.expected) == ("MISSING_PARAMETER", "/p/q", "a value")


def test_a_value_that_fits_several_of_one_is_told_so() -> None:
    (finding,) = Validator({"oneOf": [{"type": "integer"}, {"minimum": 1}]}).findings(2)
    assert finding.expected == "exactly one of the declared forms; the value fits several"


def test_alternatives_that_fit_equally_are_not_guessed_at() -> None:
    both = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert found(both, {}) == [("SCHEMA_MISMATCH", "")]


def test_a_name_that_is_forbidden_is_an_unknown_parameter() -> None:
    schema = {
        "properties": {"p": False, "q": {"propertyNames": {"pattern": "^a"}}},
        "unevaluatedProperties": False,
    }
    assert found(schema, {"p": 1, "q": {"b/c": 1}, "r": 2}) == [
        ("UNKNOWN_PARAMETER", "/p"),
        ("UNKNOWN_PARAMETER", "/q/b~1c"),
        ("UNKNOWN_PARAMETER", "/r"),
    ]


def test_items_beyond_a_closed_list() -> None:
    assert found({"prefixItems": [{}], "unevaluatedItems": False}, [1, 2]) == [("WRONG_SIZE", "")]
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}], "additionalItems": False}
    assert found(old, [1, 2]) == [("WRONG_SIZE", "")]


def test_a_long_expectation_is_cut() -> None:
    (finding,) = Validator({"enum": [f"a long value {n}" for n in range(100)]}).findings("x")
    assert len(finding.expected) == 300
    assert Validator({"enum": list(range(30))}).findings("x")[0].expected.endswith("and 10 more")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string", "format": "date"}, "string (date)"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "string"}]}, "string or null"),
        ({"$ref": "#/$defs/Dot"}, ""),
        ({"enum": ["x"]}, '"x"'),
        ({"const": 1}, "1"),
        (True, ""),
    ],
)
def test_a_schema_in_a_few_words(schema: Any, words: str) -> None:
    assert describe(schema, OBJECT) == words


SECRET = "s3cr3t-hunter2"


def _poisoned(value: Any) -> Any:
    """The value with every text in it, but no key, replaced by a secret."""
    if isinstance(value, dict):
        return {key: _poisoned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_poisoned(item) for item in value]
    return SECRET


@given(tool_schemas, st.randoms(use_true_random=False), st.booleans())
def test_no_finding_repeats_a_value(schema: dict[str, Any], chance: random.Random, wrapped: bool) -> None:
    value = _poisoned(instance(schema, schema, chance))
    findings = Validator(schema).findings([value] if wrapped else value)
    assert len(findings) <= 8
    for finding in findings:
        assert SECRET not in finding.expected + finding.mend + finding.where
        assert CODES[finding.code].layer is Layer.STRUCTURE


@given(tool_schemas, st.randoms(use_true_random=False))
def test_there_is_a_finding_exactly_when_the_value_does_not_fit(
    schema: dict[str, Any], chance: random.Random
) -> None:
    value = instance(schema, schema, chance)
    if chance.random() < 0.5 and isinstance(value, dict):
        value = {**value, "a": chance.choice([None, 1, "x", [], {}])}
    validator = Validator(schema)
    assert bool(validator.findings(value)) is not validator.is_valid(value)
