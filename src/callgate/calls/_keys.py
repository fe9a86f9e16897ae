"""The names of things that must never be confused: calls, and the effects they may have.

A provider's call id is unique only inside its turn, and not even there with some servers; a ``CallKey`` is
unique for ever.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final, NamedTuple

from callgate.errors import LocalProtocolError

_WRITTEN: Final = re.compile(r"(.*)/(\d{1,18})\.(\d{1,18})\.(\d{1,18})", re.ASCII | re.DOTALL)


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
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise LocalProtocolError("a call key is written run/turn.attempt.position", got=text)
        run, *numbers = match.groups()
        return cls(run, *map(int, numbers))


def idempotency_key(key: CallKey, call_digest: str) -> str:
    """The key a tool hands to the outside world, so that a repeated request has one effect.

    Derived, so it is the same in every try, process and recovery; of the call's key, so that a new call with
    equal arguments has another. 35 characters of ``[a-z0-9_]``: within what payment APIs take (Stripe allows
    255).
    """
    run, turn, attempt, position = key
    told = f"{turn}.{attempt}.{position}\n{call_digest}\n{run}".encode("utf-8", "surrogatepass")
    return f"cg_{hashlib.sha256(told).hexdigest()[:32]}"
