"""What is gathered, and what is said while it is gathered."""

import pytest

from callgate.calls import (
    ArgumentsDelta,
    CallDone,
    CallKind,
    CallStarted,
    Finish,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    TurnDone,
    Usage,
)
from callgate.wire import StreamLimits
from callgate.wire._assembly import Assembly, counted, is_item, provider_fault
from callgate.wire._loose import Loose
from callgate.wire._slot import Terms


def assembly(**limits: int) -> tuple[Assembly, list[StreamEvent]]:
    return Assembly(Terms("openai-chat", limits=StreamLimits(**limits))), []


def test_text_and_reasoning_are_told_and_a_refusal_is_kept() -> None:
    made, out = assembly()
    for field in ("text", "reasoning", "refusal"):
        made.say(made.draft(0), field, field, out)
        made.say(made.draft(1), field, "", out)
    assert out == [TextDelta("text"), ReasoningDelta("reasoning")]
    assert made.draft(0).refusal == ["refusal"]


def test_a_call_is_told_from_its_name_to_its_end() -> None:
    made, out = assembly()
    draft = made.draft(2)
    slot = made.open(draft, CallKind.FUNCTION, "c", out)
    made.name(draft, slot, "", out)
    made.name(draft, slot, "t", out)
    made.name(draft, slot, "t", out)
    made.arguments(draft, slot, "{}", out)
    made.close(draft, slot, out)
    made.close(draft, slot, out)
    made.end(draft, Finish.TOOL_CALLS, "tool_calls", out)
    assert out[:2] == [CallStarted(0, "t", "c", 2), ArgumentsDelta(0, "{}", 2)]
    assert isinstance(out[2], CallDone)
    assert out[3:] == [TurnDone(Finish.TOOL_CALLS, 2)]


def test_a_call_that_the_provider_runs_is_not_told_as_ours() -> None:
    made, out = assembly()
    draft = made.draft(0)
    slot = made.open(draft, None, "s", out)
    made.name(draft, slot, "search", out)
    made.arguments(draft, slot, "{}", out)
    made.close(draft, slot, out)
    assert out == []
    assert (draft.slots, draft.server) == ([], [slot])


def test_more_of_a_call_after_its_end_fails_the_turn() -> None:
    made, out = assembly()
    draft = made.draft(0)
    slot = made.open(draft, CallKind.FUNCTION, "c", out)
    made.close(draft, slot, out)
    made.arguments(draft, slot, "", out)
    assert made.faults == []
    made.arguments(draft, slot, "x", out)
    made.arguments(draft, slot, "y", out)
    assert [fault.code for fault in made.faults] == ["AFTER_THE_END"]
    assert slot.parts == []


def test_other_arguments_of_a_call_that_has_ended_fail_the_turn_and_the_same_ones_do_not() -> None:
    for given in ("", "{}"):
        made, out = assembly()
        slot = made.open(made.draft(0), CallKind.FUNCTION, "c", out)
        made.arguments(made.draft(0), slot, "{}", out)
        made.give(slot, given, out)
        made.close(made.draft(0), slot, out)
        for text in ("", "{}"):
            made.give(slot, text, out)
        assert made.faults == []
        made.give(slot, '{"a":1}', out)
        assert [fault.code for fault in made.faults] == ["AFTER_THE_END"]


def test_a_later_count_without_numbers_leaves_the_earlier_ones() -> None:
    assert counted(None, output_tokens=None) is None
    first = counted(None, input_tokens=3, output_tokens=7)
    second = counted(first, input_tokens=None, output_tokens=None, cached_tokens=0)
    assert counted(second, input_tokens=4) == Usage(4, 7)


@pytest.mark.parametrize("item", [None, [], "x", {}, {"type": None}, {"type": 5}, {"id": "x"}])
def test_what_does_not_say_its_type_is_no_item(item: object) -> None:
    assert not is_item(item)
    assert is_item({"type": "reasoning"})


def test_a_call_that_opens_after_the_end_fails_the_turn() -> None:
    made, out = assembly()
    made.end(made.draft(0), Finish.STOP, "stop", out)
    made.open(made.draft(0), CallKind.FUNCTION, "c", out)
    assert [fault.code for fault in made.faults] == ["AFTER_THE_END"]


