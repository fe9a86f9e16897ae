"""Tools through plain text, the way out: the form is told in the system prompt, results come from the user.

In: the values of ``_request``. Out: ``{"model": …, "messages": [{"role", "content"}, …], …}`` for a model
that knows roles and nothing of tools. Promise: what it is asked to write is what ``_json_mode`` reads; a turn
of the history reads as the model should have written it; nothing that a tool returned, or that describes a
tool, holds a control token of a chat template.

The form is one JSON object and a line break::

    {"tool": "<name>", "arguments": {…}}      a call
    {"text": "…"}                             an answer
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from callgate.calls import ToolCall, Turn
from callgate.wire._names import wire_name
from callgate.wire._request import Answered, Encoded, Request, Said
from callgate.wire._result import render
from callgate.wire._rules import ANY
from callgate.wire._writing import Message, Told, Writing, arguments_text, choice_of, losses_of, parameters_as

_PARAMETERS: Final = {"parallel_calls": ""}
_FORM: Final = "Reply with one JSON object and then a line break, and with nothing else."
_CALL: Final = 'To use a tool: {"tool": "<name of the tool>", "arguments": {<its arguments>}}'
_SAY: Final = 'To say something: {"text": "<what you say>"}'

_TAGS: Final = (
    r"/?(?:(?:s|im_start|im_end|bos|eos|pad|unk|think|tools?|tool_\w+|function(?:_calls?)?|invoke|"
    r"(?:start|end)_(?:of_turn|header_id)|endoftext|eot_id|eom_id|python_tag)\b|parameter=)"
)
_CONTROL: Final = re.compile(
    rf"[<\[](?:(?<=<)(?=[|\uff5c]|{_TAGS}|<SYS>>|</SYS>>)"
    r"|(?<=\[)(?=/?(?:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]))",
    re.IGNORECASE,
)


def neutralised(text: str) -> str:
    """Text in which no chat template finds a control token: each that stands in it is broken by a space.

    Such a token in a result would end the result for the model, and what follows would be taken for the
    model's own call.
    """
    return _CONTROL.sub(r"\g<0> ", text)


def _said(said: Said) -> list[Message]:
    content = _object({"text": said.text}) if said.role == "assistant" else said.text
    return [{"role": said.role, "content": content}]


def _heard(turn: Turn, answered: Sequence[Answered]) -> list[Message]:
    """One call a message: where a turn of another dialect has more, they follow each other."""
    if not answered:
        return [{"role": "assistant", "content": _object({"text": turn.text or turn.refusal})}]
    messages: list[Message] = []
    for _, call, result in answered:
        before = f"{turn.text}\n" if turn.text and not messages else ""
        messages += (
            {"role": "assistant", "content": before + _call(call)},
            {"role": "user", "content": f"Result of {wire_name(call.name)}:\n{neutralised(render(result))}"},
        )
    return messages


def _call(call: ToolCall) -> str:
    name = json.dumps(wire_name(call.name))
    return f'{{"tool": {name}, "arguments": {arguments_text(call).strip()}}}\n'


def _object(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _tools(told: Sequence[Told]) -> Iterator[str]:
    for definition, lowered in told:
        name = wire_name(definition.name)
        yield f"- {name}: {lowered.description}"
        yield f"  arguments: {json.dumps(lowered.schema, ensure_ascii=False)}"
        for example in definition.examples:
            call = json.dumps({"tool": name, "arguments": example.arguments}, ensure_ascii=False)
            yield f"  example: {example.request}\n    {call}"


def _form(request: Request, told: Sequence[Told]) -> Iterator[str]:
    kind, tool = choice_of(request)
    yield _FORM
    if told and kind != "none":
        yield f"{_CALL}\nUse the tool {wire_name(tool)}." if tool else _CALL
    if kind not in ("required", "tool"):
        yield _SAY


def _body(request: Request, messages: list[Message], told: Sequence[Told]) -> Encoded:
    parameters, losses = parameters_as(request, _PARAMETERS)
    tools = neutralised("\n".join(("Tools:", *_tools(told)))) if told else ""
    system = "\n\n".join(part for part in (request.system, "\n".join(_form(request, told)), tools) if part)
    body = {
        "model": request.model,
        "messages": [{"role": "system", "content": system}, *messages],
        **parameters,
    }
    return Encoded("", body, tools or None, (*losses_of(told), *losses))


WRITING: Final = Writing(rules=ANY, ids=re.compile(r".*", re.DOTALL), said=_said, heard=_heard, body=_body)
