"""Lowered schemas: within each provider's rules whatever the tool's own is, and every loss told."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import pytest
from hypothesis import given
from jsonschema_rs import meta

from callgate.calls import Description, FrozenDict, ToolDefinition, freeze, thaw
from callgate.errors import UnknownDialectError
from callgate.wire import Lowered, lower
from callgate.wire._lower import Rules, lower_by
from tests.corpus import needs_corpus
from tests.schemas import hostile_schemas, published, tool_schemas

DIALECTS: Final = ("openai-chat", "openai-responses", "anthropic", "json-mode")
PLAIN_TOP: Final = DIALECTS[:3]
ONE: Final = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
TOP: Final = {"anyOf", "oneOf", "allOf", "enum", "const", "not", "$ref"}


def tool(parameters: dict[str, Any], description: str | Description = "Do it.") -> ToolDefinition:
    return ToolDefinition.of("do", description, freeze(parameters))


def schemas_in(schema: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every place of a schema where another one may stand: written down here once more, on its own."""
    yield place, schema
    if isinstance(schema, dict):
        for keyword, held in schema.items():
            if keyword in ("properties", "$defs", "patternProperties", "dependentSchemas"):
                for name, inner in held.items():
                    yield from schemas_in(inner, f"{place}/{keyword}/{name}")
            elif keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
                for number, inner in enumerate(held):
                    yield from schemas_in(inner, f"{place}/{keyword}/{number}")
            elif keyword in ONE:
                yield from schemas_in(held, f"{place}/{keyword}")


def faults(dialect: str, lowered: Lowered) -> Iterator[str]:
    """What a provider would refuse the whole request for."""
    schema = thaw(lowered.schema)
    meta.validate(schema | {"$schema": "https://json-schema.org/draft/2020-12/schema"})
    if dialect == "json-mode":
        return
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        yield "the top is no object with properties"
    yield from (f"{keyword} at the top" for keyword in TOP & schema.keys())
    yield from faults_inside(schema)
    if dialect == "anthropic":
        yield from (name for name in schema["properties"] if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name))
    if dialect.startswith("openai") and len(lowered.description) > 1024:
        yield "a description that is too long"


def faults_inside(schema: Any) -> Iterator[str]:
    for place, inner in schemas_in(schema):
        if isinstance(inner, bool):
            if not place.endswith("additionalProperties"):
                yield f"{place}: a boolean for a schema"
            continue
        if "array" in inner.get("type", ()) and "items" not in inner:
            yield f"{place}: an array without items"
        if inner.get("type") == "object" and "properties" not in inner:
            yield f"{place}: an object without properties"
        if "$ref" in inner and inner["$ref"].removeprefix("#/$defs/") not in schema.get("$defs", {}):
            yield f"{place}: a reference to nothing"


@given(parameters=hostile_schemas)
def test_whatever_a_tool_declares_the_request_is_valid(parameters: dict[str, Any]) -> None:
    for dialect, strict in product(DIALECTS, (False, True)):
        assert list(faults(dialect, lower(dialect, tool(parameters), strict=strict))) == []


@needs_corpus
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("strict", [False, True])
def test_every_published_tool_lowers_to_a_valid_request(dialect: str, strict: bool) -> None:
    for name, one in published():
        definition = ToolDefinition.of(one["name"], one.get("description") or "", freeze(one["inputSchema"]))
        lowered = lower(dialect, definition, strict=strict)
        assert list(faults(dialect, lowered)) == [], name
        if strict and not lowered.strict:
            assert any("not strict" in loss.what for loss in lowered.losses), name


@given(parameters=tool_schemas)
def test_a_good_tool_loses_nothing(parameters: dict[str, Any]) -> None:
    for dialect in DIALECTS:
        # Anthropic takes no parameter's name that is not ASCII.
        assert {loss.where for loss in lower(dialect, tool(parameters)).losses} <= {"/properties/资料"}


@given(tool_schemas)
def test_lowering_is_done_once_for_a_definition_and_gives_the_same_bytes(parameters: dict[str, Any]) -> None:
    one, other = tool(parameters), tool(parameters)
    assert lower("openai-chat", one, strict=True) is lower("openai-chat", other, strict=True)


