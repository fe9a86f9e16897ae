"""Decisions are heard while the gate is open, from wherever they come; leases are kept."""

import anyio
import pytest

import callgate as cg
from callgate.journal import Decision, MemoryStore
from tests.gate.turns import call, turn

pytestmark = pytest.mark.anyio


def dropping(ran: list[str]) -> cg.Toolset:
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.IRREVERSIBLE)
    async def drop() -> str:
        """Drop."""
        ran.append("drop")
        return "dropped"

    return tools


async def test_a_decision_in_the_inbox_is_heard_without_anybody_asking_for_results() -> None:
    ran: list[str] = []
    store = MemoryStore()
    options = cg.GateOptions(poll_seconds=0.01)
    async with cg.open_gate(dropping(ran), journal=store, options=options) as gate:
        await gate.handle(turn(call("drop")), "r")
        (waiting,) = await gate.pending("r")
        await store.post(Decision(waiting.key, waiting.digest, approved=True, by="ann", reason="", at=1.0))
        with anyio.fail_after(20):
            while not ran:
                await anyio.sleep(0.01)
    assert ran == ["drop"]


async def test_a_session_whose_lease_was_taken_is_let_go_by_the_keeper() -> None:
    store = MemoryStore()
    options = cg.GateOptions(poll_seconds=0.01, lease_seconds=0.2)
    async with cg.open_gate(dropping([]), journal=store, options=options) as gate:
        await gate.handle(turn(call("nope")), "r")
        lease = gate._host.sessions["r"].lease
        await store.acquire("r", "thief", 1e9, gate._host.clock(), takes_over=lease.holder)
        with anyio.fail_after(20):
            while "r" in gate._host.sessions:
                await anyio.sleep(0.01)
