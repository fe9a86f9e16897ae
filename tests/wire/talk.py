"""Turns, results and streams for tests of the way out: drawn by Hypothesis, played back as by a provider."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from callgate.calls import (
    CODES,
    CallKey,
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
from callgate.wire import Encoded, Exchange, Request, Said, encode_request
from tests.strategies import json_objects, json_values, texts

DIALECTS: Final = ("openai-chat", "openai-responses", "anthropic", "json-mode")

tool_names: Final = st.one_of(
    st.sampled_from(["read_file", "search the web", "资料", "a.b/c", "x" * 70, ""]),
    st.text("ab_-. 资", max_size=6),
)
call_ids: Final = st.sampled_from([None, "", "c1", "c1", "c2", "s:0", "functions.add:0", "x" * 90])
faults: Final = st.sampled_from([None, None, None, Finding("NOT_JSON"), Finding("TWO_ARGUMENTS")])


_few: Final = st.dictionaries(
    st.sampled_from(["a", "资料"]), st.none() | st.integers(0, 2**70) | texts, max_size=2
)
_arguments: Final = st.one_of(_few, _few, _few, json_objects)


@st.composite
def turns(draw: DrawFn, most: int = 4) -> Turn:
    """A turn as a decoder makes it: some calls are broken, some ids are missing or stand twice."""
    calls = []
    for position in range(draw(st.integers(0, most))):
        arguments, fault = draw(_arguments), draw(faults)
        text = json.dumps(arguments, ensure_ascii=draw(st.booleans()))
        blank = not arguments and draw(st.booleans())
        calls.append(
            ToolCall(
                name=draw(tool_names),
                arguments=FrozenDict() if fault else freeze(arguments),
                arguments_text=" " if blank else text + text if fault else text,
                call_id=draw(call_ids),
                key=CallKey(position=position),
                complete=fault is None,
                fault=fault,
            )
        )
    finish = Finish.TOOL_CALLS if calls else Finish.STOP
    return Turn(text=draw(texts), calls=tuple(calls), finish=finish, executable=True)


@st.composite
def answers(draw: DrawFn, turn: Turn, number: int = 0, run: str = "r") -> list[ToolResult]:
    """One result for each call, as the gate gives them, in call order."""
    return [
        ToolResult(
            CallKey(run, number, 0, position),
            call.call_id,
            call.name,
            draw(st.sampled_from(Status)),
            draw(st.sampled_from(["", *CODES])),
            draw(texts | _few | json_values),
        )
        for position, call in enumerate(turn.calls)
    ]


@st.composite
def exchanges(draw: DrawFn) -> tuple[Turn, list[ToolResult]]:
    turn = draw(turns())
    return turn, draw(answers(turn))


def tools_of(turn: Turn) -> list[ToolDefinition]:
    names = dict.fromkeys(call.name for call in turn.calls)
    return [ToolDefinition.of(name, "", FrozenDict(type="object")) for name in names]


def played(dialect: str, messages: Sequence[dict[str, Any]]) -> bytes:
    """What a provider would have streamed for the assistant's part of these messages."""
    return _PLAYERS[dialect](messages)


def _sse(events: Iterator[tuple[str, Any]]) -> bytes:
    lines = (
        f"event: {name}\ndata: {json.dumps(data)}\n\n"
        if name
        else f"data: {data if data == '[DONE]' else json.dumps(data)}\n\n"
        for name, data in events
    )
    return "".join(lines).encode()


def _chat(messages: Sequence[dict[str, Any]]) -> bytes:
    message = messages[0]
    calls = [{**call, "index": index} for index, call in enumerate(message.get("tool_calls", ()))]
    delta = {"role": "assistant", "content": message["content"], **({"tool_calls": calls} if calls else {})}

    def events() -> Iterator[tuple[str, Any]]:
        head = {"id": "r", "object": "chat.completion.chunk"}
        yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        finish = "tool_calls" if calls else "stop"
        yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
        yield "", "[DONE]"

    return _sse(events())


