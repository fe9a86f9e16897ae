"""The way out: each call beside its own result, in call order, paired by identity, as servers take it."""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from callgate.calls import (
    CallKey,
    CallKind,
    Finding,
    Finish,
    FrozenDict,
    Status,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Turn,
    freeze,
)
from callgate.errors import LocalProtocolError, UnknownDialectError
from callgate.wire import Decoder, Exchange, Request, Said, encode, encode_request, render, wire_name
from tests.strategies import typed
from tests.wire.talk import (
    CALLS,
    DIALECTS,
    RESULTS,
    TOOLS,
    TURN,
    answers,
    asked,
    exchanges,
    played,
    tools_of,
    turns,
)

HOSTED: Final = DIALECTS[:3]
IDS: Final = {
    "openai-chat": r"[!-~]{1,40}",
    "openai-responses": r"[!-~]{1,64}",
    "anthropic": r"[a-zA-Z0-9_-]{1,64}",
}
Paired = list[tuple[str, str, str]]
"""Of each call in order: its id, its name, and the text of the result that has the same id."""


def pairs(dialect: str, messages: Sequence[dict[str, Any]]) -> Paired:
    """Read back what belongs together, and see that the provider's own rules hold."""
    if dialect == "openai-chat":
        assistant, *rest = messages
        assert assistant["role"] == "assistant"
        calls = [(one["id"], one["function"]["name"]) for one in assistant.get("tool_calls", ())]
        assert "tool_calls" not in assistant or calls
        assert all(message["role"] == "tool" for message in rest)
        results = [(message["tool_call_id"], message["content"]) for message in rest]
    elif dialect == "openai-responses":
        calls = [(one["call_id"], one["name"]) for one in messages if one.get("type") == "function_call"]
        results = [
            (one["call_id"], one["output"]) for one in messages if one.get("type") == "function_call_output"
        ]
        tail = [one["type"] for one in messages if "role" not in one]
        assert tail == ["function_call"] * len(calls) + ["function_call_output"] * len(results)
    else:
        blocks = [(message["role"], block) for message in messages for block in message["content"]]
        assert all(message["content"] for message in messages)
        calls = [
            (one["id"], one["name"])
            for role, one in blocks
            if one["type"] == "tool_use" and role == "assistant"
        ]
        results = [
            (one["tool_use_id"], one["content"]) for role, one in blocks if one["type"] == "tool_result"
        ]
        if calls:
            assert [message["role"] for message in messages] == ["assistant", "user"]
            assert [block["type"] for block in messages[1]["content"]] == ["tool_result"] * len(calls)
    assert [call_id for call_id, _ in calls] == [call_id for call_id, _ in results]
    assert len({call_id for call_id, _ in calls}) == len(calls)
    assert all(re.fullmatch(IDS[dialect], call_id) for call_id, _ in calls)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for _, name in calls)
    return [(call_id, name, text) for (call_id, name), (_, text) in zip(calls, results, strict=True)]


@given(exchange=exchanges())
def test_each_call_stands_beside_its_own_result_in_call_order(
    exchange: tuple[Turn, list[ToolResult]],
) -> None:
    for dialect in HOSTED:
        turn, results = exchange
        told = [
            (wire_name(call.name), render(result)) for call, result in zip(turn.calls, results, strict=True)
        ]
        assert [(name, text) for _, name, text in pairs(dialect, encode(dialect, turn, results))] == told


@given(exchange=exchanges(), seed=st.integers(0, 99))
def test_results_may_come_in_any_order(exchange: tuple[Turn, list[ToolResult]], seed: int) -> None:
    for dialect in DIALECTS:
        turn, results = exchange
        shuffled = random.Random(seed).sample(results, len(results))
        assert encode(dialect, turn, shuffled) == encode(dialect, turn, results)


@given(exchange=exchanges())
def test_what_goes_out_is_json_that_can_be_sent(exchange: tuple[Turn, list[ToolResult]]) -> None:
    for dialect in DIALECTS:
        text = json.dumps(encode(dialect, *exchange), ensure_ascii=False, allow_nan=False)
        assert json.loads(text.encode()) == encode(dialect, *exchange)


@given(turn=turns(most=1))
def test_an_encoded_turn_read_back_makes_the_same_calls(turn: Turn) -> None:
    for dialect in DIALECTS:
        results = [ToolResult(call.key, call.call_id, call.name, Status.OK) for call in turn.calls]
        decoder = Decoder(dialect, tools=tools_of(turn))
        decoder.feed(played(dialect, encode(dialect, turn, results)))
        again = decoder.close()
        assert again.executable
        assert [call.name for call in again.calls] == [call.name for call in turn.calls]
        # A broken call goes back without arguments.
        meant = [{} if call.fault else call.arguments for call in turn.calls]
        assert [typed(call.arguments) for call in again.calls] == [typed(arguments) for arguments in meant]