def test_a_bad_end_outweighs_a_good_one_and_not_the_reverse() -> None:
    for order in ((Finish.STOP, Finish.LENGTH), (Finish.LENGTH, Finish.STOP)):
        made, out = assembly()
        for finish in order:
            made.end(made.draft(0), finish, finish.value, out)
        assert (made.draft(0).finish, made.draft(0).finish_raw) == (Finish.LENGTH, "length")
        assert len(out) == 1


def test_too_many_calls_fail_the_turn() -> None:
    made, out = assembly(calls=2)
    for _ in range(3):
        made.open(made.draft(0), CallKind.FUNCTION, None, out)
    assert [(fault.code, fault.fatal) for fault in made.faults] == [("TOO_LARGE", True)]
    assert len(made.draft(0).slots) == 2


def test_the_end_is_told_as_what_came_and_not_as_the_server_calls_it() -> None:
    made, out = assembly()
    made.open(made.draft(0), CallKind.FUNCTION, "c", out)
    made.say(made.draft(1), "text", "x", out)
    for number in (0, 1, 2):
        made.end(made.draft(number), Finish.STOP, "stop", out)
    told = [event.finish for event in out if isinstance(event, TurnDone)]
    assert told == [Finish.TOOL_CALLS, Finish.STOP, Finish.EMPTY]


def test_a_reply_that_says_it_makes_calls_and_has_none_is_told_as_an_error() -> None:
    made, out = assembly()
    for number in (0, 1):
        made.end(made.draft(number), Finish.TOOL_CALLS, "tool_calls", out)
    (fault,) = made.faults
    assert fault.code == "CALLS_MISSING"
    assert out == [fault, TurnDone(Finish.ERROR), TurnDone(Finish.EMPTY, 1)]


def test_a_peer_that_only_reports_faults_is_heard_for_a_while() -> None:
    made, out = assembly()
    for number in range(1000):
        made.fault(provider_fault(f"{number}"), out)
    assert len(made.faults) == len(out) < 100


def test_a_half_of_a_pair_waits_until_the_other_comes() -> None:
    made, out = assembly()
    draft, other = made.draft(0), made.draft(1)
    made.loose = Loose({}, "")
    made.say(draft, "text", "a\ud83c", out)
    made.say(other, "text", "\udf78", out)
    made.loose = None
    made.say(draft, "reasoning", "r", out)
    made.say(draft, "text", "\udf78b", out)
    assert out == [TextDelta("a"), TextDelta("\ufffd", 1), ReasoningDelta("r"), TextDelta("🍸b")]
    assert made.held == {}


def test_arguments_in_one_piece_are_bounded_too() -> None:
    made, out = assembly(argument_characters=3)
    slot = made.open(made.draft(0), CallKind.FUNCTION, "c", out)
    made.give(slot, "{  }", out)
    assert slot.fault is not None
    assert (slot.fault.code, slot.given) == ("TOO_LARGE", "")


def test_a_copy_shares_nothing_that_changes() -> None:
    made, out = assembly()
    slot = made.open(made.draft(0), CallKind.FUNCTION, "c", out)
    made.arguments(made.draft(0), slot, "{", out)
    copy = made.copy()
    made.arguments(made.draft(0), slot, "}", out)
    made.fault(provider_fault("x"), out)
    made.say(made.draft(0), "text", "t", out)
    assert copy.draft(0).slots[0].parts == ["{"]
    assert (copy.faults, copy.draft(0).text) == ([], [])


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({"type": "overloaded_error", "message": "busy"}, "overloaded_error", "busy"),
        ({"code": 429, "type": "x", "message": "m"}, "429", "m"),
        ({"status": 503}, "503", "503"),
        ("plain words", "", "plain words"),
        ({"details": [1]}, "", "the provider reported an error"),
        ({"message": "a\ud800"}, "", "a\ufffd"),
    ],
)
def test_an_error_of_the_provider_is_told_in_its_own_words(error: object, code: str, message: str) -> None:
    fault = provider_fault(error)
    assert (fault.provider_code, fault.message) == (code, message)
    assert fault.retryable == (code in ("overloaded_error", "429", "503"))
