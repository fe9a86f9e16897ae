"""What a gate does beside its calls: hear what people decided, let approvals expire, keep its leases.

In: the open sessions. Out: events for them. Promise: a lease is renewed long before it ends, and a session
that lost it writes nothing more; a decision counts only for the digest it was made about.
"""

from __future__ import annotations

import logging

import anyio

from callgate.calls import FINAL, State
from callgate.errors import JournalError, LeaseLostError
from callgate.journal import Decision
from callgate.tools import NO_FACTS

from ._decide import Answered
from ._host import GateHost
from ._session import Session

_LOG = logging.getLogger("callgate")


async def answer(host: GateHost, session: Session) -> bool:
    """Take what people decided about a run's waiting calls, and what the clock did.

    Whether anything was.
    """
    waiting = session.state.in_state(State.AWAITING_APPROVAL)
    if not waiting:
        return False
    now = host.clock()
    keys = {call.call.key for call in waiting}
    decisions = [d for d in await host.store.take(session.state.run) if d.key in keys]
    decided = {decision.key for decision in decisions}
    for call in waiting:
        asked = call.asked
        if asked and asked.expires_at is not None and asked.expires_at <= now and asked.key not in decided:
            session.post(
                Answered(asked.key, asked.digest, approved=False, by="clock", at=now, code="APPROVAL_EXPIRED")
            )
            decided.add(asked.key)
    for decision in decisions:
        await _post_decision(host, session, decision)
    return bool(decided)


async def _post_decision(host: GateHost, session: Session, decision: Decision) -> None:
    call = session.state.calls[decision.key].call
    tool = host.bench.tools.get(call.name)
    facts = await host.facts([(tool, call.arguments)]) if tool and decision.approved else [NO_FACTS]
    session.post(
        Answered(
            decision.key,
            decision.digest,
            decision.approved,
            decision.by,
            decision.at,
            decision.reason,
            facts=facts[0],
        )
    )


def is_needless(session: Session) -> bool:
    """Whether nothing can come of it: a run that nobody began, or a tool's own whose calls are over."""
    calls = session.state.calls.values()
    over = session.is_nested and all(call.state in FINAL for call in calls)
    return session.is_idle and (over or session.state.started is None)


async def keep(host: GateHost) -> None:
    """Read the inbox while calls wait for people, and renew the leases; runs until cancelled."""
    renewed_at = host.clock()
    while True:
        await anyio.sleep(host.options.poll_seconds)
        for session in list(host.sessions.values()):
            try:
                await answer(host, session)
                if is_needless(session):
                    await host.release(session)
            except JournalError as problem:
                session.fail(problem)
            except Exception:  # noqa: BLE001 - a world of the caller's own may raise anything
                # Whoever looks things up for the gate broke; the call waits on, and the other runs go on.
                _LOG.exception("what people decided about %s could not be heard", session.state.run)
        if host.clock() - renewed_at >= host.options.lease_seconds / 3:
            renewed_at = host.clock()
            await _renew(host)


async def _renew(host: GateHost) -> None:
    for session in list(host.sessions.values()):
        try:
            session.lease = await host.store.renew(session.lease, host.options.lease_seconds, host.clock())
        except JournalError as problem:
            # A busy disk is asked again before the lease ends; what another holds is lost.
            if isinstance(problem, LeaseLostError) or session.lease.until <= host.clock():
                session.fail(problem)
