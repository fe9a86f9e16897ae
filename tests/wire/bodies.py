"""Small streams in each dialect, ways to cut them, and what the tests of the wire do with both."""

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from callgate.calls import StreamEvent, Turn
from callgate.wire import Decoder


def sse(*events: Any, named: bool = False) -> bytes:
    """Events as a body: JSON values, or text as it is; ``named`` puts the type of each before it."""
    return b"".join(event(value, named=named) for value in events)


def event(value: Any, *, named: bool = False) -> bytes:
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    name = f"event: {value['type']}\n" if named else ""
    return f"{name}data: {text}\n\n".encode()


# ---------------------------------------------------------------- openai-chat


def piece(index: int | None = 0, **fields: Any) -> dict[str, Any]:
    """One entry of ``tool_calls``: ``id``, ``name`` and ``arguments`` where given."""
    function = {name: fields.pop(name) for name in ("name", "arguments") if name in fields}
    return {
        **({} if index is None else {"index": index}),
        **fields,
        **({"function": function} if function else {}),
    }


def chunk(*calls: dict[str, Any], finish: str | None = None, choice: int = 0, **delta: Any) -> dict[str, Any]:
    """One chunk of ``openai-chat``."""
    told = {**delta, **({"tool_calls": list(calls)} if calls else {})}
    return {"id": "r1", "choices": [{"index": choice, "delta": told, "finish_reason": finish}]}


def chat(*chunks: Any, finish: str | None = "tool_calls", usage: dict[str, Any] | None = None) -> bytes:
    """A whole ``openai-chat`` body."""
    end: list[Any] = [chunk(finish=finish)] if finish else []
    if usage is not None:
        end.append({"id": "r1", "choices": [], "usage": usage})
    return sse(*chunks, *end, "[DONE]")


# ---------------------------------------------------------------- anthropic


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def tool(index: int, id_: str, name: str, **fields: Any) -> dict[str, Any]:
    return start(index, type="tool_use", id=id_, name=name, **{"input": {}, **fields})


def more(index: int, text: str) -> dict[str, Any]:
    delta = {"type": "input_json_delta", "partial_json": text}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def say(index: int, text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


MESSAGE_START = {"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 3}}}
MESSAGE_STOP = {"type": "message_stop"}


def reason(word: str, tokens: int = 5) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": word}, "usage": {"output_tokens": tokens}}


def anthropic(*events: dict[str, Any], finish: str = "tool_use") -> bytes:
    """A whole ``anthropic`` body."""
    return sse(MESSAGE_START, *events, reason(finish), MESSAGE_STOP, named=True)


# ---------------------------------------------------------------- openai-responses


def function(arguments: str = "", *, status: str = "completed", **fields: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": "fc1",
        "call_id": "c1",
        "name": "ls",
        "arguments": arguments,
        "status": status,
        **fields,
    }


def item(what: str, index: int | None, value: dict[str, Any]) -> dict[str, Any]:
    return {"type": f"response.output_item.{what}", "output_index": index, "item": value}


def delta(index: int | None, text: str, kind: str = "function_call_arguments") -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": text}


def call(index: int, *parts: str, **fields: Any) -> list[dict[str, Any]]:
    """The events of one whole call."""
    text = "".join(parts)
    return [
        item("added", index, function(**{**fields, "status": "in_progress"})),
        *(delta(index, part) for part in parts),
        {"type": "response.function_call_arguments.done", "output_index": index, "arguments": text},
        item("done", index, function(text, **fields)),
    ]


def completed(kind: str = "completed", **response: Any) -> dict[str, Any]:
    told = {"id": "r1", "status": kind, "output": [], **response}
    return {"type": f"response.{kind}", "response": told}


def responses(*events: dict[str, Any], end: dict[str, Any] | None = None) -> bytes:
    """A whole ``openai-responses`` body, its events numbered."""
    created = {"type": "response.created", "response": {"id": "r1"}}
    every = [created, *events, end or completed()]
    return sse(*({**value, "sequence_number": n} for n, value in enumerate(every)), named=True)


# ---------------------------------------------------------------- feeding


def decode(dialect: str, body: bytes | Iterable[bytes], **options: Any) -> Turn:
    """The turn of a body, given whole or in pieces."""
    return feed(dialect, body, **options)[1]


def feed(dialect: str, body: bytes | Iterable[bytes], **options: Any) -> tuple[list[StreamEvent], Turn]:
    """The events and the turn of a body."""
    decoder = Decoder(dialect, **options)
    pieces = [body] if isinstance(body, bytes) else body
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return events, decoder.close()


def sized(body: bytes, size: int) -> list[bytes]:
    """Pieces of one size."""
    return [body[at : at + size] for at in range(0, len(body), size)]


def small(body: bytes, seed: int = 0) -> Iterator[bytes]:
    """Pieces of one to three bytes: what finds a fault at a boundary most surely."""
    chance, at = random.Random(seed), 0
    while at < len(body):
        end = at + chance.randint(1, 3)
        yield body[at:end]
        at = end


def ways(body: bytes) -> Sequence[list[bytes]]:
    """Whole, byte by byte, in small pieces, and an event a piece."""
    events = [part + b"\n\n" for part in body.split(b"\n\n") if part]
    return [[body], sized(body, 1), list(small(body)), events if b"".join(events) == body else [body]]