def _responses(items: Sequence[dict[str, Any]]) -> bytes:
    def events() -> Iterator[tuple[str, Any]]:
        yield (
            "response.created",
            {"type": "response.created", "response": {"id": "r", "status": "in_progress"}},
        )
        done = []
        for index, item in enumerate(item for item in items if not item.get("type", "").endswith("_output")):
            if "role" in item:
                part = {"type": "output_text", "text": item["content"]}
                whole = {"type": "message", "id": f"i{index}", "role": "assistant", "content": [part]}
                empty: dict[str, Any] = {**whole, "content": []}
            else:
                whole = {**item, "id": f"i{index}"}
                empty = {**whole, "arguments": ""}
            at = {"output_index": index}
            yield "", {"type": "response.output_item.added", **at, "item": empty}
            if "role" not in item:
                told = {"item_id": f"i{index}", **at}
                yield (
                    "",
                    {"type": "response.function_call_arguments.delta", **told, "delta": item["arguments"]},
                )
                yield (
                    "",
                    {"type": "response.function_call_arguments.done", **told, "arguments": item["arguments"]},
                )
            yield "", {"type": "response.output_item.done", **at, "item": {**whole, "status": "completed"}}
            done.append(whole)
        yield (
            "",
            {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": done}},
        )

    return _sse(events())


def _anthropic(messages: Sequence[dict[str, Any]]) -> bytes:
    blocks = messages[0]["content"] if messages and messages[0]["role"] == "assistant" else []

    def events() -> Iterator[tuple[str, Any]]:
        yield "message_start", {"type": "message_start", "message": {"id": "r", "content": []}}
        for index, block in enumerate(blocks):
            is_text = block["type"] == "text"
            head = {**block, "text": ""} if is_text else {**block, "input": {}}
            told = (
                {"type": "text_delta", "text": block["text"]}
                if is_text
                else {
                    "type": "input_json_delta",
                    "partial_json": json.dumps(block["input"]),
                }
            )
            yield (
                "content_block_start",
                {"type": "content_block_start", "index": index, "content_block": head},
            )
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": told}
            yield "content_block_stop", {"type": "content_block_stop", "index": index}
        calls = any(block["type"] == "tool_use" for block in blocks)
        reason = {"stop_reason": "tool_use" if calls else "end_turn"}
        yield "message_delta", {"type": "message_delta", "delta": reason}
        yield "message_stop", {"type": "message_stop"}

    return _sse(events())


def _json_mode(messages: Sequence[dict[str, Any]]) -> bytes:
    return str(messages[0]["content"]).encode()


_PLAYERS: Final = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "json-mode": _json_mode,
}


CALLS: Final = tuple(
    ToolCall("read", freeze({"n": n}), f'{{"n": {n}}}', call_id, CallKey(position=n))
    for n, call_id in enumerate(["c1", "c2", "c2"])
)
TURN: Final = Turn("Look.", CALLS, Finish.TOOL_CALLS, executable=True)
RESULTS: Final = [
    ToolResult(CallKey("r", 3, 0, n), call.call_id, "read", Status.OK, content=f"r{n}")
    for n, call in enumerate(CALLS)
]


TOOLS: Final = (
    ToolDefinition.of(
        "read", "Read a file.", freeze({"type": "object", "properties": {"n": {"type": "integer"}}})
    ),
    ToolDefinition.of(
        "search the web", "Search.", freeze({"type": "object", "properties": {"q": {"type": "string"}}})
    ),
)
HISTORY: Final = (Said("user", "Read it."), Exchange(TURN, tuple(RESULTS)), Said("user", "And now?"))


def asked(dialect: str, tools: Sequence[ToolDefinition] = TOOLS, **parameters: Any) -> Encoded:
    return encode_request(dialect, Request("m", "Be brief.", HISTORY, tuple(tools), freeze(parameters)))
