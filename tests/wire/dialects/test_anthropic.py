"""Anthropic Messages, rule by rule."""

import json
from typing import Any

import pytest

from callgate.calls import (
    ArgumentsDelta,
    CallKey,
    CallKind,
    Finish,
    ReasoningDelta,
    ServerCall,
    Status,
    TextDelta,
    ToolResult,
    Turn,
    TurnDone,
    Usage,
)
from callgate.wire import StreamLimits, encode
from tests.wire.bodies import (
    MESSAGE_START,
    MESSAGE_STOP,
    anthropic,
    decode,
    feed,
    more,
    reason,
    say,
    sse,
    start,
    stop,
    tool,
    ways,
)


def every_way(body: bytes, **options: Any) -> Turn:
    first, *others = (decode("anthropic", pieces, **options) for pieces in ways(body))
    assert all(other == first for other in others)
    return first


def block(index: int, id_: str = "c", text: str = "{}", **fields: Any) -> list[dict[str, Any]]:
    return [tool(index, id_, "t", **fields), more(index, ""), more(index, text), stop(index)]


def test_a_plain_stream_gives_text_then_a_call() -> None:
    body = anthropic(start(0, type="text", text="He"), say(0, "llo"), stop(0), *block(1, text='{"a":1}'))
    turn = every_way(body)
    assert (turn.text, turn.response_id, turn.finish, turn.executable) == (
        "Hello",
        "m1",
        Finish.TOOL_CALLS,
        True,
    )
    assert [(c.call_id, c.name, c.arguments) for c in turn.calls] == [("c", "t", {"a": 1})]
    assert turn.kept == []
    assert [e.text for e in feed("anthropic", body)[0] if isinstance(e, TextDelta)] == ["He", "llo"]


def test_usage_is_what_the_last_event_knew_of_each_count() -> None:
    first = {
        "input_tokens": 3,
        "cache_read_input_tokens": 10,
        "cache_creation_input_tokens": 4,
        "output_tokens": 1,
    }
    body = sse(
        {"type": "message_start", "message": {"id": "m", "usage": first}}, reason("end_turn", 9), MESSAGE_STOP
    )
    assert every_way(body).usage == Usage(17, 9, 10)


def test_only_message_stop_ends_the_message() -> None:
    whole = [MESSAGE_START, *block(0), reason("tool_use"), MESSAGE_STOP]
    assert every_way(sse(*whole, named=True)).executable
    for missing in (-1, -2):
        events = [event for place, event in enumerate(whole) if place != len(whole) + missing]
        turn = every_way(sse(*events, named=True))
        assert (turn.finish, turn.why_not) == (Finish.CUT, "TURN_CUT")


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("max_tokens", Finish.LENGTH),
        ("model_context_window_exceeded", Finish.LENGTH),
        ("refusal", Finish.REFUSAL),
        ("something_new", Finish.ERROR),
    ],
)
def test_another_stop_reason_makes_nothing_executable(word: str, finish: Finish) -> None:
    turn = every_way(anthropic(*block(0), finish=word))
    assert (turn.finish, turn.finish_raw, turn.executable) == (finish, word, False)


@pytest.mark.parametrize("word", ["end_turn", "stop_sequence", "pause_turn"])
def test_a_good_stop_reason_ends_a_text(word: str) -> None:
    turn = every_way(anthropic(start(0, type="text", text="x"), stop(0), finish=word))
    assert (turn.finish, turn.finish_raw, turn.executable) == (Finish.STOP, word, True)


def test_a_call_without_its_stop_is_incomplete_also_where_it_looks_whole() -> None:
    (call,) = every_way(anthropic(tool(0, "c", "t"), more(0, "{}"))).calls
    assert (call.complete, call.fault and call.fault.code) == (False, "CALL_INCOMPLETE")


def test_input_that_stands_in_the_start_counts_verbatim() -> None:
    raw = json.dumps(tool(0, "c", "t", input="@")).replace('"@"', '{"a":  1.0}')
    (call,) = every_way(sse(MESSAGE_START, raw, stop(0), reason("tool_use"), MESSAGE_STOP)).calls
    assert (call.arguments_text, call.arguments, call.complete) == ('{"a":  1.0}', {"a": 1.0}, True)


def test_input_in_the_start_and_other_input_in_deltas_are_no_call() -> None:
    same, other = (anthropic(*block(0, text=text, input={"a": 1})) for text in ('{"a": 1}', '{"a":2}'))
    assert every_way(same).calls[0].arguments == {"a": 1}
    call = every_way(other).calls[0]
    assert (call.complete, call.fault and call.fault.code) == (False, "TWO_ARGUMENTS")


@pytest.mark.parametrize("deltas", [[], [more(0, "")]])
def test_a_call_without_input_has_no_arguments(deltas: list[dict[str, Any]]) -> None:
    (call,) = every_way(anthropic(tool(0, "c", "t"), *deltas, stop(0))).calls
    assert (call.arguments, call.arguments_text, call.complete) == ({}, "", True)


SEARCH = [
    start(0, type="server_tool_use", id="s1", name="web_search", input={}),
    more(0, '{"q":'),
    more(0, "1}"),
    stop(0),
    start(1, type="web_search_tool_result", tool_use_id="s1", content=[{"url": "u"}]),
    stop(1),
]


def test_a_call_that_the_provider_ran_is_shown_and_kept_but_not_ours() -> None:
    turn = every_way(anthropic(*SEARCH, *block(2)))
    assert turn.server_calls == (ServerCall("web_search", "s1", '{"q":1}'),)
    told = [
        event
        for event in feed("anthropic", anthropic(*SEARCH, finish="end_turn"))[0]
        if not isinstance(event, TurnDone)
    ]
    assert told == []
    assert [c.call_id for c in turn.calls] == ["c"]
    assert turn.kept == [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": 1}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "u"}]},
    ]


