"""What a decoder says while the bytes arrive.

Display and timing only: nothing here may run; only the ``Turn`` may.
"""

from __future__ import annotations

import msgspec

from ._values import Finish, StreamFault, ToolCall


class TextDelta(msgspec.Struct, frozen=True, gc=False):
    """More of the assistant's text."""

    text: str
    choice: int = 0


class ReasoningDelta(msgspec.Struct, frozen=True, gc=False):
    """More of the model's reasoning, where the provider shows it."""

    text: str
    choice: int = 0


class CallStarted(msgspec.Struct, frozen=True, gc=False):
    """A call was opened. ``position`` counts the calls of the choice from 0 in order of first appearance."""

    position: int
    name: str
    call_id: str | None = None
    choice: int = 0


class ArgumentsDelta(msgspec.Struct, frozen=True, gc=False):
    """More of a call's argument text. It may end anywhere; it is not to be parsed."""

    position: int
    text: str
    choice: int = 0


class CallDone(msgspec.Struct, frozen=True, gc=False):
    """The dialect closed a call. It still may not run: its turn is not over."""

    position: int
    call: ToolCall
    choice: int = 0


class TurnDone(msgspec.Struct, frozen=True, gc=False):
    """The dialect's own completion was seen."""

    finish: Finish
    choice: int = 0


StreamEvent = TextDelta | ReasoningDelta | CallStarted | ArgumentsDelta | CallDone | TurnDone | StreamFault
