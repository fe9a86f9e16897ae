"""A turn as a hosted model streams it, for what the embedded model may fail to propose."""

from __future__ import annotations

from typing import Any

import msgspec

DIALECT = "openai-chat"


def recorded(name: str, **arguments: Any) -> bytes:
    """The body of a response with one call, its arguments cut into pieces of seven characters."""
    text = msgspec.json.encode(arguments).decode()
    pieces = [text[place : place + 7] for place in range(0, len(text), 7)]
    opening: dict[str, Any] = {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": name, "arguments": ""},
    }
    deltas: list[dict[str, Any]] = [{"role": "assistant", "tool_calls": [opening]}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    events = [b"data: " + msgspec.json.encode(chunk) + b"\n\n" for chunk in chunks]
    return b"".join(events) + b"data: [DONE]\n\n"
