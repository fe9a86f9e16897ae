"""OpenAI Chat Completions, rule by rule."""

import json
import time
from typing import Any

import pytest

from callgate.calls import CallKind, Finish, ReasoningDelta, TextDelta, Turn, Usage
from callgate.wire import StreamLimits
from tests.growth import grows_linearly
from tests.wire.bodies import chat, chunk, decode, feed, piece, sse, ways


def every_way(body: bytes, **options: Any) -> Turn:
    first, *others = (decode("openai-chat", pieces, **options) for pieces in ways(body))
    assert all(other == first for other in others)
    return first


CALL = chunk(piece(0, id="c1", type="function", name="t", arguments='{"a":1}'))


def test_a_plain_stream_gives_its_text_its_id_and_its_usage() -> None:
    usage = {
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    turn = every_way(chat(chunk(content="a"), chunk(content="b"), finish="stop", usage=usage))
    assert (turn.text, turn.response_id, turn.finish, turn.finish_raw) == ("ab", "r1", Finish.STOP, "stop")
    assert turn.usage == Usage(7, 5, 3, 2)
    assert turn.executable


def test_the_last_usage_told_counts_and_null_is_none() -> None:
    chunks = [{**CALL, "usage": {"prompt_tokens": 1, "completion_tokens": n}} for n in (1, 2)]
    body = chat({**CALL, "usage": None}, usage=None)
    assert every_way(body).usage is None
    usages = sse(*({**chunk(content="a"), "usage": c["usage"]} for c in chunks), chunk(finish="stop"))
    assert every_way(usages).usage == Usage(1, 2)


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "function_call", "tool_use", "STOP", "eos"])
def test_calls_make_it_a_turn_of_calls_whatever_the_good_word(finish: str) -> None:
    turn = every_way(chat(CALL, finish=finish))
    assert (turn.finish, turn.finish_raw, turn.executable) == (Finish.TOOL_CALLS, finish, True)


@pytest.mark.parametrize(
    ("finish", "wanted"),
    [
        ("length", Finish.LENGTH),
        ("content_filter", Finish.FILTERED),
        ("insufficient_system_resource", Finish.ERROR),
        ("error", Finish.ERROR),
    ],
)
def test_any_other_word_makes_nothing_executable(finish: str, wanted: Finish) -> None:
    turn = every_way(chat(CALL, finish=finish))
    assert (turn.finish, turn.executable) == (wanted, False)
    assert finish in turn.reason


def test_an_end_told_twice_is_one_end_and_the_worse_of_the_two() -> None:
    assert every_way(chat(CALL, chunk(finish="tool_calls", content=""))).executable
    for words in (("tool_calls", "length"), ("length", "tool_calls")):
        turn = every_way(sse(CALL, *(chunk(finish=word) for word in words), "[DONE]"))
        assert (turn.finish, turn.finish_raw) == (Finish.LENGTH, "length")


def test_more_of_a_call_after_the_end_fails_the_turn() -> None:
    for late in (chunk(piece(0, arguments="x")), chunk(piece(1, id="c2", name="u"))):
        turn = every_way(sse(CALL, chunk(finish="tool_calls"), late, "[DONE]"))
        assert (turn.executable, turn.why_not) == (False, "TURN_FAILED")
        assert "AFTER_THE_END" in [fault.code for fault in turn.faults]


def test_neither_an_id_nor_a_last_word_nor_an_object_field_is_needed() -> None:
    bare = [{"choices": [{"delta": {"tool_calls": [piece(0, name="t", arguments="{}")]}}]}]
    turn = every_way(sse(*bare, {"choices": [{"delta": {}, "finish_reason": "stop"}]}))
    assert turn.executable
    assert (turn.calls[0].call_id, turn.calls[0].name) == (None, "t")


@pytest.mark.parametrize("later", ["", None])
def test_an_empty_id_or_name_later_changes_nothing(later: str | None) -> None:
    body = chat(
        chunk(piece(0, id="c1", name="t", arguments=None)),
        chunk(piece(0, id=later, type=None, name=later, arguments='{"a"')),
        chunk(piece(0, id=later, name=later, arguments=":1}")),
        chunk(tool_calls=None),
    )
    (call,) = every_way(body).calls
    assert (call.call_id, call.name, call.arguments) == ("c1", "t", {"a": 1})


def test_indexes_are_labels() -> None:
    body = chat(
        chunk(piece(7, id="c7", name="b", arguments="{")),
        chunk(piece(3, id="c3", name="a", arguments="{}")),
        chunk(piece(7, arguments="}")),
    )
    assert [(c.name, c.complete, c.key.position) for c in every_way(body).calls] == [
        ("b", True, 0),
        ("a", True, 1),
    ]