@given(turn=turns())
def test_parallel_calls_read_back_are_the_same_calls_in_order(turn: Turn) -> None:
    for dialect in HOSTED:
        results = [ToolResult(call.key, call.call_id, call.name, Status.OK) for call in turn.calls]
        messages = encode(dialect, turn, results)
        decoder = Decoder(dialect, tools=tools_of(turn))
        decoder.feed(played(dialect, messages))
        again = decoder.close()
        assert [call.call_id for call in again.calls] == [
            call_id for call_id, _, _ in pairs(dialect, messages)
        ]
        assert [call.name for call in again.calls] == [call.name for call in turn.calls]
        assert all(call.complete for call in again.calls)
        if dialect != "anthropic" or turn.text.strip():
            assert again.text == turn.text


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("results", "why"),
    [
        (RESULTS[:2], "has no result"),
        ([], "has no result"),
        ([*RESULTS, RESULTS[0]], "two results"),
        ([*RESULTS[:2], structs.replace(RESULTS[2], key=CallKey("r", 3, 0, 3))], "no call of this turn"),
        ([*RESULTS[:2], structs.replace(RESULTS[2], call_id="c9")], "no call of this turn"),
        ([*RESULTS[:2], structs.replace(RESULTS[2], name="write")], "no call of this turn"),
        ([*RESULTS[:2], structs.replace(RESULTS[2], key=CallKey("r", 4, 0, 2))], "different turns"),
        ([*RESULTS[:2], structs.replace(RESULTS[2], key=CallKey("q", 3, 0, 2))], "different turns"),
    ],
)
def test_a_wrong_pairing_is_refused_before_anything_is_sent(
    dialect: str, results: list[ToolResult], why: str
) -> None:
    with pytest.raises(LocalProtocolError, match=why):
        encode(dialect, TURN, results)
    with pytest.raises(LocalProtocolError, match=why):
        encode_request(dialect, Request("m", history=(Exchange(TURN, tuple(results)),)))


def test_a_result_of_another_run_is_foreign_to_a_turn_the_gate_knows() -> None:
    known = replace(
        TURN, calls=tuple(call.admitted_as(CallKey("r", 3, 0, n), "d") for n, call in enumerate(CALLS))
    )
    assert encode("openai-chat", known, RESULTS)
    with pytest.raises(LocalProtocolError, match="no call of this turn"):
        encode("openai-chat", known, [structs.replace(one, key=one.key._replace(run="q")) for one in RESULTS])


def test_a_result_without_a_key_is_paired_by_the_provider_s_id_where_that_is_one_call_s() -> None:
    turn = replace(TURN, calls=CALLS[:2])
    results = [ToolResult(CallKey(), call_id, "read", Status.OK, content=call_id) for call_id in ("c2", "c1")]
    messages = encode("openai-chat", turn, results)
    assert [message["content"][-2:] for message in messages[1:]] == ["c1", "c2"]
    with pytest.raises(LocalProtocolError):
        encode("openai-chat", TURN, [ToolResult(CallKey(), "c2", "read", Status.OK)])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_turn_without_calls_is_the_assistant_s_message_alone(dialect: str) -> None:
    (message,) = encode(dialect, Turn("Done.", finish=Finish.STOP, executable=True), [])
    assert message["role"] == "assistant"
    assert "Done." in json.dumps(message)


def test_an_empty_turn_is_no_message_where_empty_content_is_refused() -> None:
    assert encode("anthropic", Turn(" ", finish=Finish.EMPTY), []) == []
    assert encode("openai-chat", Turn(finish=Finish.EMPTY), []) == [{"role": "assistant", "content": ""}]
    assert encode("openai-responses", Turn(finish=Finish.EMPTY), []) == [{"role": "assistant", "content": ""}]


BROKEN: Final = ToolCall(
    "read", FrozenDict(), '{"path":"a"}{"path":"b"}', "k1", fault=Finding("TWO_ARGUMENTS"), complete=False
)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (BROKEN, "{}"),
        (structs.replace(BROKEN, fault=None, complete=False), "{}"),
        (ToolCall("now", arguments_text=""), "{}"),
        (ToolCall("now", arguments_text=" \n"), "{}"),
        (ToolCall("now", freeze({"a": 1}), '{ "a": 1 }'), '{ "a": 1 }'),
    ],
)
def test_arguments_go_back_as_the_model_wrote_them_unless_a_server_would_choke(
    call: ToolCall, text: str
) -> None:
    result = ToolResult(call.key, call.call_id, call.name, Status.REFUSED)
    turn = Turn(calls=(call,), finish=Finish.TOOL_CALLS)
    (chat, _), (item, _) = encode("openai-chat", turn, [result]), encode("openai-responses", turn, [result])
    assert chat["tool_calls"][0]["function"]["arguments"] == text
    assert item["arguments"] == text
    assert encode("anthropic", turn, [result])[0]["content"][0]["input"] == json.loads(text)


