"""What of a run goes into the next request.

In: the task and the exchanges so far. Out: a history that fits. Promise: an exchange, which is a turn with
all its results, is kept or left out whole; so a history never begins with a result and never holds a call
without one. The task and the newest exchange are always kept: where they alone do not fit, the answer is
that it cannot be done.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from callgate.models import estimate_tokens
from callgate.wire import Exchange, Said, encode


def cost(dialect: str, exchange: Exchange) -> int:
    """Tokens of an exchange in a request, estimated."""
    return estimate_tokens(msgspec.json.encode(encode(dialect, exchange.turn, exchange.results)).decode())


def fit(
    task: str, exchanges: Sequence[Exchange], costs: Sequence[int], budget: int | None
) -> tuple[Said | Exchange, ...] | None:
    """The task and the newest exchanges whose ``costs`` fit into ``budget`` together.

    None where not even the newest does. When any are left out the task says how many, so that the model
    knows that it has forgotten something.
    """
    kept = len(exchanges) if budget is None else _suffix(costs, budget)
    if exchanges and not kept:
        return None
    left_out = len(exchanges) - kept
    note = f"\n\n[{left_out} earlier turns of this run, with their calls and results, are not shown.]"
    return (Said("user", task + note if left_out else task), *exchanges[left_out:])


def _suffix(costs: Sequence[int], budget: int) -> int:
    total = 0
    for count, one in enumerate(reversed(costs)):
        total += one
        if total > budget:
            return count
    return len(costs)
