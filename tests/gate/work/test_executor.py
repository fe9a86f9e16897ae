"""The one place that runs a tool: every way of ending is an entry, and reconcile is asked after a crash."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

import callgate as cg
from callgate.calls import Reconciled, Started, ToolCall
from callgate.journal import MemoryStore
from tests.gate.turns import call, turn

pytestmark = pytest.mark.anyio


async def crashed_after_start(tools: cg.Toolset, made: ToolCall) -> MemoryStore:
    """The journal of a run that died while its only call ran."""
    source = MemoryStore()
    async with cg.open_gate(tools, journal=source) as gate:
        await gate.handle(turn(made), "r")
        entries = [record.entry for record in await source.read("r")]
    start = next(place for place, entry in enumerate(entries) if isinstance(entry, Started))
    store = MemoryStore()
    await store.append(await store.acquire("r", "gone", 0.0, 0.0), entries[: start + 1])
    return store


@pytest.mark.parametrize(
    ("found", "status", "content"),
    [
        (cg.Happened("it was paid"), "ok", "it was paid"),
        (cg.DidNotHappen(), "error", None),
        (cg.CannotTell(), "unknown", "The process died while it ran."),
    ],
)
@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_after_a_crash_the_tool_that_can_tell_is_asked(
    found: Any, status: str, content: Any, kind: str
) -> None:
    tools, asked = cg.Toolset(), []

    async def slowly(ctx: cg.Context, made: ToolCall) -> Any:
        await anyio.lowlevel.checkpoint()
        asked.append((ctx.key, made.arguments))
        return found

    def at_once(ctx: cg.Context, made: ToolCall) -> Any:
        asked.append((ctx.key, made.arguments))
        return found

    reconcile: Callable[..., Any] = slowly if kind == "async" else at_once

    @tools.tool(effect=cg.Effect.WRITE, reconcile=reconcile)
    async def pay(order: str) -> str:
        """Pay."""
        return order

    store = await crashed_after_start(tools, call("pay", order="7"))
    async with cg.open_gate(tools, journal=store) as gate:
        await gate.resume("r")
        with anyio.fail_after(20):
            while not asked:
                await anyio.sleep(0.005)
            await anyio.sleep(0.05)
        (result,) = await gate.results("r")
        entries = [record.entry for record in await store.read("r")]
    assert (result.status, result.content) == (status, content)
    assert [arguments for _, arguments in asked] == [{"order": "7"}]
    assert any(isinstance(entry, Reconciled) for entry in entries) == (status != "unknown")


@pytest.mark.parametrize("kind", ["raises", "hangs"])
async def test_a_reconcile_that_breaks_is_no_evidence_and_the_call_stays_unknown(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    tools, asked = cg.Toolset(), anyio.Event()

    async def broken(ctx: cg.Context, made: ToolCall) -> Any:
        asked.set()
        if kind == "hangs":
            await anyio.sleep_forever()
        raise cg.ToolError(f"the ledger of {made.name} is closed", key=str(ctx.key))

    @tools.tool(effect=cg.Effect.WRITE, reconcile=broken, timeout_seconds=0.05)
    async def pay() -> None:
        """Pay."""

    store = await crashed_after_start(tools, call("pay"))
    async with cg.open_gate(tools, journal=store) as gate:
        await gate.resume("r")
        with anyio.fail_after(20):
            await asked.wait()
        await anyio.sleep(0.1)
        (result,) = await gate.results("r")
    assert result.status == "unknown"
    assert ("the ledger of pay is closed" in caplog.text) == (kind == "raises")


async def test_a_tool_that_is_gone_at_recovery_is_said_so() -> None:
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.READ)
    async def look() -> int:
        """Look."""
        return 1

    store = await crashed_after_start(tools, call("look"))
    async with cg.open_gate(cg.Toolset(), journal=store) as gate:
        (result,) = (await gate.resume("r")).turns[0].results
    assert (result.status, result.code) == ("error", "TOOL_GONE")


async def test_a_cancelled_tool_that_succeeds_all_the_same_is_a_success() -> None:
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.WRITE, timeout_seconds=0.05)
    async def stubborn() -> str:
        """Ignore the cancellation."""
        try:
            await anyio.sleep(5)
        except anyio.get_cancelled_exc_class():
            return "done"
        return "not reached"

    async with cg.open_gate(tools) as gate:
        await gate.handle(turn(call("stubborn")), "r")
        with anyio.fail_after(20):
            while (await gate.results("r"))[0].status != "ok":
                await anyio.sleep(0.005)
        (result,) = await gate.results("r")
    assert result.content == "done"


async def test_an_awaitable_that_a_synchronous_function_returns_is_awaited_once() -> None:
    tools, times = cg.Toolset(), []

    async def later(value: int) -> int:
        times.append(value)
        return value

    def look_later(value: int) -> Any:
        """Later."""
        return later(value)

    tools.tool(effect=cg.Effect.READ)(look_later)
    async with cg.open_gate(tools) as gate:
        (result,) = await gate.handle(turn(call("look_later", value=3)), "r")
    assert (result.content, times) == (3, [3])


async def test_a_tool_may_use_task_groups_timeouts_and_tasks_of_its_own() -> None:
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.READ)
    async def busy() -> list[int]:
        """Busy."""
        found: list[int] = []

        async def one(value: int) -> None:
            await anyio.sleep(0.001)
            found.append(value)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, 1)
            tasks.start_soon(one, 2)
        with anyio.move_on_after(0.01):
            await anyio.sleep(5)
        await asyncio.create_task(one(3))
        async with asyncio.timeout(1):
            await one(4)
        return sorted(found)

    async with cg.open_gate(tools) as gate:
        results = await gate.handle(turn(*(call("busy") for _ in range(5))), "r")
    assert [result.content for result in results] == [[1, 2, 3, 4]] * 5


async def test_threads_are_bounded_and_what_never_got_one_did_not_happen() -> None:
    """R053: a thread that cannot be stopped keeps its slot; what waited in vain failed, not unknown."""
    tools, release = cg.Toolset(), threading.Event()
    before = threading.active_count()

    @tools.tool(effect=cg.Effect.WRITE, timeout_seconds=0.1, accesses=[cg.writes("thing:{it}")])
    def stuck(it: int) -> None:
        """Stuck."""
        release.wait(10)

    async with cg.open_gate(tools, options=cg.GateOptions(threads=2)) as gate:
        results = await gate.handle(turn(*(call("stuck", it=it) for it in range(5))), "r")
        assert threading.active_count() <= before + 2
        release.set()
    statuses = [result.status for result in results]
    assert statuses.count(cg.Status.UNKNOWN) == 2
    assert statuses.count(cg.Status.ERROR) == 3


async def test_the_declared_timeout_has_a_ceiling() -> None:
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.READ, timeout_seconds=3600)
    async def slow() -> None:
        """Slow."""
        await anyio.sleep(30)

    start = time.monotonic()
    async with cg.open_gate(tools, options=cg.GateOptions(timeout_ceiling=0.05)) as gate:
        (result,) = await gate.handle(turn(call("slow")), "r")
    assert result.code == "TIMED_OUT"
    assert time.monotonic() - start < 5
