"""The strict form: closed, all required, and the way back gives the arguments that were meant."""

import random
from collections.abc import Iterator
from typing import Any, Final

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import EMPTY, freeze
from callgate.schema import Path, Strictness, Tidy, close, plain_top, tidy, undo
from tests.corpus import needs_corpus
from tests.schemas import closed_schemas, hostile_schemas, instance, published

WORDS: Final = (
    "type properties required additionalProperties items enum anyOf $ref title description pattern format "
    "multipleOf minItems maxItems minimum maximum exclusiveMinimum exclusiveMaximum"
)
RULES: Final = Strictness(
    frozenset(WORDS.split()), frozenset({"date", "date-time"}), 5_000, 10, 1_000, 120_000
)
SMALL: Final = Strictness(RULES.keywords, RULES.formats, 3, 2, 4, 30)


def silent(_path: Path, _what: str) -> None:
    """Take a report and say nothing."""


def plain(schema: dict[str, Any]) -> Tidy:
    return plain_top(tidy(schema, silent), silent)


def validator(schema: Any) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def strict_faults(schema: Any, place: str = "") -> Iterator[str]:
    """What is not as the strict form must be: written down here once more, on its own."""
    if not set(schema) <= {*WORDS.split(), "$defs"}:
        yield f"{place}: {sorted(set(schema) - {*WORDS.split(), '$defs'})}"
    if len({"type", "anyOf", "$ref"} & schema.keys()) != 1:
        yield f"{place}: neither typed nor alternatives nor a reference"
    if "$ref" in schema and len(schema) > 1 + ("$defs" in schema):
        yield f"{place}: something beside a reference"
    kinds = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
    if "object" in kinds:
        if schema.get("additionalProperties") is not False:
            yield f"{place}: open"
        if sorted(schema.get("required", ())) != sorted(schema.get("properties", {})):
            yield f"{place}: not all required"
    if "array" in kinds and "items" not in schema:
        yield f"{place}: an array of what?"
    inner = {**schema.get("properties", {}), **schema.get("$defs", {})}
    inner |= {str(number): branch for number, branch in enumerate(schema.get("anyOf", ()))}
    inner |= {"items": schema["items"]} if "items" in schema else {}
    for name, held in inner.items():
        yield from strict_faults(held, f"{place}/{name}")


def filled(value: Any, schema: Any, root: Any) -> Any:
    """Arguments as a model writes them to a strict schema: what is left out is null."""
    if "$ref" in schema:
        return filled(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root)
    if "anyOf" in schema:
        tries = [filled(value, branch, root) for branch in schema["anyOf"]]
        whole = [{**branch, "$defs": root.get("$defs", {})} for branch in schema["anyOf"]]
        good = [one for one, branch in zip(tries, whole, strict=True) if validator(branch).is_valid(one)]
        return good[0] if good else value
    if isinstance(value, dict):
        inner = schema.get("properties", {})
        rest = {name: item for name, item in value.items() if name not in inner}
        return {
            name: filled(value[name], held, root) if name in value else None for name, held in inner.items()
        } | rest
    if isinstance(value, list):
        return [filled(item, schema.get("items", {}), root) for item in value]
    return value


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def goes_there_and_back(schema: dict[str, Any], seed: int) -> bool:
    """Whether there was something to try: arguments that fit, and a strict form."""
    source = plain(schema)
    closed, _, _ = close(source, RULES)
    value = instance({**schema, "type": "object"}, schema, random.Random(seed))
    if closed is None or not validator(schema).is_valid(value):
        return False
    written = filled(value, closed, closed)
    assert validator(closed).is_valid(written)
    back = undo(source, freeze(written))
    assert validator(schema).is_valid(back)
    assert without_nulls(back) == without_nulls(value)
    return True


@given(closed_schemas, st.integers(0, 999))
def test_arguments_that_fit_can_be_said_strictly_and_come_back_the_same(
    schema: dict[str, Any], seed: int
) -> None:
    goes_there_and_back(schema, seed)


@needs_corpus
def test_arguments_of_published_tools_can_be_said_strictly_and_come_back_the_same() -> None:
    tried = sum(goes_there_and_back(tool["inputSchema"], seed) for seed, (_, tool) in enumerate(published()))
    assert tried > 1_000


@given(hostile_schemas)
def test_a_strict_form_obeys_the_rules_or_there_is_a_reason(schema: dict[str, Any]) -> None:
    closed, _, why_not = close(plain(schema), RULES)
    assert list(strict_faults(closed)) == [] if closed is not None else why_not


@needs_corpus
def test_of_the_published_tools_most_have_a_strict_form_and_all_others_a_reason() -> None:
    strict = 0
    for name, tool in published():
        closed, _, why_not = close(plain(tool["inputSchema"]), RULES)
        if closed is None:
            assert why_not, name
        else:
            strict += 1
            assert list(strict_faults(closed)) == [], name
    assert strict >= 1_500


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ({"type": "object"}, "a map with free keys"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "a map with free keys"),
        (
            {"type": "object", "properties": {"x": {"type": "null"}}, "additionalProperties": True},
            "a map with free keys",
        ),
        ({"type": "object", "patternProperties": {"^x": {}}}, "a map with free keys"),
        ({}, "a value of any type"),
        ({"type": "array"}, "an array whose items are not all of one declared kind"),
        ({"type": "array", "prefixItems": [{}]}, "an array whose items are not all of one declared kind"),
        ({"enum": [{"a": 1}]}, "listed values that are not scalars of the declared type"),
        (
            {"type": "object", "properties": {}, "required": ["x"]},
            "a required parameter that is not declared",
        ),
        (
            {"anyOf": [{"type": "object", "properties": {"k": {"type": "string"}}} for _ in "ab"]},
            "alternatives begin with the same key",
        ),
    ],
)
def test_what_cannot_be_said_strictly_is_named_with_its_place(part: dict[str, Any], why: str) -> None:
    closed, _, why_not = close(plain({"type": "object", "properties": {"a": part}}), RULES)
    assert closed is None
    assert (why in [what for _, what in why_not], why_not[0][0].startswith("/properties/a")) == (True, True)


