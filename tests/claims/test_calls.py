"""What callgate promises of the values that travel, each on a small exact input."""

import json

import pytest

from callgate.calls import (
    CODES,
    FINAL,
    CallKey,
    Event,
    Finding,
    FrozenDict,
    State,
    ToolCall,
    ToolDefinition,
    call_digest,
    canonical,
    freeze,
    idempotency_key,
    parse_arguments,
    step,
)
from callgate.errors import IllegalTransitionError


@pytest.mark.parametrize("text", ["", " ", "\n\t", "{}"])
def test_an_empty_argument_text_is_a_call_without_parameters(text: str) -> None:
    """R004: empty argument string for a call without parameters."""
    assert parse_arguments(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        '{"path":"/etc',
        '{"path":"/etc"',
        '{"path":"/etc",',
        '{"files":["a","b"',
        '{"dry_run":tru',
        '{"path":"/"}}',
        "{'path': '/'}",
        '{"path":"/",}',
    ],
)
def test_a_broken_argument_text_is_refused_and_never_mended(text: str) -> None:
    """R006: truncated arguments are "repaired" and executed."""
    refused = parse_arguments(text)
    assert isinstance(refused, Finding)
    assert refused.code == "NOT_JSON"


def test_a_surrogate_pair_is_one_character_and_half_of_one_is_refused_with_its_place() -> None:
    """R015: surrogate escapes in arguments."""
    assert parse_arguments('{"t":"\\ud83d\\ude00"}') == {"t": "\U0001f600"}
    for half in ("\\ud83d", "\\ude00", "\\ude00\\ud83d", "\\ud83dx"):
        refused = parse_arguments(f'{{"a":1,"t":["","{half}"]}}')
        assert isinstance(refused, Finding)
        assert (refused.code, refused.where) == ("TEXT_NOT_UNICODE", "/t/1")


def test_the_last_of_two_equal_names_does_not_win() -> None:
    """What a person approved and what a parser makes of it must be one thing."""
    refused = parse_arguments('{"to":"a","to":"b"}')
    assert isinstance(refused, Finding)
    assert (refused.code, refused.where) == ("DUPLICATE_KEY", "/to")


def test_a_64_bit_id_is_kept_to_the_last_digit() -> None:
    arguments = parse_arguments('{"id":9007199254740993}')
    assert arguments == {"id": 9007199254740993}
    assert canonical(arguments) == b'{"id":9007199254740993}'


def test_no_two_argument_values_share_an_approval() -> None:
    """R069: approved arguments differ from executed arguments."""
    texts = [
        '{"n":1}',
        '{"n":1.0}',
        '{"n":true}',
        '{"n":"1"}',
        '{"n":[1]}',
        '{"n":-0.0}',
        '{"n":0.0}',
        '{"m":1}',
    ]
    texts += [f'{{"n":{2**53}}}', f'{{"n":{2**53 + 1}}}', f'{{"n":{float(2**53)}}}']
    digests = {call_digest("pay", "d", freeze(json.loads(text))) for text in texts}
    assert len(digests) == len(texts)


def test_what_was_judged_cannot_be_changed_before_it_runs() -> None:
    """R069: the caller mutates the object while the approval is pending."""
    arguments = parse_arguments('{"to":{"name":"a@x"},"cc":["b@x"]}')
    assert isinstance(arguments, FrozenDict)
    call = ToolCall("send_mail", arguments)
    with pytest.raises(TypeError):
        call.arguments["to"]["name"] = "c@x"
    with pytest.raises(TypeError):
        call.arguments["cc"].append("c@x")
    with pytest.raises(AttributeError):
        call.arguments = FrozenDict()  # type: ignore[misc] # the fault under test


def test_a_reused_call_id_does_not_make_two_calls_one() -> None:
    """R044: call ids reused in a later round."""
    call = ToolCall("t", call_id="call_0")
    first, later = (call.admitted_as(CallKey("r", turn), "d") for turn in (0, 1))
    assert first.call_id == later.call_id
    assert first.digest == later.digest
    assert idempotency_key(first.key, first.digest) != idempotency_key(later.key, later.digest)


def test_reordered_keys_are_the_same_definition_and_any_other_change_is_another() -> None:
    """R071: tool definition changes after it was accepted."""
    schema = {"type": "object", "properties": {"to": {}}}
    accepted = ToolDefinition.of("mail", "Send mail", freeze(schema)).digest
    reordered = ToolDefinition.of("mail", "Send mail", freeze(dict(reversed(schema.items())))).digest
    bcc = ToolDefinition.of("mail", "Send mail. Always bcc.", freeze(schema)).digest
    extra = ToolDefinition.of("mail", "Send mail", freeze({**schema, "extra": True})).digest
    renamed = ToolDefinition.of("mail2", "Send mail", freeze(schema)).digest
    assert reordered == accepted
    assert len({accepted, bcc, extra, renamed}) == 4


def test_a_cancelled_call_that_returned_is_a_success() -> None:
    """Asking to stop is a fact beside the state: only a call that has not started can be cancelled."""
    assert step(State.RUNNING, Event.RETURNED) is State.SUCCEEDED
    with pytest.raises(IllegalTransitionError):
        step(State.RUNNING, Event.CANCELLED)


def test_unknown_is_neither_failed_nor_final() -> None:
    """R060: a crash in the middle of a call hides that it may have happened."""
    assert step(State.RUNNING, Event.LOST) is State.UNKNOWN
    assert State.UNKNOWN not in FINAL
    assert "Do not repeat it" in CODES["OUTCOME_UNKNOWN"].advice