def test_a_custom_call_goes_back_in_the_words_of_its_kind() -> None:
    call = ToolCall("patch", freeze({"input": "*** x"}), "*** x", "k1", kind=CallKind.CUSTOM)
    turn, result = (
        Turn(calls=(call,), finish=Finish.TOOL_CALLS),
        ToolResult(call.key, "k1", "patch", Status.OK),
    )
    told = {"type": "custom_tool_call", "call_id": "k1", "name": "patch", "input": "*** x"}
    assert encode("openai-responses", turn, [result]) == [
        told,
        {"type": "custom_tool_call_output", "call_id": "k1", "output": "status: ok"},
    ]
    (chat, _) = encode("openai-chat", turn, [result])
    assert chat["tool_calls"] == [
        {"id": "k1", "type": "custom", "custom": {"name": "patch", "input": "*** x"}}
    ]
    assert encode("anthropic", turn, [result])[0]["content"][0]["input"] == {"input": "*** x"}


# ---------------------------------------------------------------- what the provider wants back


def test_reasoning_goes_back_verbatim_to_its_own_provider_and_to_no_other() -> None:
    item = {"type": "reasoning", "id": "rs_1", "encrypted_content": "x", "summary": []}
    turn = replace(TURN, kept=freeze([item]), dialect="openai-responses")
    assert encode("openai-responses", turn, RESULTS)[0] == item
    assert "rs_1" not in json.dumps([encode(other, turn, RESULTS) for other in ("openai-chat", "anthropic")])


def test_a_refusal_is_not_lost() -> None:
    turn = Turn(refusal="I cannot.", finish=Finish.REFUSAL)
    assert encode("openai-chat", turn, []) == [{"role": "assistant", "content": "", "refusal": "I cannot."}]
    assert encode("openai-responses", turn, []) == [{"role": "assistant", "content": "I cannot."}]
    assert encode("anthropic", turn, [])[0]["content"] == [{"type": "text", "text": "I cannot."}]


# ---------------------------------------------------------------- whole requests


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_empty_toolset_sends_no_field_that_speaks_of_tools(dialect: str) -> None:
    encoded = asked(dialect, tools=(), tool_choice="auto", parallel_calls=False, strict=True)
    assert encoded.tool_part is None
    assert encoded.body.keys() <= {
        *("model", "messages", "input", "instructions", "system", "stream", "stream_options", "max_tokens")
    }
    assert "Tools:" not in json.dumps(encoded.body)


@pytest.mark.parametrize("dialect", HOSTED)
def test_streaming_is_on(dialect: str) -> None:
    body = asked(dialect).body
    assert body["stream"] is True
    assert ("stream_options" in body) == (dialect == "openai-chat")
    assert body.get("stream_options", {"include_usage": True}) == {"include_usage": True}


@pytest.mark.parametrize(
    ("dialect", "path", "names"),
    [
        ("openai-chat", "/chat/completions", {"max_tokens": "max_completion_tokens", "stop": "stop"}),
        ("openai-responses", "/responses", {"max_tokens": "max_output_tokens", "stop": ""}),
        ("anthropic", "/v1/messages", {"max_tokens": "max_tokens", "stop": "stop_sequences"}),
        ("json-mode", "", {"max_tokens": "max_tokens", "stop": "stop"}),
    ],
)
def test_parameters_go_out_under_the_provider_s_names(dialect: str, path: str, names: dict[str, str]) -> None:
    values: dict[str, Any] = {"temperature": 0, "max_tokens": 50, "stop": ["END"], "top_p": None, "seed": 7}
    encoded = asked(dialect, **values)
    assert encoded.path == path
    assert (encoded.body["temperature"], encoded.body["seed"], "top_p" in encoded.body) == (0, 7, False)
    for name, own in names.items():
        if own:
            assert encoded.body[own] == values[name]
    assert [loss.where for loss in encoded.losses] == [f"/{name}" for name, own in names.items() if not own]


@pytest.mark.parametrize(
    ("dialect", "choice", "written"),
    [
        ("openai-chat", "auto", "auto"),
        ("openai-chat", "required", "required"),
        ("openai-chat", {"tool": "read"}, {"type": "function", "function": {"name": "read"}}),
        ("openai-responses", "none", "none"),
        ("openai-responses", {"tool": "read"}, {"type": "function", "name": "read"}),
        ("anthropic", "auto", {"type": "auto"}),
        ("anthropic", "none", {"type": "none"}),
        ("anthropic", "required", {"type": "any"}),
        ("anthropic", {"tool": "read"}, {"type": "tool", "name": "read"}),
    ],
)
def test_the_choice_of_a_tool_goes_out_in_the_provider_s_form(
    dialect: str, choice: Any, written: Any
) -> None:
    assert asked(dialect, tool_choice=choice).body["tool_choice"] == written


