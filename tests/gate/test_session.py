"""A session writes in order, and one that cannot write stops alone."""

from collections.abc import Sequence

import pytest

import callgate as cg
from callgate.calls import Admitted, Entry, Returned, Started, TurnHeard
from callgate.errors import LeaseLostError
from callgate.journal import Lease, MemoryStore
from tests.gate.turns import call, turn

pytestmark = pytest.mark.anyio


def simple() -> cg.Toolset:
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.READ)
    async def look(value: int) -> int:
        """Look."""
        return value

    return tools


class Counting(MemoryStore):
    """A store that remembers what was appended together."""

    groups: list[list[type]]

    async def append(self, lease: Lease, entries: Sequence[Entry]) -> None:
        self.groups.append([type(entry) for entry in entries])
        await super().append(lease, entries)


async def test_all_intents_of_a_batch_are_one_append() -> None:
    store = Counting()
    store.groups = []
    async with cg.open_gate(simple(), journal=store) as gate:
        await gate.handle(turn(*(call("look", value=n) for n in range(20))), "r")
    intents = store.groups[0]
    assert intents.count(TurnHeard) == 1
    assert intents.count(Admitted) == intents.count(Started) == 20
    assert sum(group.count(Returned) for group in store.groups) == 20
    assert len(store.groups) < 10


async def test_a_lease_that_was_taken_stops_the_session_and_not_the_gate() -> None:
    store = MemoryStore()
    async with cg.open_gate(simple(), journal=store) as gate:
        await gate.handle(turn(call("look", value=1)), "r")
        lease = gate._host.sessions["r"].lease
        await store.acquire("r", "thief", 1e9, gate._host.clock(), takes_over=lease.holder)
        with pytest.raises(LeaseLostError):
            await gate.handle(turn(call("look", value=2)), "r")
        assert (await gate.handle(turn(call("look", value=3)), "s"))[0].content == 3
