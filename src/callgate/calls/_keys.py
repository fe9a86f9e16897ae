"""The names of things that must never be confused: calls, and the effects they may have.

A provider's call id is unique only inside its turn, and not even there with some servers; a ``CallKey`` is
unique for ever.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from callgate.errors import LocalProtocolError


class CallKey(NamedTuple):
    """Run, turn, attempt, position: unique for ever, whatever ids the provider reuses.

    All numbers count from 0.
    """

    run: str = ""
    turn: int = 0
    attempt: int = 0
    position: int = 0

    def __str__(self) -> str:
        """As a person and the command line write it: ``run/turn.attempt.position``."""
        return f"{self.run}/{self.turn}.{self.attempt}.{self.position}"

    @classmethod
    def parse(cls, text: str) -> CallKey:
        """Read ``run/turn.attempt.position``.

        Raises:
            LocalProtocolError: The text is not of that form.
        """
        run, slash, rest = text.rpartition("/")
        numbers = rest.split(".")
        if not slash or len(numbers) != 3 or not all(n.isascii() and n.isdigit() for n in numbers):
            message = "a call key is run/turn.attempt.position"
            raise LocalProtocolError(message, got=text)
        return cls(run, int(numbers[0]), int(numbers[1]), int(numbers[2]))


def idempotency_key(key: CallKey, call_digest: str) -> str:
    """The key a tool hands to the outside world, so that a repeated request has one effect.

    Derived, so it is the same in every try, process and recovery; of the call's key, so that a new call with
    equal arguments has another. 35 characters of ``[a-z0-9_]``: within what payment APIs take (Stripe allows
    255).
    """
    told = f"{key.turn}.{key.attempt}.{key.position}\n{call_digest}\n{key.run}"
    return "cg_" + hashlib.sha256(told.encode()).hexdigest()[:32]