def test_parallel_calls_are_switched_off_in_the_provider_s_way() -> None:
    assert asked("openai-chat", parallel_calls=False).body["parallel_tool_calls"] is False
    assert asked("openai-responses", parallel_calls=True).body["parallel_tool_calls"] is True
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    assert asked("anthropic", parallel_calls=False).body["tool_choice"] == choice
    assert "tool_choice" not in asked("anthropic", parallel_calls=True).body


def test_the_system_prompt_stands_where_the_provider_wants_it() -> None:
    assert asked("openai-chat").body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert asked("openai-responses").body["instructions"] == "Be brief."
    assert asked("anthropic").body["system"] == "Be brief."
    assert asked("json-mode").body["messages"][0]["content"].startswith("Be brief.\n")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_tool_part_is_what_tells_the_tools(dialect: str) -> None:
    encoded = asked(dialect)
    assert all(definition.description.what in json.dumps(encoded.tool_part) for definition in TOOLS)
    if dialect != "json-mode":
        assert encoded.tool_part == encoded.body["tools"]
    assert wire_name("search the web") in json.dumps(encoded.tool_part)


def test_strict_is_said_for_the_tools_that_are_strict_and_always_where_it_is_the_default() -> None:
    chat = asked("openai-chat", strict=True).body["tools"]
    assert [tool["function"].get("strict") for tool in chat] == [True, True]
    assert ["strict" in tool["function"] for tool in asked("openai-chat").body["tools"]] == [False, False]
    assert [tool["strict"] for tool in asked("openai-responses").body["tools"]] == [False, False]
    assert all("strict" not in tool for tool in asked("anthropic", strict=True).body["tools"])


@st.composite
def histories(draw: st.DrawFn) -> tuple[Said | Exchange, ...]:
    items: list[Said | Exchange] = [Said("user", "Go on.")]
    for number in range(draw(st.integers(0, 3))):
        turn = draw(turns(most=3))
        items.append(Exchange(turn, tuple(draw(answers(turn, number)))))
    return tuple(items)


@given(history=histories())
def test_no_id_stands_twice_in_a_history_and_every_call_has_its_result(
    history: tuple[Said | Exchange, ...],
) -> None:
    for dialect in HOSTED:
        body = encode_request(dialect, Request("m", history=history)).body
        count = sum(len(item.turn.calls) for item in history if isinstance(item, Exchange))
        if dialect == "openai-chat":
            ids = [call["id"] for message in body["messages"] for call in message.get("tool_calls", ())]
            answered = [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]
        elif dialect == "openai-responses":
            ids = [item["call_id"] for item in body["input"] if item.get("type") == "function_call"]
            answered = [
                item["call_id"] for item in body["input"] if item.get("type") == "function_call_output"
            ]
        else:
            blocks = [block for message in body["messages"] for block in message["content"]]
            ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
            answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            roles = [message["role"] for message in body["messages"]]
            assert all(one != other for one, other in pairwise(roles))
        assert ids == answered
        assert len(set(ids)) == len(ids) == count


@given(history=histories())
def test_the_same_history_gives_the_same_bytes_and_a_longer_one_begins_with_them(
    history: tuple[Said | Exchange, ...],
) -> None:
    for dialect in DIALECTS:
        once, again, longer = (
            encode_request(dialect, Request("m", history=items)).body
            for items in (history, history, (*history, Said("assistant", "Done.")))
        )
        assert json.dumps(again) == json.dumps(once)
        name = "input" if dialect == "openai-responses" else "messages"
        assert longer[name][: len(once[name])] == once[name] or dialect == "anthropic"


def test_more_tools_than_the_provider_takes_are_sent_and_told() -> None:
    many = [ToolDefinition.of(f"t{n}", "", FrozenDict()) for n in range(129)]
    told = {dialect: asked(dialect, tools=many).losses for dialect in DIALECTS}
    assert [loss.where for loss in told["openai-chat"]] == ["/tools"]
    assert told["anthropic"] == told["json-mode"] == ()
    assert asked("openai-chat", tools=many[1:]).losses == ()


def test_an_unknown_dialect_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownDialectError, match="openai-chat"):
        encode("morse", TURN, RESULTS)
    with pytest.raises(UnknownDialectError, match="openai-chat"):
        encode_request("morse", Request("m"))


def test_a_request_is_encoded_by_the_fast_encoder_too() -> None:
    body = asked("openai-chat", strict=True).body
    assert msgspec.json.decode(msgspec.json.encode(body)) == body
