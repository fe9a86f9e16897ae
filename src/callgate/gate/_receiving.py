"""How a turn comes to its session: which turn of the run it is, what it was offered, what must be looked up.

In: a decoded turn. Out: an event for the session, and the turn's place in the run. Promise: a turn
delivered again is known again and runs nothing.
"""

from __future__ import annotations

import contextvars
from collections.abc import Iterable
from dataclasses import dataclass

import anyio

from callgate.calls import Entry, Turn, turn_digest
from callgate.errors import LocalProtocolError
from callgate.tools import NO_FACTS, Facts

from ._decide import Noted, TurnReceived
from ._host import GateHost
from ._keeper import answer
from ._machine import RunState, TurnState
from ._session import Session
from ._view import pending


@dataclass(frozen=True, slots=True, kw_only=True)
class Handling:
    """How one turn is to be handled.

    ``number``: which turn of the run it is; the next one by default. A turn delivered again under its
    number gets the recorded results. ``offered``: the tools this turn was offered; by default those of
    ``TurnAsked``, else all. ``budget``: how many of its calls may be admitted. ``wait_for_approvals``:
    seconds to wait for people before a call is answered ``pending``. ``body_digest`` and ``body``: the reply
    as it came, for the record.
    """

    number: int | None = None
    offered: Iterable[str] | None = None
    budget: int | None = None
    wait_for_approvals: float = 0.0
    body_digest: str = ""
    body: bytes = b""


def delivered(state: RunState, turn: Turn, number: int | None) -> TurnState | None:
    """The turn, if this very one was heard before.

    By its number, or by the provider's id of the response.
    """
    if number is not None and number < 0:
        message = "turns are counted from 0"
        raise LocalProtocolError(message, run=state.run, number=number)
    if any(known.heard is None and known.number == number for known in state.turns):
        return None  # another attempt was asked for, and this is its reply
    for known in reversed(state.turns):
        if known.heard is None or not (known.number == number or (number is None and turn.response_id)):
            continue
        if known.heard.digest == turn_digest(turn):
            return known
        if known.number == number and known.heard.digest:
            message = "another turn was heard under this number"
            raise LocalProtocolError(message, run=state.run, number=number)
    return None


async def receive(host: GateHost, session: Session, turn: Turn, asked: Handling) -> TurnState:
    """Have the turn judged and recorded under its number; what may run of it begins to."""
    state, tools = session.state, host.bench.tools
    open_turn = next((known for known in reversed(state.turns) if known.heard is None), None)
    if open_turn is not None and asked.number in (None, open_turn.number):
        number, attempt = open_turn.number, open_turn.attempt
    else:
        numbers = [known.number for known in state.turns]
        number = max(numbers, default=-1) + 1 if asked.number is None else asked.number
        attempt = numbers.count(number)
    offered = asked.offered
    if offered is None:
        named = open_turn.asked if open_turn else None
        offered = tools if named is None else [one.name for one in named.offered]
    event = TurnReceived(
        number,
        attempt,
        turn,
        frozenset(offered),
        await _facts(host, turn),
        host.clock(),
        asked.budget,
        asked.body_digest,
        asked.body,
    )
    session.variables[number, attempt] = contextvars.copy_context()
    session.post(event)
    await session.until(lambda: state.turn(number, attempt) is not None)
    known = state.turn(number, attempt)
    assert known is not None  # noqa: S101 - what was waited for
    return known


async def _facts(host: GateHost, turn: Turn) -> tuple[Facts, ...]:
    """What must be looked up for the calls of a turn, by position."""
    tools, facts = host.bench.tools, [NO_FACTS] * len(turn.calls)
    if turn.executable:
        known = [place for place, call in enumerate(turn.calls) if call.complete and call.name in tools]
        wanted = [(tools[turn.calls[place].name], turn.calls[place].arguments) for place in known]
        for place, fact in zip(known, await host.facts(wanted), strict=True):
            facts[place] = fact
    return tuple(facts)


async def wait_for_people(host: GateHost, session: Session, turn: TurnState, seconds: float) -> None:
    """Wait up to so many seconds until nothing of the turn waits for a person."""
    with anyio.move_on_after(seconds):
        while any(found.key in turn.keys for found in pending(session.state)):
            if not await answer(host, session):
                await anyio.sleep(host.options.poll_seconds / 5)
            await session.until(lambda: session.state.is_quiet(turn))


async def note(host: GateHost, run: str, entry: Entry) -> Session:
    """Record an entry that needs no decision."""
    session = await host.session(run)
    session.post(Noted(entry))
    await session.until(lambda: True)
    return session
