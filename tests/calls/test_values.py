import hashlib
from dataclasses import is_dataclass
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate import calls
from callgate.calls import (
    EMPTY,
    Access,
    CallKey,
    CallKind,
    Description,
    Example,
    Finding,
    Finish,
    FrozenDict,
    Mode,
    ToolCall,
    ToolDefinition,
    Turn,
    Usage,
    Verdict,
    call_digest,
    canonical,
    freeze,
    turn_digest,
)
from tests.strategies import json_objects, typed

DATACLASSES: Final = [kind for kind in vars(calls).values() if isinstance(kind, type) and is_dataclass(kind)]
STRUCTS: Final = [
    kind for kind in vars(calls).values() if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
]

SCHEMA: Final = freeze(
    {"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}}
)


@pytest.mark.parametrize("kind", DATACLASSES)
def test_every_value_is_frozen_and_slotted(kind: Any) -> None:
    assert kind.__dataclass_params__.frozen
    assert "__slots__" in vars(kind)


@pytest.mark.parametrize("kind", STRUCTS)
def test_every_struct_is_frozen(kind: Any) -> None:
    assert kind.__struct_config__.frozen


def test_a_call_cannot_be_changed_after_it_was_read() -> None:
    call = ToolCall("read_file", freeze({"path": "a"}))
    for name in ToolCall.__struct_fields__:
        with pytest.raises(AttributeError, match="immutable"):
            setattr(call, name, None)
    with pytest.raises(TypeError):
        call.arguments["path"] = "b"


def test_the_empty_values_are_safe_defaults() -> None:
    """A turn of which nothing is known is cut and not executable; a call has no digest until it is judged."""
    assert (Turn().finish.value, Turn().executable, Turn().calls) == ("cut", False, ())
    assert (ToolCall("t").arguments, ToolCall("t").digest, ToolCall("t").kind) == (
        EMPTY,
        "",
        CallKind.FUNCTION,
    )


# ---------------------------------------------------------------- digests


def test_the_digest_of_a_call_is_the_one_documented() -> None:
    told = b"read_file\n" + b"d" * 64 + b'\n{"n":1,"path":"\xe8\xb5\x84"}'
    assert (
        call_digest("read_file", "d" * 64, freeze({"path": "资", "n": 1})) == hashlib.sha256(told).hexdigest()
    )


texts: Final = st.text("a\n{}", max_size=3)


@given(st.tuples(texts, json_objects), st.tuples(texts, json_objects))
def test_two_calls_share_a_digest_only_when_they_are_the_same(
    one: tuple[str, dict[str, Any]], other: tuple[str, dict[str, Any]]
) -> None:
    digests = [call_digest(name, "d" * 64, freeze(arguments)) for name, arguments in (one, other)]
    same = one[0] == other[0] and typed(one[1]) == typed(other[1])
    assert (digests[0] == digests[1]) == same


def test_the_digest_tells_the_name_the_definition_and_each_argument() -> None:
    """R069: an approval is of one tool, one definition and one value."""
    made = [
        call_digest(name, definition, freeze(arguments))
        for name in ("pay", "pay2")
        for definition in ("d1", "d2")
        for arguments in ({}, {"to": "a"}, {"to": "b"}, {"sum": 1}, {"sum": 1.0}, {"sum": True}, {"sum": "1"})
    ]
    assert len(set(made)) == len(made)


def test_admitting_a_call_keeps_all_but_its_key_and_digest() -> None:
    fault = Finding("NOT_JSON")
    call = ToolCall(
        "t", freeze({"a": 1}), '{"a":1}', "c1", CallKey("", 0, 0, 2), False, fault, CallKind.CUSTOM
    )
    admitted = call.admitted_as(CallKey("r", 4, 1, 2), "d" * 64)
    assert admitted.key == CallKey("r", 4, 1, 2)
    assert admitted.digest == call_digest("t", "d" * 64, call.arguments)
    unchanged = set(ToolCall.__struct_fields__) - {"key", "digest"}
    assert {name: getattr(admitted, name) for name in unchanged} == {
        name: getattr(call, name) for name in unchanged
    }


def test_a_reordered_schema_is_the_same_definition() -> None:
    """R071: the order of keys is no change; any other change is one."""
    turned = freeze({"properties": {"n": {"type": "integer"}, "path": {"type": "string"}}, "type": "object"})
    assert ToolDefinition.of("t", "Reads.", SCHEMA).digest == ToolDefinition.of("t", "Reads.", turned).digest


def test_any_other_change_is_another_definition() -> None:
    wider: FrozenDict = freeze({**SCHEMA, "additionalProperties": True})
    definitions = [
        ToolDefinition.of("t", "Reads.", SCHEMA),
        ToolDefinition.of("u", "Reads.", SCHEMA),
        ToolDefinition.of("t", "Reads. Always bcc.", SCHEMA),
        ToolDefinition.of("t", Description("Reads.", danger="bites"), SCHEMA),
        ToolDefinition.of("t", "Reads.", wider),
    ]
    assert len({definition.digest for definition in definitions}) == len(definitions)


def test_examples_are_no_part_of_what_a_call_is_judged_under() -> None:
    examples = (Example("Read a.", freeze({"path": "a"})),)
    assert (
        ToolDefinition.of("t", "R.", SCHEMA, examples).digest == ToolDefinition.of("t", "R.", SCHEMA).digest
    )


def test_the_digest_of_a_definition_is_the_one_documented() -> None:
    told = canonical({"name": "t", "description": "Reads.", "parameters": SCHEMA})
    assert ToolDefinition.of("t", "Reads.", SCHEMA).digest == hashlib.sha256(told).hexdigest()


# ---------------------------------------------------------------- small values


def test_a_description_is_told_part_by_part_and_empty_parts_are_left_out() -> None:
    whole = Description("Reads.", "asked to", "it is big", "search_text", "lines", "none", "Read only.")
    assert whole.text().split("\n") == [
        "Reads.",
        "Use when: asked to",
        "Do not use when: it is big",
        "Use search_text instead then.",
        "Returns: lines",
        "Danger: none",
        "Read only.",
    ]
    assert Description("Reads.").text() == "Reads."


def test_a_verdict_without_findings_passes_even_if_it_asks() -> None:
    assert Verdict().ok
    assert Verdict(ask=("it deletes",)).ok
    assert not Verdict(findings=(Finding("FORBIDDEN"),)).ok


def test_everything_is_touched_for_writing_unless_said_otherwise() -> None:
    assert Access.everything() == Access("*", Mode.WRITE)
    assert Access.everything(Mode.READ) == Access("*", Mode.READ)


def test_usage_adds_what_went_in_and_what_came_out() -> None:
    assert Usage(input_tokens=10, output_tokens=5, cached_tokens=8, reasoning_tokens=3).total == 15


def test_a_turn_is_known_again_by_what_the_model_said() -> None:
    def said(*calls: tuple[str, str], **other: Any) -> str:
        made = tuple(ToolCall("put", arguments_text=text, call_id=call_id) for call_id, text in calls)
        return turn_digest(Turn(calls=made, **{"finish": Finish.TOOL_CALLS, **other}))

    one = ("c1", '{"value":1}')
    assert said(one) == said(one, usage=Usage(1, 2), dialect="anthropic", digest="d")
    different = [
        said(one),
        said(("c2", '{"value":1}')),
        said(("c1", '{"value":2}')),
        said(one, one),
        said(one, text="and"),
        said(one, refusal="no"),
        said(one, finish=Finish.STOP),
        said(one, finish_raw="function_call"),
        said(one, response_id="r2"),
    ]
    assert len(set(different)) == len(different)
