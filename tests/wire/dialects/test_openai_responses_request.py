"""Responses, the way out: one whole request, word for word, and what is this dialect's alone."""

from callgate.calls import Finish, Turn, freeze
from callgate.wire import encode
from tests.wire.talk import asked


def test_a_whole_request_reads_as_the_reference_has_it() -> None:
    body = asked("openai-responses", temperature=0, max_tokens=9, tool_choice="auto", strict=True).body
    assert body["input"] == [
        {"role": "user", "content": "Read it."},
        {"role": "assistant", "content": "Look."},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"n": 0}'},
        {"type": "function_call", "call_id": "c2", "name": "read", "arguments": '{"n": 1}'},
        {"type": "function_call", "call_id": "c0001ece1", "name": "read", "arguments": '{"n": 2}'},
        {"type": "function_call_output", "call_id": "c1", "output": "status: ok\n\nr0"},
        {"type": "function_call_output", "call_id": "c2", "output": "status: ok\n\nr1"},
        {"type": "function_call_output", "call_id": "c0001ece1", "output": "status: ok\n\nr2"},
        {"role": "user", "content": "And now?"},
    ]
    assert body["tools"][0] == {
        "type": "function",
        "name": "read",
        "description": "Read a file.",
        "parameters": {
            "type": "object",
            "properties": {"n": {"type": ["integer", "null"]}},
            "required": ["n"],
            "additionalProperties": False,
        },
        "strict": True,
    }
    assert {name: value for name, value in body.items() if name not in ("input", "tools")} == {
        "model": "m",
        "instructions": "Be brief.",
        "temperature": 0,
        "max_output_tokens": 9,
        "tool_choice": "auto",
        "stream": True,
    }


def test_reasoning_that_nothing_follows_does_not_go_back() -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": []}
    turn = Turn(finish=Finish.LENGTH, kept=freeze([item]), dialect="openai-responses")
    assert encode("openai-responses", turn, []) == [{"role": "assistant", "content": ""}]
