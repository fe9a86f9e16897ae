"""OpenAI Responses, rule by rule."""

import json
from typing import Any

import pytest

from callgate.calls import ArgumentsDelta, CallKind, Finish, ServerCall, TextDelta, Turn, Usage
from callgate.wire import encode
from tests.wire.bodies import call, completed, decode, delta, feed, function, item, responses, sse, ways


def every_way(body: bytes, **options: Any) -> Turn:
    first, *others = (decode("openai-responses", pieces, **options) for pieces in ways(body))
    assert all(other == first for other in others)
    return first


def message(text: str, kind: str = "output_text") -> dict[str, Any]:
    name = "refusal" if kind == "refusal" else "text"
    return {"type": "message", "id": "msg", "status": "completed", "content": [{"type": kind, name: text}]}


REASONING = {"type": "reasoning", "id": "rs1", "summary": [], "encrypted_content": "xyz"}


def test_a_plain_stream_gives_reasoning_text_and_a_call() -> None:
    body = responses(
        item("added", 0, REASONING),
        delta(0, "hm", "reasoning_summary_text"),
        item("done", 0, REASONING),
        item("added", 1, {**message(""), "content": []}),
        delta(1, "He", "output_text"),
        delta(1, "llo", "output_text"),
        item("done", 1, message("Hello")),
        *call(2, '{"a"', ":1}"),
        end=completed(
            usage={
                "input_tokens": 9,
                "output_tokens": 5,
                "input_tokens_details": {"cached_tokens": 4},
                "output_tokens_details": {"reasoning_tokens": 3},
            }
        ),
    )
    turn = every_way(body)
    assert (turn.reasoning, turn.text, turn.finish, turn.finish_raw) == (
        "hm",
        "Hello",
        Finish.TOOL_CALLS,
        "completed",
    )
    assert [(c.call_id, c.name, c.arguments, c.complete) for c in turn.calls] == [
        ("c1", "ls", {"a": 1}, True)
    ]
    assert (turn.usage, turn.kept, turn.response_id) == (Usage(9, 5, 4, 3), [REASONING], "r1")
    assert turn.executable
    assert [e.text for e in feed("openai-responses", body)[0] if isinstance(e, TextDelta)] == ["He", "llo"]


def test_an_event_that_comes_twice_counts_once() -> None:
    body = responses(*call(0, '{"a"', ":1}"), delta(1, "x", "output_text"))
    events = [part + b"\n\n" for part in body.split(b"\n\n") if part]
    whole = every_way(body)
    assert every_way(b"".join(event * 2 for event in events)) == whole
    assert every_way(body + body) == whole


def test_events_that_all_carry_one_number_are_all_taken() -> None:
    numbered = [{**event, "sequence_number": 0} for event in (*call(0, '{"a"', ":1}"), completed())]
    assert every_way(sse(*numbered)).calls[0].arguments == {"a": 1}


def test_events_need_no_number() -> None:
    turn = every_way(sse(*call(0, '{"a"', ":1}"), completed(), named=True))
    assert turn.calls[0].arguments == {"a": 1}
    assert turn.executable


def test_items_are_told_apart_by_their_output_index_alone() -> None:
    events = [*call(0, '{"n":0}', call_id="c0"), *call(1, '{"n":1}', call_id="c1")]
    for number, event in enumerate(events):
        event["item_id"] = f"rotating-{number}"
        if "item" in event:
            event["item"] = {**event["item"], "id": f"rotating-{number}"}
    mixed = [event for pair in zip(events[:4], events[4:], strict=True) for event in pair]
    turn = every_way(responses(*mixed))
    assert [(c.call_id, c.arguments["n"]) for c in turn.calls] == [("c0", 0), ("c1", 1)]


def test_arguments_may_come_in_one_piece_only() -> None:
    for events in (
        [item("added", 0, function()), item("done", 0, function('{"a":1}'))],
        [item("done", 0, function('{"a":1}'))],
    ):
        (found,) = every_way(responses(*events)).calls
        assert (found.name, found.call_id, found.arguments, found.complete) == ("ls", "c1", {"a": 1}, True)


def test_deltas_that_do_not_add_up_to_the_whole_are_no_call() -> None:
    events = [
        item("added", 0, function()),
        delta(0, '{"a":'),
        delta(0, "2}"),
        item("done", 0, function('{"a":1}')),
    ]
    (found,) = every_way(responses(*events)).calls
    assert (found.complete, found.fault and found.fault.code) == (False, "TWO_ARGUMENTS")
    two = call(0, '{"a":1}')
    two[-1] = item("done", 0, function('{"a":2}'))
    assert every_way(responses(*two)).calls[0].complete is False


def test_a_stream_joined_in_the_middle_takes_the_whole_arguments_from_the_item() -> None:
    (found,) = every_way(responses(delta(0, ":1}"), item("done", 0, function('{"a":1}')))).calls
    assert (found.arguments, found.complete) == ({"a": 1}, True)


