"""OpenAI Responses, the way out: tools, input items, results and parameters of a request.

In: the values of ``_request``. Out: the JSON body of ``POST /responses``. Promise: the items a turn kept
(reasoning) go back as they came, before its text and calls; each call item has one output item. Source:
OpenAI API reference, Responses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

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

_PARAMETERS: Final = {"max_tokens": "max_output_tokens", "stop": ""}


def _said(said: Said) -> list[Message]:
    return [{"role": said.role, "content": said.text}]


def _heard(turn: Turn, answered: Sequence[Answered]) -> list[Message]:
    text = turn.text or turn.refusal
    # Reasoning that nothing follows is refused.
    kept = [
        item
        for item in (turn.kept if turn.dialect == "openai-responses" else ())
        if text or answered or item.get("type") != "reasoning"
    ]
    said = [{"role": "assistant", "content": text}] if text or not (kept or answered) else []
    calls = [_call(wire_id, call) for wire_id, call, _ in answered]
    return [*kept, *said, *calls, *map(_output, answered)]


def _call(wire_id: str, call: ToolCall) -> Message:
    name = wire_name(call.name)
    if call.kind is CallKind.CUSTOM:
        return {"type": "custom_tool_call", "call_id": wire_id, "name": name, "input": call.arguments_text}
    return {"type": "function_call", "call_id": wire_id, "name": name, "arguments": arguments_text(call)}


def _output(answered: Answered) -> Message:
    kind = "custom_tool_call" if answered.call.kind is CallKind.CUSTOM else "function_call"
    return {"type": f"{kind}_output", "call_id": answered.wire_id, "output": render(answered.result)}


def _tool(told: Told) -> Message:
    # Left out, strict means true here.
    return {
        "type": "function",
        "name": wire_name(told.definition.name),
        "description": told.lowered.description,
        "parameters": told.lowered.schema,
        "strict": told.lowered.strict,
    }


def _named(name: str) -> Message:
    return {"type": "function", "name": name}


def _body(request: Request, messages: list[Message], told: Sequence[Told]) -> Encoded:
    parameters, losses = parameters_as(request, _PARAMETERS)
    tools = tool_fields(request, told, _tool, _named)
    body = {
        "model": request.model,
        **({"instructions": request.system} if request.system else {}),
        "input": messages,
        **tools,
        **parameters,
        "stream": True,
    }
    return Encoded("/responses", body, tools.get("tools"), (*losses_of(told), *losses))


WRITING: Final = Writing(
    rules=OPENAI,
    # The API takes 64 characters.
    ids=re.compile(r"[!-~]{1,64}"),
    said=_said,
    heard=_heard,
    body=_body,
)
