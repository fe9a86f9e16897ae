"""Chat Completions, the way out: one whole request, word for word, and what is this dialect's alone."""

from dataclasses import replace

from callgate.calls import freeze
from callgate.wire import encode
from tests.wire.talk import RESULTS, TURN, asked


def test_a_whole_request_reads_as_the_reference_has_it() -> None:
    body = asked("openai-chat", temperature=0, max_tokens=9, tool_choice="auto", parallel_calls=True).body
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Read it."},
        {
            "role": "assistant",
            "content": "Look.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"n": 0}'}},
                {"id": "c2", "type": "function", "function": {"name": "read", "arguments": '{"n": 1}'}},
                {
                    "id": "c0001ece1",
                    "type": "function",
                    "function": {"name": "read", "arguments": '{"n": 2}'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "status: ok\n\nr0"},
        {"role": "tool", "tool_call_id": "c2", "content": "status: ok\n\nr1"},
        {"role": "tool", "tool_call_id": "c0001ece1", "content": "status: ok\n\nr2"},
        {"role": "user", "content": "And now?"},
    ]
    parameters = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert body["tools"][0] == {
        "type": "function",
        "function": {"name": "read", "description": "Read a file.", "parameters": parameters},
    }
    assert {name: value for name, value in body.items() if name not in ("messages", "tools")} == {
        "model": "m",
        "temperature": 0,
        "max_completion_tokens": 9,
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_calls_without_text_have_no_content() -> None:
    assert encode("openai-chat", replace(TURN, text=""), RESULTS)[0]["content"] is None


def test_reasoning_of_a_chat_server_goes_back_as_fields_of_the_message() -> None:
    turn = replace(TURN, kept=freeze([{"reasoning_content": "hm"}]), dialect="openai-chat")
    assert encode("openai-chat", turn, RESULTS)[0]["reasoning_content"] == "hm"
