"""Whatever breaks off, and wherever: no effect without its entry, none twice, one result for each call.

One rich run, cut at each of its entries and at each of its appends; and random runs.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import callgate as cg
from callgate.calls import CallKey, Entry, Started, State, ToolCall
from callgate.errors import CallgateError, JournalUnavailableError
from callgate.gate._machine import RunState, evolve
from callgate.gate._view import view
from callgate.journal import Lease, MemoryStore
from callgate.schedule import conflicts
from tests.gate.turns import call, turn

pytestmark = pytest.mark.anyio


class Store(MemoryStore):
    """A store that fails at one append, and knows what is durable."""

    def __init__(self, fails_at: int = -1) -> None:
        super().__init__()
        self.appends = 0
        self.fails_at = fails_at
        self.durable: list[Entry] = []

    async def append(self, lease: Lease, entries: Sequence[Entry]) -> None:
        await anyio.sleep(0)
        self.appends += 1
        if self.appends - 1 == self.fails_at:
            message = "disk full"
            raise JournalUnavailableError(message)
        await super().append(lease, entries)
        self.durable.extend(entries)

    def is_started(self, key: CallKey, attempt: int) -> bool:
        return any(
            isinstance(entry, Started) and entry.key == key and entry.attempt == attempt
            for entry in self.durable
        )


@dataclass
class World:
    """What the tools of a run did, in order."""

    store: Store
    effects: list[CallKey] = field(default_factory=list)
    spans: list[tuple[float, float, CallKey]] = field(default_factory=list)
    early: list[CallKey] = field(default_factory=list)

    async def act(self, ctx: cg.Context, how: str) -> str:
        if not self.store.is_started(ctx.key, ctx.attempt):
            self.early.append(ctx.key)
        self.effects.append(ctx.key)
        begin = time.monotonic()
        try:
            await anyio.sleep({"slow": 0.004, "hang": 5}.get(how, 0))
            if how == "fail":
                raise cg.ToolError(how)
            if how == "lost":
                raise ConnectionError(how)
        finally:
            self.spans.append((begin, time.monotonic(), ctx.key))
        return how

    def tools(self) -> cg.Toolset:
        tools = cg.Toolset()

        @tools.tool(effect=cg.Effect.READ, accesses=[cg.reads("doc:{name}")], timeout_seconds=0.03)
        async def look(name: str, how: str, ctx: cg.Context) -> str:
            """Look."""
            return await self.act(ctx, how)

        @tools.tool(effect=cg.Effect.WRITE, accesses=[cg.writes("doc:{name}")], timeout_seconds=0.03)
        async def put(name: str, how: str, ctx: cg.Context) -> str:
            """Put."""
            return await self.act(ctx, how)

        @tools.tool(
            effect=cg.Effect.WRITE, idempotent=True, accesses=[cg.writes("doc:{name}")], timeout_seconds=0.03
        )
        async def set_doc(name: str, how: str, ctx: cg.Context) -> str:
            """Set."""
            return await self.act(ctx, how)

        @tools.tool(effect=cg.Effect.IRREVERSIBLE, accesses=[cg.writes("doc:{name}")], timeout_seconds=0.03)
        async def drop(name: str, how: str, ctx: cg.Context) -> str:
            """Drop."""
            return await self.act(ctx, how)

        return tools


OPTIONS = cg.GateOptions(poll_seconds=0.01, concurrency=3)


def rich() -> list[list[ToolCall]]:
    def calls(*made: str) -> list[ToolCall]:
        return [call(name, name=on, how=how) for name, on, how in (one.split() for one in made)]

    return [
        calls("look a ok", "put a slow", "put a ok", "set_doc b slow", "look b ok"),
        calls("put c fail", "look c ok"),
        calls("drop a ok", "put a ok", "look d fail", "drop b ok", "look a slow"),
        calls("put e lost", "look e ok", "put f hang", "drop f ok", "nope a ok", "look 7 ok"),
    ]


async def play(gate: cg.Gate, turns: list[list[ToolCall]], answers: Iterator[bool]) -> None:
    for number, calls in enumerate(turns):
        await gate.handle(turn(*calls), "r", number=number)
        for waiting in await gate.pending("r"):
            await gate.decide(waiting.key, approved=next(answers), by="ann")
            await gate.results("r")


def alternately() -> Iterator[bool]:
    while True:
        yield True
        yield False


def replayed(entries: Sequence[Entry]) -> RunState:
    state = RunState("r")
    for entry in entries:
        evolve(state, entry)
    return state


def hold(world: World, before: Sequence[CallKey] = ()) -> None:
    """What must be true of any run, however it came to its end."""
    assert world.early == []
    state = replayed(world.store.durable)
    repeatable = {key for key, made in state.calls.items() if made.repeatable}
    effects = [*before, *world.effects]
    assert all(effects.count(key) == 1 for key in effects if key not in repeatable)
    for key in effects:
        assert state.calls[key].state not in {State.REFUSED, State.SKIPPED, State.CREATED}
    spans = sorted(world.spans)
    for place, (_, end, key) in enumerate(spans):
        for begin, _, other in spans[place + 1 :]:
            if begin < end:
                assert not conflicts(state.calls[key].accesses, state.calls[other].accesses)
    for place, first in enumerate(world.effects):
        for second in world.effects[place + 1 :]:
            if conflicts(state.calls[first].accesses, state.calls[second].accesses):
                assert first <= second


async def finished(world: World, gate: cg.Gate) -> None:
    """Take the run up, answer what waits, and see that nothing stays open."""
    await gate.resume("r")
    while waiting := await gate.pending("r"):
        await gate.decide(waiting[0].key, approved=True, by="ann")
        await gate.resume("r")
    live = await gate.view("r")
    for told in live.turns:
        assert told.turn is not None
        assert [result.key for result in told.results] == [made.key for made in told.turn.calls]
        assert all(result.status != "pending" for result in told.results)
    assert view(replayed(world.store.durable)) == live


async def test_a_run_broken_off_after_any_of_its_entries_is_finished_with_no_effect_twice() -> None:
    source = World(Store())
    async with cg.open_gate(source.tools(), journal=source.store, options=OPTIONS) as gate:
        await play(gate, rich(), alternately())
        await finished(source, gate)
    hold(source)
    whole = list(source.store.durable)
    for length in range(1, len(whole) + 1):
        store = Store()
        await store.append(await store.acquire("r", "gone", 0.0, 0.0), whole[:length])
        before = [entry.key for entry in whole[:length] if isinstance(entry, Started)]
        again = World(store)
        async with cg.open_gate(again.tools(), journal=store, options=OPTIONS) as gate:
            await finished(again, gate)
        hold(again, before)


async def test_whichever_append_fails_nothing_runs_that_is_not_recorded_and_everybody_is_told() -> None:
    fails_at = 0
    while True:
        world = World(Store(fails_at))
        async with cg.open_gate(world.tools(), journal=world.store, options=OPTIONS) as gate:
            with anyio.fail_after(10):
                with suppress(JournalUnavailableError):
                    await play(gate, rich(), alternately())
                if world.store.durable:
                    await finished(world, gate)
        hold(world)
        if world.store.appends <= fails_at:
            break
        fails_at += 1
    assert fails_at > 10


CALLS = st.builds(
    lambda name, on, how: call(name, name=on, how=how),
    st.sampled_from(["look", "put", "set_doc", "drop"]),
    st.sampled_from("abc"),
    st.sampled_from(["ok", "ok", "slow", "slow", "fail", "lost", "hang"]),
)


@settings(max_examples=40)
@given(
    st.lists(st.lists(CALLS, min_size=1, max_size=7), min_size=1, max_size=3),
    st.lists(st.booleans(), max_size=8),
    st.booleans(),
)
def test_conflicting_calls_never_overlap_and_keep_their_order(
    turns: list[list[ToolCall]], answers: list[bool], together: bool
) -> None:
    async def run() -> None:
        world = World(Store())
        async with cg.open_gate(world.tools(), journal=world.store, options=OPTIONS) as gate:
            with anyio.fail_after(20):
                if together:
                    async with anyio.create_task_group() as tasks:
                        for calls in turns:
                            tasks.start_soon(gate.handle, turn(*calls), "r")
                else:
                    await play(gate, turns, iter([*answers, *[True] * 30]))
                await finished(world, gate)
                assert len((await gate.view("r")).turns) == len(turns)
        hold(world)

    anyio.run(run)


def test_a_journal_read_to_any_entry_is_a_state() -> None:
    """``evolve`` has an answer for every beginning of what was written."""

    async def run() -> list[Entry]:
        world = World(Store())
        async with cg.open_gate(world.tools(), journal=world.store, options=OPTIONS) as gate:
            await play(gate, rich(), alternately())
            await gate.cancel("r", "ann")
        return world.store.durable

    entries = anyio.run(run)
    for length in range(len(entries) + 1):
        view(replayed(entries[:length]))
    with pytest.raises(CallgateError):
        replayed(entries[2:])


async def test_a_run_keeps_the_order_of_writes_it_began_with() -> None:
    """What stands in the journal is read back the same, whatever the gate is opened with later."""
    turns = [[call("put", name=on, how="slow") for on in "abc"]]
    source = World(Store())
    async with cg.open_gate(source.tools(), journal=source.store, options=OPTIONS) as gate:
        await play(gate, turns, alternately())
        live = await gate.view("r")
    assert replayed(source.store.durable).started is not None
    for length in range(1, len(source.store.durable) + 1):
        store = Store()
        await store.append(await store.acquire("r", "gone", 0.0, 0.0), source.store.durable[:length])
        again = World(store)
        async with cg.open_gate(
            again.tools(), journal=store, options=cg.GateOptions(writes="serial", poll_seconds=0.01)
        ) as gate:
            await finished(again, gate)
            if length == len(source.store.durable):
                assert await gate.view("r") == live


async def test_serial_writes_run_one_after_the_other() -> None:
    world = World(Store())
    options = cg.GateOptions(writes="serial")
    async with cg.open_gate(world.tools(), journal=world.store, options=options) as gate:
        await play(gate, [[call("put", name=on, how="slow") for on in "abc"]], alternately())
    assert all(end <= begin for (_, end, _), (begin, _, _) in pairwise(sorted(world.spans)))
