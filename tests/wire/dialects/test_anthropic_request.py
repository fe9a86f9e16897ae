"""Messages, the way out: one whole request, word for word, and what is this dialect's alone."""

from dataclasses import replace

import pytest
from msgspec import structs

from callgate.calls import Status, freeze
from callgate.wire import Request, Said, encode, encode_request
from tests.wire.talk import RESULTS, TURN, asked


def test_a_whole_request_reads_as_the_reference_has_it() -> None:
    body = asked("anthropic", temperature=0, stop=["END"], tool_choice="auto").body
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Read it."}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Look."},
                {"type": "tool_use", "id": "c1", "name": "read", "input": {"n": 0}},
                {"type": "tool_use", "id": "c2", "name": "read", "input": {"n": 1}},
                {"type": "tool_use", "id": "c0001ece1", "name": "read", "input": {"n": 2}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "status: ok\n\nr0"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "status: ok\n\nr1"},
                {"type": "tool_result", "tool_use_id": "c0001ece1", "content": "status: ok\n\nr2"},
                {"type": "text", "text": "And now?"},
            ],
        },
    ]
    parameters = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert body["tools"][0] == {"name": "read", "description": "Read a file.", "input_schema": parameters}
    assert {name: value for name, value in body.items() if name not in ("messages", "tools")} == {
        "model": "m",
        "system": "Be brief.",
        "max_tokens": 4096,
        "temperature": 0,
        "stop_sequences": ["END"],
        "tool_choice": {"type": "auto"},
        "stream": True,
    }


def test_a_message_of_white_space_is_left_out() -> None:
    history = (Said("user", "Hi"), Said("assistant", " \n"), Said("user", "there"))
    (message,) = encode_request("anthropic", Request("m", " ", history)).body["messages"]
    assert [block["text"] for block in message["content"]] == ["Hi", "there"]


@pytest.mark.parametrize("status", Status)
def test_anthropic_is_told_an_error_by_its_own_flag(status: Status) -> None:
    results = [structs.replace(one, status=status) for one in RESULTS]
    blocks = encode("anthropic", TURN, results)[1]["content"]
    is_error = status not in (Status.OK, Status.PENDING)
    assert [block.get("is_error", False) for block in blocks] == [is_error] * 3


def test_thinking_stands_first_and_cut_thinking_not_at_all() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    search = {"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv1", "content": []}
    cut = [{"type": "thinking", "thinking": "hm", "signature": ""}, {**search, "id": "srv2"}]
    turn = replace(TURN, kept=freeze([thinking, search, found, *cut]), dialect="anthropic")
    content = encode("anthropic", turn, RESULTS)[0]["content"]
    assert content[:3] == [thinking, search, found]
    assert [block["type"] for block in content[3:]] == ["text", "tool_use", "tool_use", "tool_use"]


def test_a_system_message_inside_the_conversation_is_the_user_s_where_there_is_no_other_role() -> None:
    encoded = encode_request(
        "anthropic", Request("m", history=(Said("user", "Hi"), Said("system", "Now be kind.")))
    )
    assert [message["role"] for message in encoded.body["messages"]] == ["user"]
    assert [loss.where for loss in encoded.losses] == ["/history"]


def test_roles_alternate_and_results_stand_before_what_the_user_says_next() -> None:
    messages = asked("anthropic").body["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert [block["type"] for block in messages[2]["content"]] == ["tool_result"] * 3 + ["text"]