def test_an_id_that_comes_late_is_the_call_s_id() -> None:
    (call,) = every_way(chat(chunk(piece(0, name="t")), chunk(piece(0, id="c1", arguments="{}")))).calls
    assert (call.call_id, call.name) == ("c1", "t")


def test_arguments_as_an_object_are_its_verbatim_text() -> None:
    raw = json.dumps(chunk(piece(0, id="c", name="t", arguments="@"))).replace('"@"', '{"a":  1.0, "b": "}"}')
    (call,) = every_way(sse(raw, chunk(finish="stop"))).calls
    assert call.arguments_text == '{"a":  1.0, "b": "}"}'
    assert call.arguments == {"a": 1.0, "b": "}"}


def test_choices_are_told_apart_also_where_they_share_a_call_id() -> None:
    body = sse(
        *(chunk(piece(0, id="c", name="t", arguments=""), choice=n) for n in (0, 1)),
        *(chunk(piece(0, arguments=f'{{"n":{n}}}'), choice=n) for n in (1, 0)),
        *(chunk(finish="tool_calls", choice=n) for n in (0, 1)),
        "[DONE]",
    )
    turn = every_way(body)
    (other,) = turn.alternatives
    assert [c.arguments for c in turn.calls] == [{"n": 0}]
    assert [c.arguments for c in other.calls] == [{"n": 1}]
    assert (turn.executable, other.executable) == (True, False)


def test_the_old_form_of_a_call_is_a_call_without_id() -> None:
    parts = ({"name": "t", "arguments": ""}, {"arguments": '{"a"'}, {"arguments": ":1}"})
    turn = every_way(chat(*(chunk(function_call=part) for part in parts), finish="function_call"))
    (call,) = turn.calls
    assert (call.call_id, call.name, call.arguments, call.kind) == (None, "t", {"a": 1}, CallKind.FUNCTION)
    assert turn.executable


def test_a_custom_tool_gets_free_text() -> None:
    body = chat(
        chunk({"index": 0, "id": "c", "type": "custom", "custom": {"name": "py", "input": "pri"}}),
        chunk({"index": 0, "custom": {"input": "nt()"}}),
    )
    (call,) = every_way(body).calls
    assert (call.kind, call.name, call.arguments_text) == (CallKind.CUSTOM, "py", "print()")
    assert call.complete


def test_a_refusal_is_not_text() -> None:
    turn = every_way(chat(chunk(refusal="I "), chunk(refusal="can't"), finish="stop"))
    assert (turn.refusal, turn.text, turn.finish) == ("I can't", "", Finish.REFUSAL)
    assert not turn.executable


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_is_apart_from_text(field: str) -> None:
    thoughts: list[dict[str, Any]] = [{field: "th"}, {field: "ink"}]
    body = chat(*(chunk(**thought) for thought in thoughts), chunk(content="say"), finish="stop")
    events, turn = feed("openai-chat", body)
    assert (turn.reasoning, turn.text) == ("think", "say")
    assert events[:3] == [ReasoningDelta("th"), ReasoningDelta("ink"), TextDelta("say")]


def test_reasoning_that_the_next_request_repeats_is_kept() -> None:
    details: list[dict[str, Any]] = [
        {"type": "reasoning.text", "index": 0, "text": "a", "signature": None},
        {"type": "reasoning.text", "index": 0, "text": "b", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 1, "data": "x"},
        {"type": "reasoning.text", "index": 2, "text": "c"},
    ]
    body = chat(*(chunk(reasoning_details=[detail]) for detail in details), CALL)
    assert every_way(body).kept == [
        {
            "reasoning_details": [
                {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"},
                {"type": "reasoning.encrypted", "index": 1, "data": "x"},
                {"type": "reasoning.text", "index": 2, "text": "c"},
            ]
        }
    ]
    assert every_way(chat(chunk(reasoning_content="th"), CALL)).kept == [{"reasoning_content": "th"}]
    assert every_way(chat(chunk(reasoning_content="th"), chunk(content="x"), finish="stop")).kept == []


def test_content_in_parts_is_text_and_thinking() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "hi"},
        {"type": "reference", "reference_ids": [1]},
    ]
    turn = every_way(chat(chunk(content=parts), chunk(content="!"), finish="stop"))
    assert (turn.text, turn.reasoning) == ("hi!", "hm")


