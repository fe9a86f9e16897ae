"""Streams of events that are well formed each and odd together.

Drawn at random with fixed seeds: a fault takes several events that fit each other, and what shrinks examples
draws mostly small ones.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from callgate.wire import StreamLimits
from tests.wire.bodies import (
    MESSAGE_START,
    MESSAGE_STOP,
    chunk,
    completed,
    delta,
    function,
    item,
    more,
    piece,
    reason,
    say,
    sse,
    start,
    stop,
    tool,
)

Event = dict[str, Any] | str
LIMITS: Final = (*(3 * (StreamLimits(),)), StreamLimits(calls=1), StreamLimits(argument_characters=9))
TEXTS: Final = ("{}", '{"a":1}', '{"a"', ":1}", "", "x", " ")


def some(chance: Random, often: float, **fields: tuple[Any, ...]) -> dict[str, Any]:
    """Some of the fields, each with one of its values."""
    return {name: chance.choice(values) for name, values in fields.items() if chance.random() < often}


def chat_piece(chance: Random) -> dict[str, Any]:
    told = some(chance, 0.3, id=("a", "b", "", None), name=("t", "u", "", None))
    told |= some(chance, 0.8, arguments=(*TEXTS, None, {"a": 1}, {"a": True}))
    told |= some(chance, 0.05, custom=(None, {"name": "y"}, {"input": "x"}))
    return piece(chance.choice((0, 0, 0, 1, None)), **told)


def chat_event(chance: Random) -> Event:
    usage = chance.choice([*({"completion_tokens": count} for count in (10, 3, None)), {}, None])
    if chance.random() < 0.1:
        ends: tuple[Event, ...] = ("[DONE]", {"id": "r1", "choices": [], "usage": usage})
        return chance.choice(ends)
    told = some(chance, 0.2, content=("x", "", None, [{"type": "text", "text": "q"}]))
    told |= some(
        chance,
        0.05,
        reasoning=("r", None),
        refusal=("n", None),
        reasoning_details=([None], [{}], [{"type": "reasoning.text", "text": "r"}]),
        function_call=({"name": "z", "arguments": "{}"}, None),
    )
    pieces = [chat_piece(chance) for _ in range(chance.choice((0, 1, 1, 1, 2)))]
    finish = chance.choice((*(8 * (None,)), "stop", "tool_calls", "length"))
    return chunk(*pieces, choice=chance.choice((0, 0, 0, 0, 1)), finish=finish, **told)


BLOCKS: Final[tuple[dict[str, Any], ...]] = (
    *({}, {"type": "text", "text": ""}, {"type": "thinking", "thinking": ""}, {"type": 5}, {"id": "x"}),
    *({"type": f"{who}tool_use", "id": "a", "name": "t", "input": {}} for who in ("server_", "odd_")),
    *({"type": "result", "tool_use_id": whose} for whose in ("a", 5, None)),
    {"type": "result", "tool_use_id": {}},
    *({"type": "tool_use", "id": "a", "name": "t", "input": {"q": given}} for given in (1, True)),
)


def anthropic_event(chance: Random) -> Event:
    at = chance.randint(0, 2)
    made: Callable[[], dict[str, Any]] = chance.choice(
        (
            *(2 * (lambda: tool(at, chance.choice("ab"), chance.choice("tu")),)),
            lambda: start(at, **chance.choice(BLOCKS)),
            *(3 * (lambda: more(at, chance.choice(TEXTS)),)),
            lambda: say(at, "x"),
            *(2 * (lambda: stop(at),)),
            lambda: reason(chance.choice(("tool_use", "end_turn", "max_tokens")), chance.choice((3, 10))),
            lambda: chance.choice((MESSAGE_START, MESSAGE_STOP, {"type": "content_block_start", "index": 0})),
        )
    )
    return made()


def response_item(chance: Random) -> dict[str, Any]:
    if chance.random() < 0.2:
        said = {"type": "message", "content": [{"type": "output_text", "text": "hey"}]}
        return chance.choice((said, {}, {"type": "reasoning"}))
    told = {"call_id": chance.choice(("c1", "c2")), "name": chance.choice("tu")}
    told |= some(chance, 0.2, status=("completed", "incomplete"), call_id=(None,))
    told |= some(chance, 0.2, type=("custom_tool_call", "web_search_call", "shell_call", None, 5))
    return function(chance.choice(TEXTS), **told)


def response_event(chance: Random) -> Event:
    at = chance.choice((0, 0, 1, None))
    text = chance.choice(TEXTS)
    made: Callable[[], dict[str, Any]] = chance.choice(
        (
            *(2 * (lambda: item("added", at, response_item(chance)),)),
            *(2 * (lambda: item("done", at, response_item(chance)),)),
            *(2 * (lambda: delta(at, text),)),
            lambda: delta(at, "x", "output_text"),
            lambda: {
                "type": "response.function_call_arguments.done",
                "output_index": at,
                "arguments": text,
            },
            lambda: completed(
                chance.choice(("completed", "incomplete", "failed")), output=[response_item(chance)]
            ),
            lambda: {"type": "response.output_item.done", "output_index": at},
        )
    )
    return made()


EVENT: Final[Mapping[str, Callable[[Random], Event]]] = {
    "openai-chat": chat_event,
    "anthropic": anthropic_event,
    "openai-responses": response_event,
}
END: Final[Mapping[str, tuple[Event, ...]]] = {
    "openai-chat": (chunk(finish="tool_calls"), "[DONE]"),
    "anthropic": (reason("tool_use"), MESSAGE_STOP),
    "openai-responses": (completed(),),
}


def body_of(chance: Random, dialect: str) -> bytes:
    """A body of some events, whose end may be missing."""
    events: list[Event] = [EVENT[dialect](chance) for _ in range(chance.randint(1, 8))]
    events += END[dialect] if chance.random() < 0.7 else ()
    if dialect == "openai-responses" and chance.random() < 0.5:
        events = [{**one, "sequence_number": n} for n, one in enumerate(events) if isinstance(one, dict)]
    return sse(*events, named=dialect == "anthropic" and chance.random() < 0.7)
