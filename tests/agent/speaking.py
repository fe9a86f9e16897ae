"""A model's server in three dialects, as far as a loop needs one: it answers by what the request holds
already.

In: what to say in each turn. Out: the reply's bytes. The turn is counted in the request itself, so that a run
which was killed and taken up again gets the reply of the turn it is at, from any process.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tests.models.loopback import Answer, Received

SPECS = {"openai-chat": "openai:m", "openai-responses": "openai-responses:m", "anthropic": "anthropic:m"}

Call = tuple[str, str, dict[str, Any]]
"""What the provider calls it, the tool, the arguments."""


Script = Sequence[str | list[Call]]
"""What the model says, turn by turn: a text, or calls."""


def reply(
    dialect: str, text: str = "", calls: Sequence[Call] = (), *, finish: str = "", usage: bool = True
) -> bytes:
    """A whole reply. `finish` is the provider's own word where it is not the usual one."""
    return b"".join(_frame(event) for event in _REPLIES[dialect](text, calls, finish, usage))


def heard_turns(received: Received) -> int:
    """How many turns of the model stand in a request."""
    body = received.json
    said = body["messages"] if "messages" in body else body["input"]
    count, before = 0, False
    for item in said:
        ours = item.get("role") == "assistant" or item.get("type") in {"function_call", "reasoning"}
        count += ours and not before
        before = ours
    return count


def results_in(received: Received) -> dict[str, str]:
    """The tool results of a request, by the provider's call id."""
    body = received.json
    if "input" in body:
        outputs = [item for item in body["input"] if item.get("type") == "function_call_output"]
        return {item["call_id"]: _text(item["output"]) for item in outputs}
    told: dict[str, str] = {}
    for item in body["messages"]:
        if item["role"] == "tool":
            told[item["tool_call_id"]] = _text(item["content"])
        elif isinstance(item["content"], list):
            blocks = [block for block in item["content"] if block["type"] == "tool_result"]
            told |= {block["tool_use_id"]: _text(block["content"]) for block in blocks}
    return told


def scripted(dialect: str, script: Script) -> Callable[[Received], Answer]:
    """Answers turn by turn; the last one is repeated."""

    def answer(received: Received) -> Answer:
        step = script[min(heard_turns(received), len(script) - 1)]
        body = reply(dialect, step) if isinstance(step, str) else reply(dialect, "", step)
        return Answer(body, piece=64)

    return answer


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _frame(event: dict[str, Any] | str) -> bytes:
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _chat(text: str, calls: Sequence[Call], finish: str, usage: bool) -> Iterable[dict[str, Any] | str]:
    def chunk(delta: dict[str, Any], end: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}

    yield chunk({"role": "assistant", "content": text or None})
    for index, (call_id, name, arguments) in enumerate(calls):
        told = json.dumps(arguments, ensure_ascii=False)
        function = {"name": name, "arguments": told[:3]}
        yield chunk(
            {"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]}
        )
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": told[3:]}}]})
    yield chunk({}, finish or ("tool_calls" if calls else "stop"))
    if usage:
        counted = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        yield {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [], "usage": counted}
    yield "[DONE]"


def _responses(text: str, calls: Sequence[Call], finish: str, usage: bool) -> Iterable[dict[str, Any]]:
    counted = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110} if usage else None
    response: dict[str, Any] = {
        "id": "r",
        "object": "response",
        "status": "in_progress",
        "output": [],
        "usage": None,
    }
    yield {"type": "response.created", "response": response}
    index = 0
    if text:
        item = {"id": "m0", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}
        part = {"type": "output_text", "text": text, "annotations": []}
        place = {"output_index": 0, "content_index": 0, "item_id": "m0"}
        yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
        yield {"type": "response.output_text.delta", **place, "delta": text}
        yield {"type": "response.output_text.done", **place, "text": text}
        done = {**item, "status": "completed", "content": [part]}
        yield {"type": "response.output_item.done", "output_index": 0, "item": done}
        index = 1
    for at, (call_id, name, arguments) in enumerate(calls, index):
        told = json.dumps(arguments, ensure_ascii=False)
        call = {"id": f"f{at}", "type": "function_call", "call_id": call_id, "name": name}
        item = {**call, "status": "in_progress", "arguments": ""}
        place = {"output_index": at, "item_id": f"f{at}"}
        yield {"type": "response.output_item.added", "output_index": at, "item": item}
        yield {"type": "response.function_call_arguments.delta", **place, "delta": told}
        yield {"type": "response.function_call_arguments.done", **place, "arguments": told}
        done = {**call, "status": "completed", "arguments": told}
        yield {"type": "response.output_item.done", "output_index": at, "item": done}
    end = finish or "completed"
    details = {"reason": "max_output_tokens"} if end == "incomplete" else None
    closed = {**response, "status": end, "incomplete_details": details, "usage": counted}
    yield {"type": f"response.{end}", "response": closed}


def _anthropic(text: str, calls: Sequence[Call], finish: str, usage: bool) -> Iterable[dict[str, Any]]:
    message: dict[str, Any] = {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
    }
    started = {**message, "usage": {"input_tokens": 100, "output_tokens": 1}} if usage else message
    yield {"type": "message_start", "message": started}
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
    if text:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": text}))
    for call_id, name, arguments in calls:
        told = json.dumps(arguments, ensure_ascii=False)
        block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        blocks.append((block, {"type": "input_json_delta", "partial_json": told}))
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = finish or ("tool_use" if calls else "end_turn")
    ended: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}}
    yield {**ended, "usage": {"output_tokens": 10}} if usage else ended
    yield {"type": "message_stop"}


_REPLIES: dict[str, Callable[[str, Sequence[Call], str, bool], Iterable[dict[str, Any] | str]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
}