def test_an_error_inside_a_chunk_ends_the_turn_whatever_the_rest_of_it_says() -> None:
    turn = every_way(
        sse(CALL, {**chunk(finish="tool_calls"), "error": {"code": 400, "message": "m"}}, "[DONE]")
    )
    assert (turn.finish, turn.finish_raw, turn.why_not) == (Finish.ERROR, "tool_calls", "TURN_FAILED")
    assert turn.reason == "m"


def test_a_null_error_is_none() -> None:
    assert every_way(chat({**CALL, "error": None})).executable


def seconds(count: int) -> float:
    """For arguments that look at every delta as if the next call began there."""
    first, again, last = (
        sse(chunk(piece(0, name="t", arguments=text))) for text in ('{"a":"}', "{and so on}", '"}')
    )
    body = first + again * count + last + sse(chunk(finish="tool_calls"))
    begin = time.process_time()
    (call,) = decode("openai-chat", body).calls
    assert call.complete
    return time.process_time() - begin


@pytest.mark.no_cover
def test_looking_for_the_next_call_costs_no_more_than_linear_time() -> None:
    assert grows_linearly(seconds, 2_000)


def test_arguments_that_come_as_equal_objects_stay_those_of_their_own_call() -> None:
    texts = ['{"n":true}', '{"n":1}', '{"n":1.0}', '{"n": 1}']
    body = chat(chunk(*(piece(n, id=f"c{n}", name="t", arguments=f"@{n}") for n in range(len(texts)))))
    for number, text in enumerate(texts):
        body = body.replace(f'"@{number}"'.encode(), text.encode())
    turn = every_way(body)
    assert [call.arguments_text for call in turn.calls] == texts
    assert turn.executable


def test_a_fragment_without_index_goes_to_the_call_met_last_however_that_was_met() -> None:
    turn = every_way(
        chat(
            chunk(piece(0, id="a", name="t", arguments="{"), piece(1, id="b", name="u", arguments='{"p":')),
            chunk(piece(0, arguments='"x":')),
            chunk(piece(None, arguments="1}")),
            chunk(piece(1, arguments="2}")),
        )
    )
    assert [call.arguments_text for call in turn.calls] == ['{"x":1}', '{"p":2}']


def test_a_custom_part_beside_a_function_part_counts_in_every_cut() -> None:
    both = {"index": 0, "function": {"arguments": "{}"}, "custom": {"name": "y"}}
    turn = every_way(chat(chunk(piece(0, id="a", name="t", arguments="")), chunk(both)))
    assert [call.name for call in turn.calls] == ["ty"]


def test_a_call_that_got_its_id_late_is_found_by_it_again() -> None:
    turn = every_way(
        chat(
            chunk(piece(0, name="t", arguments="{")),
            chunk(piece(None, id="a")),
            chunk(piece(0, arguments='"x":')),
            chunk(piece(0, id="b", name="u", arguments="{}")),
            chunk(piece(0, id="a", arguments="1}")),
        )
    )
    assert [(call.call_id, call.arguments_text) for call in turn.calls] == [("a", '{"x":1}'), ("b", "{}")]


def test_more_of_a_closed_call_over_the_limit_is_a_fault_in_every_cut() -> None:
    body = sse(
        CALL,
        chunk(finish="tool_calls"),
        chunk(piece(0, id="b", name="t")),
        chunk(content="z"),
        chunk(piece(0, arguments="{}")),
    )
    told = [feed("openai-chat", pieces, limits=StreamLimits(calls=1)) for pieces in ways(body)]
    assert all(other == told[0] for other in told)
    assert [fault.code for fault in told[0][1].faults] == ["TOO_LARGE", "AFTER_THE_END"]


@pytest.mark.parametrize("later", [{}, {"completion_tokens": None}, {"prompt_tokens": 4}])
def test_a_later_usage_without_numbers_does_not_hide_that_the_cap_was_met(later: dict[str, Any]) -> None:
    first = {**chunk(finish="tool_calls"), "usage": {"completion_tokens": 300}}
    second = {**chunk(), "usage": later}
    turn = every_way(sse(CALL, first, second, "[DONE]"), max_tokens=300)
    assert turn.why_not == "TURN_CAPPED"


def test_a_usage_without_numbers_does_not_tell_whether_the_cap_was_met() -> None:
    empty: tuple[dict[str, Any], ...] = ({}, {"prompt_tokens": 4}, {"completion_tokens": None})
    for usage in empty:
        end: dict[str, Any] = {"id": "r1", "choices": [], "usage": usage}
        body = sse(CALL, chunk(finish="tool_calls"), end)
        assert every_way(body, max_tokens=300).why_not == "TURN_CUT"
        assert every_way(body).executable
