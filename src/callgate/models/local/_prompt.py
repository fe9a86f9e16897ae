"""The texts that the local model reads.

In: tool definitions, requests, messages. Out: text, or token ids. Promise: a text that somebody else wrote
stays on its line: line breaks and control tokens inside it can't imitate the frame around it.

The same frame serves both questions: whose request is this (everything before a request), and which arguments
does it ask for (everything after it). So the keys and values of a tool's part are computed once for both.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from callgate.calls import Example, ToolDefinition

from ._engine import Engine

# What "no tool" looks like. Together with the threshold of `CallerOptions` chosen on the development
# requests.
_TALK = (
    "What is the highest mountain in the world?",
    "Hello, nice to meet you",
    "Tell me a story about a dragon",
    "Thanks, well done",
)
NO_TOOL = "Tool none: Talk with the user.\n\n" + "".join(
    f"Request: {request}\nArguments: null\n\n" for request in _TALK
)

REQUEST, ARGUMENTS = "Request:", "Arguments:"

_ESCAPES = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x0b": " ", "\x0c": " "})


class Message(NamedTuple):
    """One message of a conversation; ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    text: str


def one_line(text: str) -> str:
    """The text on one line, breaks written as JSON writes them, so that they can be copied into arguments."""
    return text.strip().translate(_ESCAPES)


def tool_part(tool: ToolDefinition, examples: int) -> str:
    """What the model learns of a tool: its name, what it does, and at most ``examples`` of its examples."""
    said = "".join(_example(example) for example in tool.examples[:examples])
    return f"Tool {tool.name}: {one_line(tool.description.what)}\n\n{said}"


def _example(example: Example) -> str:
    arguments = json.dumps(example.arguments, ensure_ascii=False)
    return f"{REQUEST} {one_line(example.request)}\n{ARGUMENTS} {arguments}\n\n"


def chat_ids(engine: Engine, messages: Sequence[Message]) -> list[int]:
    """The messages as the model was trained to read them, up to where its answer begins.

    ChatML where the model has its control tokens, else lines with the role in front.
    """
    start, end = engine.special("<|im_start|>"), engine.special("<|im_end|>")
    if start is None or end is None:
        lines = "".join(f"{role.capitalize()}: {one_line(text)}\n" for role, text in messages)
        return engine.encode(lines + "Assistant:")
    ids: list[int] = []
    for role, text in messages:
        ids += [start, *engine.encode(f"{role}\n{text}"), end, *engine.encode("\n")]
    return [*ids, start, *engine.encode("assistant\n")]