def test_a_call_of_a_kind_not_known_is_shown_as_built_in() -> None:
    turn = every_way(anthropic(start(0, type="robot_tool_use", id="r", name="arm", input={"x": 1}), stop(0)))
    (call,) = turn.calls
    assert (call.kind, call.name, call.arguments) == (CallKind.BUILTIN, "arm", {"x": 1})


def test_thinking_is_kept_with_its_signature() -> None:
    def thinking(**fields: str) -> dict[str, Any]:
        (kind,) = fields
        delta = {"type": f"{kind}_delta", **fields}
        return {"type": "content_block_delta", "index": 0, "delta": delta}

    body = anthropic(
        start(0, type="thinking", thinking="", signature=""),
        *(thinking(thinking="a"), thinking(thinking="b"), thinking(signature="sig"), stop(0)),
        *(start(1, type="redacted_thinking", data="xyz"), stop(1)),
        *block(2),
    )
    turn = every_way(body)
    assert turn.reasoning == "ab"
    assert turn.kept == [
        {"type": "thinking", "thinking": "ab", "signature": "sig"},
        {"type": "redacted_thinking", "data": "xyz"},
    ]
    assert [e.text for e in feed("anthropic", body)[0] if isinstance(e, ReasoningDelta)] == ["a", "b"]


def test_halves_of_a_character_in_two_deltas_are_shown_as_one() -> None:
    texts = [r"a\ud83c", r"\udf78b", r"\ud83c", "c"]
    for index, (make, opening) in enumerate(((say, start(0, type="text")), (more, tool(1, "c", "t")))):
        deltas = [json.dumps(make(index, "@")).replace("@", text) for text in texts]
        for pieces in ways(
            sse(MESSAGE_START, opening, *deltas, stop(index), reason("end_turn"), MESSAGE_STOP)
        ):
            events, _ = feed("anthropic", pieces)
            shown = [event.text for event in events if isinstance(event, TextDelta | ArgumentsDelta)]
            assert shown == ["a", "🍸b", "\ufffdc"]


def test_a_second_message_start_buries_the_calls_of_the_first() -> None:
    """Also one that had closed: it would run twice."""
    body = sse(
        *(MESSAGE_START, start(0, type="text", text="old"), stop(0), *block(1, "dead"), tool(2, "open", "t")),
        *({"type": "message_start", "message": {"id": "m2"}}, *block(0, "live", '{"a":1}')),
        *(reason("tool_use"), MESSAGE_STOP),
        named=True,
    )
    turn = every_way(body)
    assert [(c.call_id, c.complete) for c in turn.calls] == [("dead", False), ("open", False), ("live", True)]
    assert (turn.text, turn.response_id, turn.executable) == ("", "m2", True)
    assert [(fault.code, fault.fatal) for fault in turn.faults] == [("SECOND_MESSAGE", False)]


def test_a_message_start_that_is_repeated_at_once_is_harmless() -> None:
    turn = every_way(sse(MESSAGE_START, MESSAGE_START, *block(0), reason("tool_use"), MESSAGE_STOP))
    assert (turn.faults, turn.executable) == ((), True)


def test_more_input_after_the_end_of_a_call_reaches_no_call() -> None:
    turn = every_way(anthropic(*block(0), more(0, "x")))
    assert turn.calls[0].arguments_text == "{}"


def test_an_event_without_a_type_takes_that_of_its_name() -> None:
    events = [MESSAGE_START, *block(0), reason("tool_use"), MESSAGE_STOP]
    untyped = [json.dumps({k: v for k, v in event.items() if k != "type"}) for event in events]
    names = [event["type"] for event in events]
    body = "".join(f"event: {n}\ndata: {u}\n\n" for n, u in zip(names, untyped, strict=True)).encode()
    assert every_way(body) == every_way(sse(*events))


def test_an_error_without_its_event_name_is_one_too() -> None:
    body = sse(MESSAGE_START, {"type": "error", "error": {"type": "api_error", "message": "m"}})
    (fault,) = every_way(body).faults
    assert (fault.provider_code, fault.message, fault.retryable) == ("api_error", "m", True)


def test_a_call_over_the_limit_adds_nothing_to_one_that_is_closed_in_any_cut() -> None:
    body = anthropic(
        *(tool(0, "a", "t"), more(0, "{}"), stop(0)), *(tool(1, "b", "t"), more(1, '{"x":1}'), stop(1))
    )
    told = [feed("anthropic", pieces, limits=StreamLimits(calls=1)) for pieces in ways(body)]
    assert all(other == told[0] for other in told)
    assert [fault.code for fault in told[0][1].faults] == ["TOO_LARGE", "AFTER_THE_END"]


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "content_block_start", "index": 0},
        start(0),
        start(0, type=5),
        start(0, type="result", tool_use_id={}),
        start(0, type="server_tool_use", id={}),
    ],
)
def test_a_block_however_odd_can_be_answered(odd: dict[str, Any]) -> None:
    turn = every_way(anthropic(odd, tool(1, "a", "t"), stop(1)))
    assert all(isinstance(block["type"], str) for block in turn.kept)
    result = ToolResult(CallKey(), "a", "t", Status.OK, content="x")
    said, answer = encode("anthropic", turn, [result])
    assert said["content"][-1]["name"] == "t"
    assert answer["content"][0]["tool_use_id"] == "a"
