"""OpenAI Chat Completions, as OpenAI and the many servers that speak it send it.

In: chunks of a ``chat.completion.chunk`` stream. Out: calls, text, usage and the end of each choice. Promise:
calls are told apart by choice, index and id, never by their place in a list; a call ends with its reply.

OpenAI API reference, "Chat Completions, Streaming". Servers differ from it in many ways; each rule here has
a recorded stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Self

import msgspec

from callgate.calls import (
    ArgumentsDelta,
    CallKind,
    Finish,
    FrozenDict,
    StreamEvent,
    TextDelta,
    Usage,
    parse_arguments,
)
from callgate.wire._assembly import Assembly, counted, provider_fault
from callgate.wire._dialect import Decoding
from callgate.wire._loose import Loose, whole
from callgate.wire._slot import GOOD, Draft, Slot

_FINISH: Final = {
    **dict.fromkeys(("stop", "stop_sequence", "end_turn", "eos", "eos_token"), Finish.STOP),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), Finish.TOOL_CALLS),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length"), Finish.LENGTH),
    **dict.fromkeys(("content_filter", "safety", "recitation", "sensitive"), Finish.FILTERED),
    "refusal": Finish.REFUSAL,
}
_LEGACY: Final = -1
"""Index of the one call that ``delta.function_call`` can make."""
_PIECES: Final = {"reasoning.text": "text", "reasoning.summary": "summary"}


class _Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: str | None = None


class _Custom(msgspec.Struct, gc=False):
    name: str | None = None
    input: str | None = None


class _Call(msgspec.Struct, gc=False):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None
    custom: _Custom | None = None


class _Delta(msgspec.Struct, gc=False):
    content: str | None = None
    tool_calls: list[_Call] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[Any] | None = None
    function_call: _Function | None = None


class _Choice(msgspec.Struct, gc=False):
    index: int | None = None
    delta: _Delta | None = None
    finish_reason: str | None = None
    native_finish_reason: str | None = None


class _Cached(msgspec.Struct, gc=False):
    cached_tokens: int | None = None


class _Reasoned(msgspec.Struct, gc=False):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Cached | None = None
    completion_tokens_details: _Reasoned | None = None


class _Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice] | None = None
    id: str | None = None
    usage: _Usage | None = None
    error: Any = None


class _State:
    """One response.

    ``places``: choice → index → the call that stands there now; ``last``: choice → the call last met;
    ``by_id``: choice, index and id → the call; ``tried``: calls that were looked at for a seam.
    """

    __slots__ = (
        *("assembly", "by_id", "is_quick", "last", "limit", "main", "places", "texts", "thinks", "tried"),
    )

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.main: dict[int | None, Slot] = {}
        self.places: dict[int, dict[int | None, Slot]] = {0: self.main}
        self.texts = assembly.draft(0).text
        self.limit = assembly.terms.limits.argument_characters
        self.is_quick = False
        self.last: dict[int, Slot] = {}
        self.by_id: dict[tuple[int, int | None, str], Slot] = {}
        self.tried: set[int] = set()
        self.thinks = False

    def copy(self, assembly: Assembly) -> Self:
        """The same state over a copy of the assembly."""
        other = type(self)(assembly)
        slots = {number: draft.slots for number, draft in assembly.drafts.items()}
        other.places = {
            number: {index: slots[number][slot.position] for index, slot in places.items()}
            for number, places in self.places.items()
        }
        other.main, other.is_quick = other.places[0], self.is_quick
        other.last = {number: slots[number][slot.position] for number, slot in self.last.items()}
        other.by_id = {key: slots[key[0]][slot.position] for key, slot in self.by_id.items()}
        other.tried, other.thinks = self.tried.copy(), self.thinks
        return other

    def take_all(self, events: Iterable[_Chunk], out: list[StreamEvent]) -> None:
        """The quick way, for more text and for more of a known call; it does what ``take`` does."""
        places, last, limit, add = self.main, self.last, self.limit, out.append
        is_quick = self.is_quick
        for chunk in events:
            if (
                is_quick
                and chunk.usage is None
                and chunk.error is None
                and (choices := chunk.choices) is not None
                and len(choices) == 1
                and not (choice := choices[0]).index
                and choice.finish_reason is None
                and (delta := choice.delta) is not None
                and delta.reasoning_content is None
                and delta.reasoning is None
                and delta.refusal is None
                and delta.function_call is None
                and delta.reasoning_details is None
            ):
                content, calls = delta.content, delta.tool_calls
                if calls is None:
                    if content:
                        self.texts.append(content)
                        add(TextDelta(content))
                    continue
                if (
                    not content
                    and len(calls) == 1
                    and (slot := places.get((call := calls[0]).index)) is not None
                    and not slot.closed
                    and not call.id
                    and call.custom is None
                    and (function := call.function) is not None
                    and not function.name
                    and (text := function.arguments)
                    and (size := slot.size + len(text)) <= limit
                ):
                    last[0] = slot
                    slot.size = size
                    slot.parts.append(text)
                    add(ArgumentsDelta(slot.position, text))
                    continue
            self.take(chunk, out)
            is_quick = self.is_quick

    def take(self, event: _Chunk, out: list[StreamEvent]) -> None:
        """One chunk."""
        assembly = self.assembly
        if event.id and not assembly.response_id:
            assembly.response_id = whole(event.id)
        if event.usage is not None:
            assembly.usage = _counted(assembly.usage, event.usage)
        for choice in event.choices or ():
            draft = assembly.draft(choice.index or 0)
            if choice.delta is not None:
                _delta(self, draft, choice.delta, out)
            if choice.finish_reason:
                _finish(self, draft, choice, out)
        if event.error:
            assembly.fault(provider_fault(event.error), out)
        self.is_quick = bool(assembly.response_id) and not assembly.held

    def end(self) -> None:
        """Nothing more comes: arguments that are whole count as closed, which makes no turn executable.

        Reasoning is kept as the fields of the assistant's message that the next request repeats.
        """
        assembly, main = self.assembly, self.assembly.draft(0)
        for draft in assembly.drafts.values():
            _close(self, draft, [])
        details = _merged(assembly.kept)
        assembly.kept = [{"reasoning_details": details}] if details else []
        if self.thinks and main.slots:
            assembly.kept.append({"reasoning_content": whole("".join(main.reasoning))})


def _delta(state: _State, draft: Draft, delta: _Delta, out: list[StreamEvent]) -> None:
    assembly = state.assembly
    state.thinks = state.thinks or bool(delta.reasoning_content)
    assembly.say(draft, "reasoning", delta.reasoning_content or delta.reasoning or "", out)
    assembly.say(draft, "text", delta.content or "", out)
    assembly.say(draft, "refusal", delta.refusal or "", out)
    if delta.reasoning_details and not draft.number:
        assembly.kept.extend(delta.reasoning_details)
    for call in delta.tool_calls or ():
        _call(state, draft, call, out)
    if delta.function_call is not None:
        _call(state, draft, _Call(index=_LEGACY, function=delta.function_call), out)


def _call(state: _State, draft: Draft, call: _Call, out: list[StreamEvent]) -> None:
    function, custom = call.function or _Function(), call.custom or _Custom()
    name = function.name or custom.name or ""
    text = function.arguments or custom.input or ""
    slot = _known(state, draft, call, name, text)
    if slot is None:
        kind = CallKind.FUNCTION if call.custom is None else CallKind.CUSTOM
        slot = state.assembly.open(draft, kind, call.id, out)
    elif call.id and not slot.call_id:
        slot.call_id = whole(call.id)
    state.last[draft.number] = slot
    if call.index is not None:
        state.places.setdefault(draft.number, {})[call.index] = slot
    if slot.call_id:
        state.by_id[draft.number, call.index, slot.call_id] = slot
    state.assembly.name(draft, slot, name, out)
    state.assembly.arguments(draft, slot, text, out)


def _known(state: _State, draft: Draft, call: _Call, name: str, text: str) -> Slot | None:
    """The call that a fragment belongs to, or ``None`` where it opens one."""
    if call.index is None:
        slot = state.last.get(draft.number)
    else:
        slot = state.places.get(draft.number, {}).get(call.index)
    if slot is None:
        return None
    if call.id and slot.call_id:
        # Some servers send all calls under one index: the id tells them apart.
        state.by_id[draft.number, call.index, slot.call_id] = slot
        return slot if call.id == slot.call_id else state.by_id.get((draft.number, call.index, call.id))
    if name and (call.index is None or (slot.parts and _is_next(state, slot, name, text))):
        return None
    return slot


def _is_next(state: _State, slot: Slot, name: str, text: str) -> bool:
    """Whether a name, but no id, begins another call under the index of one that has arguments."""
    if slot.call_id:
        return False
    if name not in (*slot.names, "".join(slot.names)):
        return True
    looks = text.lstrip().startswith("{") and slot.parts[-1].rstrip().endswith("}")
    if not looks or slot.position in state.tried:
        return False
    # One look at what is there and never a second one, so that the cost stays linear.
    state.tried.add(slot.position)
    before = "".join(slot.parts)
    return before != text and isinstance(parse_arguments(before), FrozenDict)


def _finish(state: _State, draft: Draft, choice: _Choice, out: list[StreamEvent]) -> None:
    raw = choice.finish_reason or ""
    finish = _FINISH.get(raw.lower(), Finish.ERROR)
    # A gateway may hide why the model behind it stopped.
    native = _FINISH.get((choice.native_finish_reason or "").lower(), finish)
    finish = native if finish in GOOD and native not in GOOD else finish
    is_first = draft.finish is None
    # Calls are told before the end; those of a bad end are not told at all.
    if is_first and finish in GOOD:
        _close(state, draft, out)
    state.assembly.end(draft, finish, raw, out)
    if is_first:
        _close(state, draft, out)


def _close(state: _State, draft: Draft, out: list[StreamEvent]) -> None:
    state.places.setdefault(draft.number, {}).clear()
    state.last.pop(draft.number, None)
    for slot in draft.slots:
        state.assembly.close(draft, slot, out)


def _counted(usage: Usage | None, told: _Usage) -> Usage | None:
    return counted(
        usage,
        input_tokens=told.prompt_tokens,
        output_tokens=told.completion_tokens,
        cached_tokens=(told.prompt_tokens_details or _Cached()).cached_tokens,
        reasoning_tokens=(told.completion_tokens_details or _Reasoned()).reasoning_tokens,
    )


def _merged(details: list[Any]) -> list[Any]:
    """Reasoning details as one item each, where the stream had pieces (OpenRouter)."""
    merged: list[tuple[dict[str, Any], str, list[str]]] = []
    for detail in details:
        field = _PIECES.get(str(detail.get("type")), "") if isinstance(detail, dict) else ""
        if not field or not isinstance(detail.get(field), str):
            merged.append((detail, "", []))
            continue
        item, last, pieces = merged[-1] if merged else ({}, "", [])
        if last != field or item.get("index") != detail.get("index"):
            pieces = []
            merged.append(({}, field, pieces))
        pieces.append(detail[field])
        merged[-1][0].update((name, held) for name, held in detail.items() if held is not None)
    return [{**item, field: "".join(pieces)} if field else item for item, field, pieces in merged]


def _mend(loose: Loose) -> Loose:
    """Content that comes as a list of parts, some of them thinking (Mistral), as text."""
    choices = loose.value.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if isinstance(delta, dict) and isinstance(delta.get("content"), list):
            content = delta["content"]
            delta["content"] = "".join(_texts(content, "text"))
            delta.setdefault("reasoning_content", "".join(_texts(content, "thinking")))
    return loose


def _texts(parts: Any, kind: str) -> Iterator[str]:
    for part in parts if isinstance(parts, list) else ():
        held = part.get(kind) if isinstance(part, dict) and part.get("type") == kind else None
        if isinstance(held, str):
            yield held
        else:
            yield from _texts(held, "text")


DECODING: Final = Decoding(framing="sse", state=_State, event=_Chunk, mend=_mend)