def test_alternatives_told_apart_by_their_first_key_are_taken() -> None:
    branches = [
        {"type": "object", "properties": {"k": {"const": kind}, kind: {"type": "string"}}, "required": ["k"]}
        for kind in ("x", "y")
    ]
    source = plain({"type": "object", "properties": {"a": {"oneOf": branches}}, "required": ["a"]})
    closed, dropped, _ = close(source, RULES)
    assert closed is not None
    assert [where for where, _ in dropped] == ["/properties/a/oneOf"]
    assert undo(source, freeze({"a": {"k": "y", "y": None}})) == {"a": {"k": "y"}}


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "object", "properties": {}}, {}])
def test_a_tool_without_parameters_has_a_strict_form(schema: dict[str, Any]) -> None:
    assert close(plain(schema), RULES)[0] == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ({"properties": {name: {"type": "null"} for name in "abcd"}}, "parameters"),
        (
            {
                "properties": {
                    "a": {
                        "type": "object",
                        "properties": {
                            "b": {"type": "object", "properties": {}, "additionalProperties": False}
                        },
                    }
                }
            },
            "levels of nested objects",
        ),
        ({"properties": {"a": {"enum": list("abcde")}}}, "listed values"),
        ({"properties": {"a": {"enum": ["x" * 31]}}}, "letters in names and listed values"),
    ],
)
def test_a_schema_beyond_a_limit_has_no_strict_form(schema: dict[str, Any], what: str) -> None:
    closed, _, why_not = close(plain(schema), SMALL)
    assert closed is None
    assert what in why_not[0][1]


def test_defaults_and_constraints_that_go_are_told_in_words() -> None:
    part = {
        "type": "string",
        "minLength": 2,
        "default": "x",
        "pattern": "(?=a)b",
        "format": "uri",
        "description": "It.",
    }
    closed, dropped, _ = close(plain({"properties": {"a": part}, "required": ["a"]}), RULES)
    assert closed is not None
    told = closed["properties"]["a"]["description"]
    assert told.startswith("It. (")
    assert all(
        words in told for words in ("minLength: 2", 'default: "x"', 'format: "uri"', 'pattern: "(?=a)b"')
    )
    assert sorted(where.rpartition("/")[2] for where, _ in dropped) == ["format", "minLength", "pattern"]


@pytest.mark.parametrize(
    ("part", "written"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": "string", "enum": ["x"]}, {"type": ["string", "null"], "enum": ["x", None]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"const": 1}, {"type": ["integer", "null"], "enum": [1, None]}),
        ({"$ref": "#/$defs/D"}, {"anyOf": [{"$ref": "#/$defs/D"}, {"type": "null"}]}),
        (
            {"type": "array", "items": {"type": "null"}, "description": "d"},
            {"description": "d", "anyOf": [{"type": "array", "items": {"type": "null"}}, {"type": "null"}]},
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        ),
    ],
)
def test_an_optional_parameter_may_be_null(part: dict[str, Any], written: dict[str, Any]) -> None:
    closed, _, _ = close(plain({"properties": {"a": part}, "$defs": {"D": {"type": "string"}}}), RULES)
    assert closed is not None
    assert closed["properties"]["a"] == written


def test_null_means_absent_at_every_depth_and_stays_where_it_is_a_value() -> None:
    inner = {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": ["string", "null"]}}}
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "list": {"type": "array", "items": inner},
            "maybe": {"anyOf": [inner, {"type": "null"}]},
            "need": {"type": ["integer", "null"]},
        },
        "required": ["need"],
    }
    written = {"a": None, "list": [{"x": None, "y": None}], "maybe": {"x": None, "y": "1"}, "need": None}
    meant = {"list": [{"y": None}], "maybe": {"y": "1"}, "need": None}
    assert undo(plain(schema), freeze(written)) == meant


def test_null_in_what_is_not_declared_stays_for_the_checks() -> None:
    source = plain({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    written = freeze({"a": None, "unknown": None})
    assert undo(source, written) == written


def test_arguments_without_null_are_handed_back_untouched() -> None:
    assert undo(plain({}), EMPTY) is EMPTY


def test_the_way_back_from_a_deep_union_takes_no_more_time_than_the_value_is_long() -> None:
    def branch(op: str, **held: Any) -> dict[str, Any]:
        properties = {"op": {"const": op}, **held}
        return {"type": "object", "properties": properties, "required": ["op"], "additionalProperties": False}

    args = {"type": "array", "items": {"$ref": "#/$defs/e"}}
    for tagged in (True, False):
        ops = ("and", "or", "not") if tagged else ("not", "not", "not")
        branches = [branch(op, args=args) for op in ops]
        leaf = branch("leaf", value={"type": "integer"}, note={"type": "string"})
        back = plain(
            {"properties": {"e": {"$ref": "#/$defs/e"}}, "$defs": {"e": {"anyOf": [*branches, leaf]}}}
        )
        for note in (None, 3):
            value: Any = {"op": "leaf", "value": 1, "note": note, "more": None}
            meant: Any = {"op": "leaf", "value": 1}
            for _ in range(40):
                value, meant = {"op": "not", "args": [value]}, {"op": "not", "args": [meant]}
            undone = undo(back, freeze({"e": value}))
            assert undone == {"e": value} or note is None