@pytest.mark.parametrize(
    ("status", "complete"), [("completed", True), ("in_progress", True), ("incomplete", False)]
)
def test_an_item_is_done_unless_it_says_that_it_is_not(status: str, complete: bool) -> None:
    events = [item("added", 0, function()), delta(0, "{}"), item("done", 0, function("{}", status=status))]
    (found,) = every_way(responses(*events)).calls
    assert found.complete is complete


def test_more_of_a_call_after_its_item_was_done_fails_the_turn() -> None:
    turn = every_way(responses(*call(0, "{}"), delta(0, "x")))
    assert (turn.why_not, [fault.code for fault in turn.faults]) == ("TURN_FAILED", ["AFTER_THE_END"])


def test_a_call_that_was_never_done_is_incomplete() -> None:
    (found,) = every_way(responses(item("added", 0, function()), delta(0, "{}"))).calls
    assert (found.complete, found.fault and found.fault.code) == (False, "CALL_INCOMPLETE")


@pytest.mark.parametrize(
    ("reason", "finish", "code"),
    [
        ("max_output_tokens", Finish.LENGTH, "TURN_CAPPED"),
        ("content_filter", Finish.FILTERED, "TURN_REFUSED"),
        ("else", Finish.ERROR, "TURN_FAILED"),
    ],
)
def test_an_incomplete_response_makes_nothing_executable(reason: str, finish: Finish, code: str) -> None:
    turn = every_way(
        responses(*call(0, "{}"), end=completed("incomplete", incomplete_details={"reason": reason}))
    )
    assert (turn.finish, turn.finish_raw, turn.why_not) == (finish, f"incomplete/{reason}", code)


@pytest.mark.parametrize("kind", ["failed", "cancelled"])
def test_a_failed_response_makes_nothing_executable(kind: str) -> None:
    turn = every_way(
        responses(*call(0, "{}"), end=completed(kind, error={"code": "server_error", "message": "m"}))
    )
    (fault,) = turn.faults
    assert (fault.provider_code, fault.message, fault.retryable) == ("server_error", "m", True)
    assert (turn.finish, turn.finish_raw, turn.why_not) == (Finish.ERROR, kind, "TURN_FAILED")


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "rate_limit_exceeded", "message": "m"},
        {"type": "error", "error": {"code": "rate_limit_exceeded", "message": "m"}},
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_an_error_event_in_either_form_fails_the_turn(event: dict[str, Any], named: bool) -> None:
    (fault,) = every_way(sse(*call(0, "{}"), event, named=named)).faults
    assert (fault.provider_code, fault.message, fault.retryable) == ("rate_limit_exceeded", "m", True)


def test_halves_of_a_character_in_two_deltas_are_shown_as_one() -> None:
    for kind, opening in (("output_text", message("")), ("function_call_arguments", function())):
        events = [item("added", 0, opening), *(delta(0, "@", kind) for _ in range(4)), completed()]
        numbered = [json.dumps({**event, "sequence_number": n}) for n, event in enumerate(events)]
        for at, text in enumerate((r"a\ud83c", r"\udf78b", r"\ud83c", "c"), 1):
            numbered[at] = numbered[at].replace("@", text)
        for pieces in ways(sse(*numbered)):
            told, _ = feed("openai-responses", pieces)
            shown = [event.text for event in told if isinstance(event, TextDelta | ArgumentsDelta)]
            assert shown == ["a", "🍸b", "\ufffdc"]


def test_a_refusal_is_not_text() -> None:
    turn = every_way(responses(delta(0, "no", "refusal"), item("done", 0, message("no", "refusal"))))
    assert (turn.refusal, turn.text, turn.finish) == ("no", "", Finish.REFUSAL)


def test_a_message_without_deltas_says_its_text_at_its_end() -> None:
    turn = every_way(responses(item("done", 0, message("hi")), item("done", 1, message("no", "refusal"))))
    assert (turn.text, turn.refusal) == ("hi", "no")


def test_a_response_without_any_streamed_item_has_them_in_itself() -> None:
    output = [REASONING, message("hi"), function('{"a":1}')]
    turn = every_way(responses(end=completed(output=output)))
    assert (turn.text, turn.calls[0].arguments, turn.kept) == ("hi", {"a": 1}, [REASONING])
    # But what was streamed is not taken again.
    assert len(every_way(responses(*call(0, "{}"), end=completed(output=[function("{}")]))).calls) == 1


def test_a_custom_tool_gets_free_text() -> None:
    def custom(text: str) -> dict[str, Any]:
        return {"type": "custom_tool_call", "id": "x", "call_id": "c", "name": "py", "input": text}

    events = [
        item("added", 0, custom("")),
        delta(0, "print(", "custom_tool_call_input"),
        delta(0, ")", "custom_tool_call_input"),
        {"type": "response.custom_tool_call_input.done", "output_index": 0, "input": "print()"},
        item("done", 0, custom("print()")),
    ]
    (found,) = every_way(responses(*events)).calls
    assert (found.kind, found.name, found.arguments_text) == (CallKind.CUSTOM, "py", "print()")
    assert found.complete


PATCH = {
    "type": "apply_patch_call",
    "id": "a",
    "call_id": "c",
    "status": "completed",
    "operation": {"path": "p"},
}


