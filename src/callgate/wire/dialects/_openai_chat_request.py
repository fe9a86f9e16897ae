"""OpenAI Chat Completions, the way out: tools, messages, results and parameters of a request.

In: the values of ``_request``. Out: the JSON body of ``POST /chat/completions``. Promise: each assistant
message with calls is followed directly by one tool message for each of them, in call order. Source: OpenAI
API reference, Chat.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from callgate.calls import CallKind, ToolCall, Turn
from callgate.wire._names import wire_name
from callgate.wire._request import Answered, Encoded, Request, Said
from callgate.wire._result import render
from callgate.wire._rules import OPENAI
from callgate.wire._writing import (
    Message,
    Told,
    Writing,
    arguments_text,
    losses_of,
    parameters_as,
    tool_fields,
)

_PARAMETERS: Final = {"max_tokens": "max_completion_tokens"}


def _said(said: Said) -> list[Message]:
    return [{"role": said.role, "content": said.text}]


def _heard(turn: Turn, answered: Sequence[Answered]) -> list[Message]:
    message: Message = {"role": "assistant", "content": turn.text or (None if answered else "")}
    if turn.refusal:
        message["refusal"] = turn.refusal
    if turn.dialect == "openai-chat":
        message.update(item for kept in turn.kept for item in kept.items())
    if answered:
        message["tool_calls"] = [_call(wire_id, call) for wire_id, call, _ in answered]
    results = [
        {"role": "tool", "tool_call_id": wire_id, "content": render(result)}
        for wire_id, _, result in answered
    ]
    return [message, *results]


def _call(wire_id: str, call: ToolCall) -> Message:
    name = wire_name(call.name)
    if call.kind is CallKind.CUSTOM:
        return {"id": wire_id, "type": "custom", "custom": {"name": name, "input": call.arguments_text}}
    return {
        "id": wire_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments_text(call)},
    }


def _tool(told: Told) -> Message:
    lowered = told.lowered
    function: dict[str, Any] = {
        "name": wire_name(told.definition.name),
        "description": lowered.description,
        "parameters": lowered.schema,
    }
    # A server that has no strict mode may not know the field.
    return {"type": "function", "function": {**function, "strict": True} if lowered.strict else function}


def _named(name: str) -> Message:
    return {"type": "function", "function": {"name": name}}


def _body(request: Request, messages: list[Message], told: Sequence[Told]) -> Encoded:
    parameters, losses = parameters_as(request, _PARAMETERS)
    tools = tool_fields(request, told, _tool, _named)
    system = [{"role": "system", "content": request.system}] if request.system else []
    body = {
        "model": request.model,
        "messages": [*system, *messages],
        **tools,
        **parameters,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    return Encoded("/chat/completions", body, tools.get("tools"), (*losses_of(told), *losses))


WRITING: Final = Writing(
    rules=OPENAI,
    # The API takes 40 characters.
    ids=re.compile(r"[!-~]{1,40}"),
    said=_said,
    heard=_heard,
    body=_body,
)
