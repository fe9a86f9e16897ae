"""Anthropic Messages, the way out: tools, messages, results and parameters of a request.

In: the values of ``_request``. Out: the JSON body of ``POST /v1/messages``. Promise: each assistant message
with calls is followed by one user message that begins with exactly one ``tool_result`` block for each of
them, in call order; roles alternate; no block is empty. Source: Anthropic API reference, Messages; "Handle
tool calls".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from callgate.calls import CallKind, Status, ToolCall, Turn
from callgate.wire._names import wire_name
from callgate.wire._request import Answered, Encoded, Loss, Request, Said
from callgate.wire._result import render
from callgate.wire._rules import ANTHROPIC
from callgate.wire._writing import (
    Message,
    Told,
    Writing,
    choice_of,
    losses_of,
    parameters_as,
)

_PARAMETERS: Final = {"stop": "stop_sequences"}
_MAX_TOKENS: Final = 4096
"""The API wants a number; this is one that every model takes."""
_NOT_ERRORS: Final = (Status.OK, Status.PENDING)
_KINDS: Final = {"required": "any"}


def _text(text: str) -> list[Message]:
    """The API refuses a text block that holds white space only."""
    return [{"type": "text", "text": text}] if text.strip() else []


def _said(said: Said) -> list[Message]:
    # There is no other role inside the conversation.
    role = "assistant" if said.role == "assistant" else "user"
    return [{"role": role, "content": _text(said.text)}]


def _heard(turn: Turn, answered: Sequence[Answered]) -> list[Message]:
    kept = _kept(turn) if turn.dialect == "anthropic" else []
    calls = [_call(wire_id, call) for wire_id, call, _ in answered]
    content = [*kept, *_text(turn.text or turn.refusal), *calls]
    messages: list[Message] = [{"role": "assistant", "content": content}]
    if answered:
        messages.append({"role": "user", "content": [_result(one) for one in answered]})
    return [message for message in messages if message["content"]]


def _kept(turn: Turn) -> list[Message]:
    """What to repeat. The API refuses thinking that was cut, and a server's call without its result."""
    whole = {whose for block in turn.kept if isinstance(whose := block.get("tool_use_id"), str)}
    return [
        block
        for block in turn.kept
        if (block["type"] != "thinking" or block.get("signature"))
        and (not block["type"].endswith("tool_use") or str(block.get("id")) in whole)
    ]


def _call(wire_id: str, call: ToolCall) -> Message:
    return {"type": "tool_use", "id": wire_id, "name": wire_name(call.name), "input": _input(call)}


def _input(call: ToolCall) -> dict[str, Any]:
    if call.kind is CallKind.CUSTOM:
        return {"input": call.arguments_text}
    return call.arguments if call.fault is None and call.complete else {}


def _result(answered: Answered) -> Message:
    block = {"type": "tool_result", "tool_use_id": answered.wire_id, "content": render(answered.result)}
    return block if answered.result.status in _NOT_ERRORS else {**block, "is_error": True}


def _alternating(messages: Sequence[Message]) -> list[Message]:
    """Neighbours of one role as one message; results stay in front, since theirs is the earlier one."""
    out: list[Message] = []
    for message in messages:
        if not message["content"]:
            continue
        if out and out[-1]["role"] == message["role"]:
            out[-1] = {**message, "content": [*out[-1]["content"], *message["content"]]}
        else:
            out.append(message)
    return out


def _tool(told: Told) -> Message:
    return {
        "name": wire_name(told.definition.name),
        "description": told.lowered.description,
        "input_schema": told.lowered.schema,
    }


def _tool_fields(request: Request, told: Sequence[Told]) -> dict[str, Any]:
    kind, tool = choice_of(request)
    if not told:
        return {}
    fields: dict[str, Any] = {"tools": [_tool(one) for one in told]}
    one_call = request.parameters.get("parallel_calls") is False
    if kind or one_call:
        choice: dict[str, Any] = {"type": _KINDS.get(kind, kind or "auto")}
        if tool:
            choice["name"] = wire_name(tool)
        if one_call and kind != "none":
            choice["disable_parallel_tool_use"] = True
        fields["tool_choice"] = choice
    return fields


def _body(request: Request, messages: list[Message], told: Sequence[Told]) -> Encoded:
    parameters, losses = parameters_as(request, _PARAMETERS)
    if any(isinstance(item, Said) and item.role == "system" for item in request.history):
        losses.append(Loss("", "/history", "a system message in the conversation is sent as the user's"))
    tools = _tool_fields(request, told)
    body = {
        "model": request.model,
        "max_tokens": _MAX_TOKENS,
        **({"system": request.system} if request.system.strip() else {}),
        "messages": _alternating(messages),
        **tools,
        **parameters,
        "stream": True,
    }
    return Encoded("/v1/messages", body, tools.get("tools"), (*losses_of(told), *losses))


WRITING: Final = Writing(
    rules=ANTHROPIC,
    ids=re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    said=_said,
    heard=_heard,
    body=_body,
)
