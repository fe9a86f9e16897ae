"""What the open runs of a gate share: leases that are renewed, slots that are lent."""

import anyio
import pytest

import callgate as cg
from callgate.journal import MemoryStore
from tests.gate.turns import call, turn

pytestmark = pytest.mark.anyio


async def test_a_lease_is_renewed_while_the_gate_is_open_and_given_back_after() -> None:
    tools, store = cg.Toolset(), MemoryStore()

    @tools.tool(effect=cg.Effect.READ)
    async def look() -> int:
        """Look."""
        return 1

    options = cg.GateOptions(lease_seconds=0.3, poll_seconds=0.02)
    async with cg.open_gate(tools, journal=store, options=options) as gate:
        await gate.handle(turn(call("look")), "r")
        until = gate._host.sessions["r"].lease.until
        with anyio.fail_after(20):
            while gate._host.sessions["r"].lease.until <= until:
                await anyio.sleep(0.02)
        (info,) = await store.runs()
        assert info.holder
    (info,) = await store.runs()
    assert not info.holder


async def test_one_run_does_not_starve_another() -> None:
    tools, order = cg.Toolset(), []

    @tools.tool(effect=cg.Effect.READ)
    async def look(run: str) -> None:
        """Look."""
        order.append(run)
        await anyio.sleep(0.005)

    options = cg.GateOptions(concurrency=2)
    async with cg.open_gate(tools, options=options) as gate, anyio.create_task_group() as tasks:
        tasks.start_soon(gate.handle, turn(*(call("look", run="a") for _ in range(40))), "a")
        await anyio.sleep(0.01)
        tasks.start_soon(gate.handle, turn(*(call("look", run="b") for _ in range(4))), "b")
    assert sorted(order) == ["a"] * 40 + ["b"] * 4
    assert max(place for place, run in enumerate(order) if run == "b") < 35