@pytest.mark.parametrize(
    "value",
    [
        PATCH,
        {"type": "local_shell_call", "id": "l", "call_id": "c", "action": {"command": ["ls"]}},
        {"type": "shell_call", "id": "l", "call_id": "c", "environment": {"type": "local"}},
        {"type": "tool_search_call", "id": "t", "call_id": "c", "execution": "client", "arguments": {}},
        {"type": "mcp_approval_request", "id": "c", "name": "pay", "arguments": "{}"},
        {"type": "brand_new_call", "id": "n", "call_id": "c"},
    ],
)
def test_a_built_in_tool_that_the_client_runs_is_shown_whole(value: dict[str, Any]) -> None:
    turn = every_way(
        responses(
            item("added", 0, value),
            delta(0, "x", "apply_patch_call_operation_diff"),
            item("done", 0, value),
        )
    )
    (found,) = turn.calls
    assert (found.kind, found.name, found.call_id) == (CallKind.BUILTIN, value["type"], "c")
    assert json.loads(found.arguments_text) == value == found.arguments
    assert found.complete


@pytest.mark.parametrize(
    "value",
    [
        {"type": "mcp_call", "id": "s", "name": "ask", "arguments": '{"q":1}', "output": "o"},
        {"type": "web_search_call", "id": "s", "action": {"query": "q"}},
        {
            "type": "tool_search_call",
            "id": "s",
            "call_id": None,
            "execution": "server",
            "arguments": {"q": 1},
        },
        {"type": "shell_call", "id": "s", "environment": {"type": "container_reference"}},
    ],
)
def test_a_call_that_the_provider_ran_is_shown_and_kept_but_not_ours(value: dict[str, Any]) -> None:
    turn = every_way(responses(item("added", 0, {**value, "arguments": ""}), item("done", 0, value)))
    given = value.get("arguments", "")
    text = given if isinstance(given, str) else json.dumps(given, separators=(",", ":"))
    assert turn.server_calls == (ServerCall(value.get("name", value["type"]), "s", text),)
    assert (turn.calls, turn.kept, turn.finish) == ((), [value], Finish.STOP)


def test_an_item_may_carry_more_than_is_known() -> None:
    fields = {"namespace": "n", "caller": {"type": "program", "caller_id": "p"}}
    (found,) = every_way(responses(*call(0, "{}", **fields))).calls
    assert found.complete


def test_another_kind_of_item_is_kept_as_it_came() -> None:
    program = {"type": "program", "id": "p", "code": "x = 1  # ü"}
    assert every_way(responses(item("done", 0, program))).kept == [program]


def ended(index: int | None, arguments: str, **fields: Any) -> dict[str, Any]:
    return item("done", index, function(arguments, **fields))


def test_another_call_under_the_index_of_one_that_is_done_is_a_call_of_its_own() -> None:
    for first in ([ended(0, '{"a":1}')], call(0, '{"a":1}')):
        turn = every_way(responses(*first, ended(0, '{"b":2}', call_id="c2", name="pay")))
        assert [(c.call_id, c.name, c.arguments) for c in turn.calls] == [
            ("c1", "ls", {"a": 1}),
            ("c2", "pay", {"b": 2}),
        ]
        assert turn.executable


def test_the_end_of_an_item_of_another_type_ends_no_call_and_is_not_lost() -> None:
    message = {"type": "message", "content": [{"type": "output_text", "text": "hey"}]}
    open_ = item("added", 0, function(status="in_progress"))
    turn = every_way(responses(open_, delta(0, "{}"), item("done", 0, message)))
    assert [c.complete for c in turn.calls] == [False]
    assert turn.text == "hey"
    turn = every_way(responses(item("done", 0, message), ended(0, "{}")))
    assert [c.complete for c in turn.calls] == [True]
    turn = every_way(responses(delta(0, "hey", "output_text"), item("done", 0, message), ended(0, "{}")))
    assert (turn.text, [c.complete for c in turn.calls]) == ("hey", [True])


def test_a_call_that_is_done_twice_counts_once_and_with_other_arguments_fails_the_turn() -> None:
    again = {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"a":1}'}
    for first in ([ended(0, '{"a":1}')], call(0, '{"a":', "1}")):
        turn = every_way(responses(*first, ended(0, '{"a":1}'), again))
        assert turn.executable
        assert len(turn.calls) == 1
        for other in (ended(0, '{"a":2}'), {**again, "arguments": '{"a":2}'}):
            turn = every_way(responses(*first, other))
            assert [fault.code for fault in turn.faults] == ["AFTER_THE_END"]
            assert not turn.executable


def test_an_item_that_does_not_say_its_type_is_not_kept() -> None:
    odd = {"type": "response.output_item.done", "output_index": 0}
    turn = every_way(responses(odd, item("done", 1, {}), item("done", 2, {"type": 5})))
    assert turn.kept == []
    assert encode("openai-responses", turn, []) == [{"role": "assistant", "content": ""}]


def test_a_later_usage_without_numbers_leaves_the_earlier_one() -> None:
    turn = every_way(responses(completed(usage={"output_tokens": 9}), end=completed(usage={})))
    assert turn.usage == Usage(0, 9)
