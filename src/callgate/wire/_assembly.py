"""What one response has told so far: the calls, texts and faults that a dialect gathers.

In: fragments. Out: stream events at once, and at the end the material of a ``Turn``. Promise: a fragment is
appended, never parsed. The same rules hold for every dialect; what closes a call, and what ends a reply, each
dialect says itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Self

from callgate.calls import (
    ArgumentsDelta,
    CallDone,
    CallKind,
    CallStarted,
    Finding,
    Finish,
    ReasoningDelta,
    StreamEvent,
    StreamFault,
    TextDelta,
    TurnDone,
    Usage,
)

from ._loose import Loose, joined, whole
from ._slot import GOOD, TWO, Draft, Slot, Terms, call_of, outcome, own_name

_FAULTS: Final = 32
"""Faults that are told; there are fewer kinds that are not fatal."""
_NAMES: Final = 64
"""Fragments of one name that are remembered."""
BROKEN: Final = Finding("TEXT_NOT_UNICODE", expected="valid UTF-8; the bytes of the arguments were not")
_AFTER_END: Final = StreamFault("AFTER_THE_END", "more of a call came after the reply had ended")
_NO_CALLS: Final = StreamFault("CALLS_MISSING", "the reply says that it makes calls, and there are none")
_AGAIN: Final = frozenset(
    (
        *("overloaded_error", "overloaded", "api_error", "server_error", "internal_server_error"),
        *("rate_limit_error", "rate_limit_exceeded", "timeout_error", "timeout", "service_unavailable"),
        *("408", "409", "429", "500", "502", "503", "504", "529"),
    )
)
"""After these the same request may succeed. Source: the pages on errors of OpenAI and Anthropic."""


class Assembly:
    """All of one response.

    ``certain``: the stream said its very last word, so nothing of it is still on the way. ``loose``: the
    tolerant reading of the event that is being taken in, where typed decoding refused it. ``held``: first
    halves of surrogate pairs that wait, unshown, for the second.
    """

    __slots__ = (
        *("certain", "drafts", "faults", "held", "kept", "loose"),
        *("response_id", "terms", "usage"),
    )

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.drafts: dict[int, Draft] = {0: Draft(0)}
        self.faults: list[StreamFault] = []
        self.kept: list[Any] = []
        self.usage: Usage | None = None
        self.response_id = ""
        self.certain = False
        self.loose: Loose | None = None
        self.held: dict[tuple[int, str | int], str] = {}

    def copy(self) -> Self:
        """The same state, to go on from independently."""
        other = type(self)(self.terms)
        other.drafts = {number: draft.copy() for number, draft in self.drafts.items()}
        other.faults, other.kept, other.usage = self.faults[:], self.kept[:], self.usage
        other.response_id, other.certain, other.held = self.response_id, self.certain, self.held.copy()
        return other

    def draft(self, number: int) -> Draft:
        """The choice of this number."""
        return self.drafts.get(number) or self.drafts.setdefault(number, Draft(number))

    def say(self, draft: Draft, field: str, text: str, out: list[StreamEvent]) -> None:
        """More of a choice's ``text``, ``reasoning`` or ``refusal``."""
        if not text:
            return
        getattr(draft, field).append(text)
        if field != "refusal" and (shown := self._shown((draft.number, field), text)):
            event = ReasoningDelta if field == "reasoning" else TextDelta
            out.append(event(shown, draft.number))

    def open(self, draft: Draft, kind: CallKind | None, call_id: str | None, out: list[StreamEvent]) -> Slot:
        """A call begins. Its name follows by ``name``."""
        slots = draft.server if kind is None else draft.slots
        if len(slots) >= self.terms.limits.calls:
            limit = self.terms.limits.calls
            self.fault(StreamFault("TOO_LARGE", f"the reply has more than {limit} calls"), out)
            if slots:
                return slots[-1]
        elif draft.finish is not None:
            self.fault(_AFTER_END, out)
        slot = Slot(len(slots), kind, None if call_id is None else whole(call_id))
        slots.append(slot)
        return slot

    def name(self, draft: Draft, slot: Slot, name: str, out: list[StreamEvent]) -> None:
        """A call's name, or more of it."""
        if name and len(slot.names) < _NAMES:
            slot.names.append(whole(name))
            if len(slot.names) == 1 and slot.kind is not None:
                told = own_name(slot, self.terms)
                out.append(CallStarted(slot.position, told, slot.call_id, draft.number))

    def arguments(self, draft: Draft, slot: Slot, text: str, out: list[StreamEvent]) -> None:
        """More of a call's arguments."""
        if not text:
            return
        if slot.closed:
            self.fault(_AFTER_END, out)
            return
        slot.size += len(text)
        slot.parts.append(text)
        if self._judge(slot, slot.size, text) and slot.kind is not None:
            shown = self._shown((draft.number, slot.position), text)
            if shown:
                out.append(ArgumentsDelta(slot.position, shown, draft.number))

    def give(self, slot: Slot, text: str, out: list[StreamEvent]) -> None:
        """A call's arguments in one piece. Twice is fine, two different ones are not."""
        if slot.closed:
            if text and text != (slot.given or "".join(slot.parts)):
                self.fault(_AFTER_END, out)
            return
        if slot.given and text and text != slot.given:
            slot.fault = slot.fault or TWO
        slot.given = slot.given or text
        self._judge(slot, len(text), text)

    def _judge(self, slot: Slot, size: int, text: str) -> bool:
        """Whether so much may be taken; broken text is, for the record."""
        limit = self.terms.limits.argument_characters
        if size > limit:
            slot.fault = Finding("TOO_LARGE", expected=f"at most {limit} characters")
            slot.parts, slot.given = [], ""
        elif self.loose is not None and self.loose.damaged and "\ufffd" in text:
            slot.fault = slot.fault or BROKEN
        return size <= limit

    def fault(self, fault: StreamFault, out: list[StreamEvent]) -> None:
        """Something is wrong with the stream."""
        if fault not in self.faults and len(self.faults) < _FAULTS:
            self.faults.append(fault)
            out.append(fault)

    def close(self, draft: Draft, slot: Slot, out: list[StreamEvent]) -> None:
        """The dialect ended a call."""
        is_well = draft.finish is None or draft.finish in GOOD
        if not slot.closed:
            slot.closed = True
            if slot.kind is not None and is_well:
                call = call_of(slot, self.terms, is_well=True)
                out.append(CallDone(slot.position, call, draft.number))

    def end(self, draft: Draft, finish: Finish, raw: str, out: list[StreamEvent]) -> None:
        """The reply ended. Where a server says so twice, a bad end outweighs a good one."""
        is_first = draft.finish is None
        if is_first or draft.finish in GOOD:
            draft.finish, draft.finish_raw = finish, whole(raw)
        if is_first:
            told = outcome(draft) or finish
            if finish is Finish.TOOL_CALLS and not draft.slots and not draft.number:
                told = Finish.ERROR
                self.fault(_NO_CALLS, out)
            out.append(TurnDone(told, draft.number))

    def _shown(self, key: tuple[int, str | int], text: str) -> str:
        """What of a fragment can be shown: a first half of a pair waits for the second."""
        if not self.held and self.loose is None:
            return text
        text = joined(self.held.pop(key, "") + text)
        if "\ud800" <= text[-1] <= "\udbff":
            self.held[key] = text[-1]
            text = text[:-1]
        return whole(text)


def counted(usage: Usage | None, **told: int | None) -> Usage | None:
    """Usage with what is told now: the latest number of each field counts, and null is none."""
    numbers: dict[str, Any] = {name: number for name, number in told.items() if number is not None}
    return replace(usage or Usage(), **numbers) if numbers else usage


def is_item(value: Any) -> bool:
    """Whether it can be kept for the next request: an object that says its type."""
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def provider_fault(error: Any) -> StreamFault:
    """An error as the provider tells it: an object with a ``type``, ``code`` or ``status``; or text."""
    told = error if isinstance(error, dict) else {"message": error}
    words = [whole(str(told[name])) for name in ("code", "type", "status") if told.get(name) is not None]
    message = whole(str(told.get("message") or " ".join(words) or "the provider reported an error"))
    is_passing = any(word.lower() in _AGAIN for word in words)
    return StreamFault("PROVIDER_ERROR", message, words[0] if words else "", retryable=is_passing)
