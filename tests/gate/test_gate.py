"""The gate's own corners: opening, failing, closing, resuming."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

import callgate as cg
from callgate.calls import AttemptKind, Entry, Offered, RunStarted, Started, State, TurnAsked, TurnHeard
from callgate.errors import GateClosedError, JournalUnavailableError, LocalProtocolError, UnknownRunError
from callgate.gate._machine import RunState, evolve
from callgate.gate._view import view
from callgate.journal import Lease, MemoryStore, open_journal
from tests.gate.turns import call, turn

pytestmark = pytest.mark.anyio


def simple(ran: list[Any]) -> cg.Toolset:
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.WRITE, accesses=[cg.writes("box:{value}")])
    async def put(value: int, seconds: float = 0) -> int:
        """Put."""
        ran.append(value)
        await anyio.sleep(seconds)
        return value

    @tools.tool(effect=cg.Effect.READ, accesses=[cg.reads("page:{value}")])
    async def look(value: int) -> int:
        """Look."""
        ran.append(value)
        return value

    return tools


class Full(MemoryStore):
    """A store whose disk is full from a certain append on."""

    left = 10**9

    async def append(self, lease: Lease, entries: Sequence[Entry]) -> None:
        self.left -= 1
        if self.left < 0:
            message = "disk full"
            raise JournalUnavailableError(message)
        await super().append(lease, entries)


async def test_what_cannot_be_written_does_not_run_and_the_caller_is_told() -> None:
    ran: list[int] = []
    store = Full()
    async with cg.open_gate(simple(ran), journal=store) as gate:
        await gate.handle(turn(call("put", value=1)), "r")
        store.left = 0
        with pytest.raises(JournalUnavailableError):
            await gate.handle(turn(call("put", value=2)), "r")
        with pytest.raises(JournalUnavailableError):
            await gate.handle(turn(call("put", value=3)), "r")
        store.left = 10**9
        assert (await gate.handle(turn(call("put", value=4)), "other"))[0].status == "ok"
    assert ran == [1, 4]


async def test_an_exception_in_the_body_comes_out_as_itself() -> None:
    with pytest.raises(ZeroDivisionError):
        async with cg.open_gate(simple([])):
            raise ZeroDivisionError


async def test_a_closed_gate_takes_no_turn() -> None:
    async with cg.open_gate(simple([])) as gate:
        pass
    with pytest.raises(GateClosedError):
        await gate.handle(turn(call("look", value=1)), "r")


async def test_closing_stops_what_runs_and_records_it(tmp_path: Path) -> None:
    ran: list[int] = []
    path = f"sqlite:{tmp_path / 'j.db'}"
    async with anyio.create_task_group() as tasks, cg.open_gate(simple(ran), journal=path) as gate:
        tasks.start_soon(_handle, gate, turn(call("put", value=1, seconds=30)))
        while not ran:
            await anyio.sleep(0.005)
    async with cg.open_gate(simple(ran), journal=path) as gate:
        assert (await gate.results("r"))[0].status == "unknown"
    assert ran == [1]


async def _handle(gate: cg.Gate, given: cg.Turn) -> None:
    await gate.handle(given, "r")


async def test_a_run_that_nobody_began_cannot_be_resumed() -> None:
    async with cg.open_gate(simple([])) as gate:
        with pytest.raises(UnknownRunError):
            await gate.resume("nobody")


async def test_another_turn_under_a_number_that_was_heard_is_the_callers_mistake() -> None:
    async with cg.open_gate(simple([])) as gate:
        await gate.handle(turn(call("look", value=1)), "r", number=0)
        with pytest.raises(LocalProtocolError):
            await gate.handle(turn(call("look", value=2)), "r", number=0)


async def test_a_turn_asked_and_never_heard_is_closed_and_told_by_recovery(tmp_path: Path) -> None:
    path = f"sqlite:{tmp_path / 'j.db'}"
    asked = TurnAsked("r", 0, 0, AttemptKind.FIRST, "m", "openai-chat", 1.0, offered=(Offered("look", "d"),))
    async with cg.open_gate(simple([]), journal=path) as gate:
        await gate.begin("r", "the task", "the system")
        await gate.asked(asked)
    async with cg.open_gate(simple([]), journal=path) as gate:
        seen = await gate.resume("r")
    assert (seen.task, seen.system) == ("the task", "the system")
    (only,) = seen.turns
    assert only.turn is not None
    assert (only.turn.why_not, only.asked) == ("TURN_CUT", asked)


async def test_only_tools_that_the_turn_was_offered_can_be_called() -> None:
    """R073: hidden from the list means not callable."""
    ran: list[int] = []
    async with cg.open_gate(simple(ran)) as gate:
        await gate.begin("r")
        await gate.asked(
            TurnAsked("r", 0, 0, AttemptKind.FIRST, "m", "d", 1.0, offered=(Offered("look", "x"),))
        )
        by_record = await gate.handle(turn(call("put", value=1), call("look", value=2)), "r")
        by_word = await gate.handle(turn(call("put", value=1), call("look", value=3)), "r", offered=["look"])
    assert [result.code for result in (*by_record, *by_word)] == ["NOT_OFFERED", "", "NOT_OFFERED", ""]
    assert ran == [2, 3]


async def test_a_read_that_was_running_at_the_crash_runs_again_and_a_write_is_unknown() -> None:
    ran: list[int] = []
    source = MemoryStore()
    async with cg.open_gate(simple(ran), journal=source) as gate:
        await gate.handle(turn(call("look", value=1), call("put", value=2)), "r")
        entries = [record.entry for record in await source.read("r")]
    last_start = max(place for place, entry in enumerate(entries) if isinstance(entry, Started))
    store = MemoryStore()
    lease = await store.acquire("r", "gone", 0.0, 0.0)
    await store.append(lease, entries[: last_start + 1])
    ran.clear()
    async with cg.open_gate(simple(ran), journal=store) as gate:
        seen = await gate.resume("r")
        keys = [record.entry for record in await store.read("r") if isinstance(record.entry, Started)]
    assert [result.status for result in seen.turns[0].results] == ["ok", "unknown"]
    assert ran == [1]
    reads = [entry for entry in keys if entry.key.position == 0]
    assert [entry.attempt for entry in reads] == [1, 2]
    assert len({entry.idempotency_key for entry in reads}) == 1


async def test_replay_needs_no_tool_and_stands_where_the_live_run_stood() -> None:
    """Live is decide and evolve; recovery is evolve alone."""
    store = MemoryStore()
    async with cg.open_gate(simple([]), journal=store) as gate:
        await gate.handle(
            turn(call("look", value=1), call("put", value=2), call("nope"), call("look", value="x")), "r"
        )
        await gate.handle(turn(finish="cut", executable=False, why_not="TURN_CUT"), "r")
        live = await gate.view("r")
        again = RunState("r")
        for record in await store.read("r"):
            evolve(again, record.entry)
    assert view(again) == live
    assert {call.state for call in again.calls.values()} == {State.SUCCEEDED, State.REFUSED}


async def test_listeners_hear_each_entry_once_it_is_durable() -> None:
    heard: list[Entry] = []
    store = await open_journal("memory:")
    async with cg.open_gate(simple([]), journal=store) as gate:
        gate.subscribe(heard.append)
        await gate.handle(turn(call("look", value=1)), "r")
        await gate.finish("r", "answered", "done")
        assert heard == [record.entry for record in await store.read("r")]
    assert isinstance(heard[0], RunStarted)
    assert isinstance(heard[1], TurnHeard)


async def test_concurrent_runs_share_the_slots_and_all_end() -> None:
    ran: list[int] = []
    options = cg.GateOptions(concurrency=3)
    async with cg.open_gate(simple(ran), options=options) as gate, anyio.create_task_group() as tasks:
        for run in range(10):
            batch = turn(*(call("look", value=run * 10 + n) for n in range(10)))
            tasks.start_soon(gate.handle, batch, f"run-{run}")
    assert sorted(ran) == list(range(100))


async def test_progress_is_heard_by_those_who_watch() -> None:
    tools, told = cg.Toolset(), []

    @tools.tool(effect=cg.Effect.READ)
    async def long(ctx: cg.Context) -> None:
        """Long."""
        ctx.progress("half")

    async with cg.open_gate(tools) as gate:
        gate.subscribe(lambda _entry: None, lambda key, text: told.append((key.position, text)))
        await gate.handle(turn(call("long")), "r")
    assert told == [(0, "half")]