AWKWARD: Final[list[dict[str, Any]]] = [
    {"type": ["array", "null"], "items": {"type": ["object", "null"], "properties": {"v": True}}},
    {"exclusiveMinimum": 0},
    {"const": "a"},
    {"type": "array"},
    {"type": "object"},
    {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"$ref": "https://example.com/schema.json"},
    {"properties": {"a": {"type": "float"}, "b": {"items": [{}, {}]}, "filter[id]": {"type": "string"}}},
    {"properties": None, "required": "a"},
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("awkward", AWKWARD, ids=str)
def test_an_awkward_schema_is_valid_as_parameters_and_as_a_part_of_them(
    dialect: str, awkward: dict[str, Any]
) -> None:
    for parameters in (awkward, {"type": "object", "properties": {"x": awkward}, "required": ["x"]}):
        assert list(faults(dialect, lower(dialect, tool(parameters)))) == []


@pytest.mark.parametrize("dialect", PLAIN_TOP)
def test_alternatives_at_the_top_are_merged_and_told(dialect: str) -> None:
    lowered = lower(dialect, tool(AWKWARD[5]))
    assert [(loss.tool, loss.where) for loss in lowered.losses] == [("do", "/anyOf")]
    assert lower("json-mode", tool(AWKWARD[5])).losses == ()


def test_a_parameter_name_that_is_not_taken_is_told_in_words_and_stays_usable() -> None:
    parameters = {
        "type": "object",
        "properties": {"filter[id]": {"type": "string"}, "page": {"type": "integer"}},
        "required": ["filter[id]", "page"],
        "additionalProperties": False,
    }
    lowered = lower("anthropic", tool(parameters))
    assert list(lowered.schema["properties"]) == ["page"]
    assert lowered.schema["required"] == ["page"]
    assert "additionalProperties" not in lowered.schema
    assert '"filter[id]": {"type": "string"}' in lowered.schema["description"]
    assert [loss.where for loss in lowered.losses] == ["/properties/filter[id]"]


def test_a_long_description_is_cut_but_never_its_warnings() -> None:
    told = Description("x" * 2_000, danger="Deletes files.", effect_note="Irreversible, needs approval.")
    lowered = lower("openai-chat", tool({}, told))
    assert len(lowered.description) == 1024
    assert lowered.description.endswith("…\nDanger: Deletes files.\nIrreversible, needs approval.")
    cut = f"description cut from {len(told.text())} to 1024 characters"
    assert [loss.what for loss in lowered.losses] == [cut]
    assert lower("anthropic", tool({}, told)).description == told.text()


def test_a_dialect_without_strict_form_says_so() -> None:
    lowered = lower("anthropic", tool({}), strict=True)
    assert not lowered.strict
    assert [loss.what for loss in lowered.losses] == ["not strict: this dialect has no strict form"]


def test_one_tool_that_has_no_strict_form_is_told_and_ordinary() -> None:
    parameters = {"type": "object", "properties": {"m": {"type": "object"}}}
    lowered = lower("openai-chat", tool(parameters), strict=True)
    assert not lowered.strict
    assert [(loss.where, loss.what) for loss in lowered.losses] == [
        ("/properties/m", "not strict: a map with free keys")
    ]


NARROW: Final = Rules(
    keywords=frozenset(("type", "properties", "required", "items", "enum", "anyOf", "minimum", "format")),
    formats=frozenset(("date-time",)),
    type_lists=False,
)


@given(hostile_schemas)
def test_a_provider_that_takes_few_keywords_gets_only_those(parameters: dict[str, Any]) -> None:
    lowered = lower_by(NARROW, tool(parameters))
    for _, inner in schemas_in(thaw(lowered.schema)):
        if not isinstance(inner, bool):
            assert inner.keys() <= {*(NARROW.keywords or ()), "description", "$ref", "$defs"}
            assert not isinstance(inner.get("type"), list)
            assert inner.get("format", "date-time") == "date-time"
    assert list(faults("openai-chat", lowered)) == []


@pytest.mark.parametrize(
    ("part", "written", "lost"),
    [
        ({"const": "a"}, {"enum": ["a"]}, []),
        ({"oneOf": [{"type": "null"}]}, {"anyOf": [{"type": "null"}]}, []),
        ({"type": "null", "maxItems": 0}, {"type": "null", "description": "(maxItems: 0)"}, ["maxItems"]),
        ({"type": "null", "format": "uri"}, {"type": "null", "description": '(format: "uri")'}, ["format"]),
        ({"type": "string", "title": "T"}, {"type": "string", "description": '(title: "T")'}, []),
        ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}, []),
        ({"type": "array"}, {"type": "array", "items": {}}, []),
    ],
)
def test_what_a_provider_does_not_take_is_said_otherwise_or_in_words(
    part: dict[str, Any], written: dict[str, Any], lost: list[str]
) -> None:
    lowered = lower_by(NARROW, tool({"type": "object", "properties": {"a": part}}))
    assert lowered.schema["properties"]["a"] == written
    assert [loss.where.rpartition("/")[2] for loss in lowered.losses] == lost


def test_the_tool_s_own_schema_stays_as_it_is() -> None:
    definition = tool({"type": "object", "properties": {"a": {"const": 1}}})
    before = FrozenDict(definition.parameters)
    lower("openai-chat", definition, strict=True)
    assert definition.parameters == before


def test_another_process_writes_the_same_bytes() -> None:
    script = (
        "import json, sys\n"
        "from callgate.calls import ToolDefinition, freeze\n"
        "from callgate.wire import lower\n"
        "tool = ToolDefinition.of('t', 'd', freeze(json.load(sys.stdin)))\n"
        "for dialect in ('openai-chat', 'anthropic'):\n"
        "    print([json.dumps(lower(dialect, tool, strict=strict).schema) for strict in (0, 1)])\n"
    )
    part = {"type": "array", "items": {"type": "string"}, "title": "T", "description": "D", "minItems": 1}
    rest = {
        "type": "string",
        "minLength": 1,
        "maxLength": 9,
        "default": "x",
        "readOnly": True,
        "examples": ["y"],
    }
    schema = {
        "$ref": "#/$defs/A",
        "$defs": {"A": {"title": "T", "default": {}, "properties": {"a": part, "b": rest}}},
    }
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=json.dumps(schema),
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(outputs) == 1


def test_an_unknown_dialect_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownDialectError, match="json-mode"):
        lower("morse", tool({}))
