"""How many tokens a text is, roughly, when nobody who knows has said.

In: text. Out: a whole number. Promise: deterministic, linear, never zero for text that is not empty, and it
has a name, so that a number it made is never taken for one the provider counted.

Four ASCII characters to a token and one token to any other character: the usual measure for English and JSON,
and the right order for Chinese, Japanese and Korean. On recorded replies it is within a factor of two once
each call's frame is counted.
"""

from __future__ import annotations

from typing import Final

from callgate.calls import Turn

ESTIMATOR: Final = "callgate-characters-1"
"""The name that stands in ``Usage.estimator`` and ``TurnAsked.tokens_by``; a change of the formula changes
the number at its end."""

_ASCII_A_TOKEN: Final = 4
_CALL_FRAME: Final = 12
"""Tokens that frame a call beside its name and arguments: the median over recorded replies whose usage is
known."""


def estimate_tokens(text: str) -> int:
    """Tokens of a text."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-plain // _ASCII_A_TOKEN) + len(text) - plain


def estimate_reply(turn: Turn) -> int:
    """Tokens that a model wrote to make this turn: text, reasoning, refusal and calls."""
    written = estimate_tokens(turn.text) + estimate_tokens(turn.reasoning) + estimate_tokens(turn.refusal)
    return written + sum(
        _CALL_FRAME + estimate_tokens(call.name + call.arguments_text) for call in turn.calls
    )
