"""What the gate promises, on small exact inputs."""

import contextvars
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

import callgate as cg
from callgate.calls import Finish, Returned, Started
from callgate.journal import open_journal
from tests.gate.turns import call, turn

pytestmark = pytest.mark.anyio


def statuses(results: list[cg.ToolResult]) -> list[str]:
    return [str(result.status) for result in results]


async def test_results_stand_in_call_order_whatever_finished_first() -> None:
    """R048: two calls of one tool whose second finishes first, 100 and 20 ms."""
    tools, finished = cg.Toolset(), []

    @tools.tool(effect=cg.Effect.READ)
    async def fetch(name: str, seconds: float) -> str:
        """Fetch."""
        await anyio.sleep(seconds)
        finished.append(name)
        return name

    async with cg.open_gate(tools) as gate:
        results = await gate.handle(
            turn(call("fetch", "same", name="a", seconds=0.1), call("fetch", "same", name="b", seconds=0.02)),
            "r",
        )
    assert finished == ["b", "a"]
    assert [result.content for result in results] == ["a", "b"]
    assert len({result.key for result in results}) == 2


@pytest.mark.parametrize(
    ("finish", "code"),
    [
        (Finish.CUT, "TURN_CUT"),
        (Finish.ERROR, "TURN_FAILED"),
        (Finish.LENGTH, "TURN_CAPPED"),
        (Finish.FILTERED, "TURN_REFUSED"),
    ],
)
async def test_nothing_of_a_turn_that_is_not_executable_runs_and_every_call_is_told_why(
    finish: Finish, code: str
) -> None:
    """Promise 2."""
    tools, ran = cg.Toolset(), []

    @tools.tool(effect=cg.Effect.READ)
    def look(at: str) -> None:
        """Look."""
        ran.append(at)

    async with cg.open_gate(tools) as gate:
        results = await gate.handle(
            turn(call("look", at="a"), call("look", at="b"), finish=finish, executable=False, why_not=code),
            "r",
        )
    assert ran == []
    assert [(result.status, result.code) for result in results] == [("not_run", code)] * 2


async def test_the_entry_is_durable_before_the_tool_starts_and_before_its_result_is_returned(
    tmp_path: Path,
) -> None:
    """Promise 8."""
    tools = cg.Toolset()
    seen: list[str] = []
    store = await open_journal(f"sqlite:{tmp_path / 'j.db'}")

    @tools.tool(effect=cg.Effect.WRITE)
    async def put(ctx: cg.Context) -> str:
        """Put."""
        reader = await open_journal(f"sqlite:{tmp_path / 'j.db'}")
        entries = [record.entry for record in await reader.read(ctx.run)]
        await reader.close()
        seen.extend(
            entry.idempotency_key for entry in entries if isinstance(entry, Started) and entry.key == ctx.key
        )
        return ctx.idempotency_key

    async with cg.open_gate(tools, journal=store) as gate:
        results = await gate.handle(turn(call("put")), "r")
        entries = [record.entry for record in await store.read("r")]
        assert await store.verify() == []
    await store.close()
    assert seen == [results[0].content]
    assert any(isinstance(entry, Returned) for entry in entries)


async def test_reads_run_together_and_conflicting_writes_in_call_order() -> None:
    """R052: writes to one resource never overlap, a read after one sees it, another stays parallel."""
    tools, log = cg.Toolset(), []

    @tools.tool(effect=cg.Effect.WRITE, accesses=[cg.writes("doc:{name}")], idempotent=True)
    async def write_doc(name: str, step: int) -> None:
        """Write."""
        log.append(("begin", name, step))
        await anyio.sleep(0.02)
        log.append(("end", name, step))

    @tools.tool(effect=cg.Effect.READ, accesses=[cg.reads("doc:{name}")])
    async def read_doc(name: str, step: int) -> None:
        """Read."""
        log.append(("read", name, step))

    async with cg.open_gate(tools) as gate:
        results = await gate.handle(
            turn(
                call("write_doc", name="a", step=0),
                call("write_doc", name="a", step=1),
                call("read_doc", name="a", step=2),
                call("write_doc", name="b", step=3),
            ),
            "r",
        )
    assert statuses(results) == ["ok"] * 4
    on_a = [(what, step) for what, name, step in log if name == "a"]
    assert on_a == [("begin", 0), ("end", 0), ("begin", 1), ("end", 1), ("read", 2)]
    assert log.index(("begin", "b", 3)) < log.index(("end", "a", 0))


async def test_one_failing_sibling_destroys_no_other_result() -> None:
    """R057: an exception, a cancellation the tool raises by itself, and None, which is a result."""
    tools = cg.Toolset()
    cancelled = anyio.get_cancelled_exc_class()

    @tools.tool(effect=cg.Effect.READ)
    async def one() -> int:
        """One."""
        return 1

    @tools.tool(effect=cg.Effect.READ)
    async def fails() -> int:
        """Fail."""
        raise ValueError

    @tools.tool(effect=cg.Effect.READ)
    async def cancels() -> int:
        """Raise a cancellation nobody asked for."""
        raise cancelled

    @tools.tool(effect=cg.Effect.READ)
    async def nothing() -> None:
        """Nothing."""

    async with cg.open_gate(tools) as gate:
        results = await gate.handle(turn(call("one"), call("fails"), call("cancels"), call("nothing")), "r")
        assert [(r.status, r.content) for r in results] == [
            ("ok", 1),
            ("error", None),
            ("error", None),
            ("ok", None),
        ]
        again = await gate.handle(turn(call("one")), "r")
    assert again[0].content == 1


async def test_a_timeout_releases_the_caller_and_the_late_effect_is_recorded() -> None:
    """R053: a synchronous tool that is too slow is unknown, not failed, and never retried by itself."""
    tools, written, told = cg.Toolset(), [], threading.Event()

    @tools.tool(effect=cg.Effect.WRITE, timeout_seconds=0.1)
    def slow(ctx: cg.Context) -> str:
        """Slow."""
        assert told.wait(20)
        assert ctx.cancelled()
        written.append("done")
        return "done"

    async with cg.open_gate(tools) as gate:
        results = await gate.handle(turn(call("slow")), "r")
        assert (results[0].status, results[0].code, written) == ("unknown", "OUTCOME_UNKNOWN", [])
        told.set()
        with anyio.fail_after(20):
            while (await gate.results("r"))[0].status == "unknown":
                await anyio.sleep(0.01)
        late = await gate.results("r")
    assert (late[0].status, late[0].content, written) == ("ok", "done", ["done"])


async def test_a_read_that_times_out_failed() -> None:
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.READ, timeout_seconds=0.05)
    async def slow() -> None:
        """Slow."""
        await anyio.sleep(5)

    async with cg.open_gate(tools) as gate:
        results = await gate.handle(turn(call("slow"), call("slow")), "r")
    assert [(r.status, r.code) for r in results] == [("error", "TIMED_OUT")] * 2


async def test_synchronous_tools_and_generators_do_not_stop_the_loop_and_overlap() -> None:
    """R055: each waits for all the others, so none could end if two of them shared a thread."""
    tools, together, ticked = cg.Toolset(), threading.Barrier(3), threading.Event()

    @tools.tool(effect=cg.Effect.READ)
    def block() -> int:
        """Block."""
        together.wait(20)
        assert ticked.wait(20)
        return threading.get_ident()

    @tools.tool(effect=cg.Effect.READ)
    def rows() -> Any:
        """Rows."""
        yield 0
        together.wait(20)
        assert ticked.wait(20)
        yield 1

    @tools.tool(effect=cg.Effect.READ)
    async def on_loop() -> int:
        """Loop."""
        for _ in range(10):
            await anyio.sleep(0.001)
        ticked.set()
        return threading.get_ident()

    async with cg.open_gate(tools) as gate:
        results = await gate.handle(turn(call("block"), call("block"), call("rows"), call("on_loop")), "r")
    assert statuses(results) == ["ok"] * 4
    assert results[0].content != results[1].content
    assert results[2].content == [0, 1]
    assert results[3].content == threading.get_ident()


async def test_a_lost_reply_is_unknown_and_nothing_is_sent_twice() -> None:
    """R059."""
    tools, sent = cg.Toolset(), []

    @tools.tool(effect=cg.Effect.IRREVERSIBLE, egress=True)
    def send(to: str) -> None:
        """Send."""
        sent.append(to)
        message = "reset after send"
        raise ConnectionError(message)

    policy = cg.Policy(rules=(cg.Rule(tool="send", decision="allow", reason="test"),))
    async with cg.open_gate(tools, policy=policy) as gate:
        results = await gate.handle(turn(call("send", to="a@example.org")), "r")
    assert (results[0].status, sent) == ("unknown", ["a@example.org"])


async def test_a_new_call_with_equal_arguments_has_another_idempotency_key() -> None:
    """R059: the key is the same in every try of one call, and another for another call."""
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.WRITE, idempotent=True)
    async def pay(order: str, ctx: cg.Context) -> str:
        """Pay."""
        return ctx.idempotency_key

    async with cg.open_gate(tools) as gate:
        first = await gate.handle(turn(call("pay", order="7")), "r")
        second = await gate.handle(turn(call("pay", order="7")), "r")
        other_run = await gate.handle(turn(call("pay", order="7")), "s")
    keys = {results[0].content for results in (first, second, other_run)}
    assert len(keys) == 3
    assert all(key.startswith("cg_") for key in keys)


async def test_internal_details_never_reach_the_model_but_stay_in_the_record() -> None:
    """R038."""
    tools = cg.Toolset()
    store = await open_journal("memory:")

    @tools.tool(effect=cg.Effect.READ)
    def connect() -> None:
        """Connect."""
        message = "connect postgres://u:hunter2@db.internal/prod failed"
        raise RuntimeError(message)

    @tools.tool(effect=cg.Effect.READ)
    def said() -> None:
        """Say."""
        message = "the ledger is closed until Monday"
        raise cg.ToolError(message)

    async with cg.open_gate(tools, journal=store) as gate:
        results = await gate.handle(turn(call("connect"), call("said")), "r")
        details = [record.entry.detail for record in await store.read("r") if hasattr(record.entry, "detail")]
    assert "hunter2" not in repr(results)
    assert (results[0].code, bool(results[0].evidence)) == ("TOOL_FAILED", True)
    assert (results[1].code, results[1].content) == ("TOOL_ERROR", "the ledger is closed until Monday")
    assert any("hunter2" in detail for detail in details)


async def test_a_result_that_is_not_json_leaves_the_call_succeeded() -> None:
    """R039."""
    tools, ran = cg.Toolset(), []

    @tools.tool(effect=cg.Effect.WRITE)
    async def odd(kind: str) -> Any:
        """Odd."""
        ran.append(kind)
        return {"sum": Decimal("0.10"), "x": float("nan")} if kind == "good" else object()

    async with cg.open_gate(tools) as gate:
        results = await gate.handle(turn(call("odd", kind="good"), call("odd", kind="bad")), "r")
    assert [(r.status, r.code, r.content) for r in results] == [
        ("ok", "", {"sum": "0.10", "x": None}),
        ("ok", "RESULT_UNREADABLE", None),
    ]
    assert ran == ["good", "bad"]


async def test_an_oversized_result_is_cut_and_can_be_paged() -> None:
    """R040: a preview with head and tail that says it is cut; the whole value stays behind a handle."""
    tools = cg.Toolset()
    whole = "".join(f"{n:08d}é\n" for n in range(50_000))

    @tools.tool(effect=cg.Effect.READ, result_limit=1000)
    def big(what: str) -> Any:
        """Big."""
        if what == "error":
            raise cg.ToolError("e" * 2_000_000)
        return whole if what == "text" else [{"row": n} for n in range(20_000)]

    async with cg.open_gate(tools) as gate:
        text, rows, error = await gate.handle(
            turn(*(call("big", what=what) for what in ("text", "rows", "error"))), "r"
        )
        assert text.truncated
        assert len(text.content) < 1100
        assert text.content.startswith("00000000é")
        assert text.content.endswith("00049999é\n")
        assert text.next_range is not None
        page = await gate.read(text.handle, text.next_range.start, text.next_range.start + 30)
        assert page.text == whole[text.next_range.start : text.next_range.start + 30]
        assert page.range.total == len(whole)
    assert rows.truncated
    assert isinstance(rows.content, str)
    assert len(error.content) <= 1000


async def test_context_variables_of_the_caller_are_seen_by_both_kinds_of_tool() -> None:
    tools = cg.Toolset()
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")

    @tools.tool(effect=cg.Effect.READ)
    async def on_loop() -> str:
        """Loop."""
        await anyio.lowlevel.checkpoint()
        return who.get()

    @tools.tool(effect=cg.Effect.READ)
    def in_thread() -> str:
        """Thread."""
        return who.get()

    async with cg.open_gate(tools) as gate:
        await gate.handle(turn(call("on_loop")), "r")
        who.set("alice")
        results = await gate.handle(turn(call("on_loop"), call("in_thread")), "r")
    assert [result.content for result in results] == ["alice", "alice"]


async def test_after_an_interrupt_every_call_has_its_result() -> None:
    """R043: c1 finished, c2 was running, c3 had not started."""
    tools, started = cg.Toolset(), anyio.Event()

    @tools.tool(effect=cg.Effect.WRITE, accesses=[cg.writes("doc:{name}")])
    async def edit(name: str, seconds: float) -> str:
        """Edit."""
        if seconds:
            started.set()
        await anyio.sleep(seconds)
        return name

    async with cg.open_gate(tools) as gate:
        async with anyio.create_task_group() as tasks:
            calls = (
                call("edit", name="a", seconds=0),
                call("edit", name="b", seconds=9),
                call("edit", name="b", seconds=0),
            )
            tasks.start_soon(gate.handle, turn(*calls), "r")
            await started.wait()
            tasks.cancel_scope.cancel()
        results = await gate.results("r")
    assert [(r.status, r.code) for r in results] == [
        ("ok", ""),
        ("unknown", "OUTCOME_UNKNOWN"),
        ("not_run", "CANCELLED"),
    ]


async def test_a_budget_is_reserved_before_anything_starts() -> None:
    """R086: one call left, three asked for: exactly one runs, the others are told."""
    tools, ran = cg.Toolset(), []

    @tools.tool(effect=cg.Effect.READ)
    async def look(at: int) -> None:
        """Look."""
        ran.append(at)

    async with cg.open_gate(tools) as gate:
        results = await gate.handle(turn(*(call("look", at=n) for n in range(3))), "r", budget=1)
    assert ran == [0]
    assert [result.code for result in results] == ["", "CALLS_EXHAUSTED", "CALLS_EXHAUSTED"]


async def test_a_turn_delivered_twice_runs_once() -> None:
    tools, ran = cg.Toolset(), []

    @tools.tool(effect=cg.Effect.WRITE)
    async def put(value: int) -> int:
        """Put."""
        ran.append(value)
        return value

    async with cg.open_gate(tools) as gate:
        first = await gate.handle(turn(call("put", value=1), response_id="resp-1"), "r", number=0)
        again = await gate.handle(turn(call("put", value=1), response_id="resp-1"), "r", number=0)
        by_response = await gate.handle(turn(call("put", value=1), response_id="resp-1"), "r")
        another = await gate.handle(turn(call("put", value=1), response_id="resp-2"), "r")
    assert first == again == by_response
    assert another != first
    assert ran == [1, 1]


async def test_ids_that_a_provider_reuses_collide_nowhere() -> None:
    """R044: call id "s:0" in two turns."""
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.READ)
    async def search(query: str) -> str:
        """Search."""
        return query

    async with cg.open_gate(tools) as gate:
        first = await gate.handle(turn(call("search", "s:0", query="A")), "r")
        second = await gate.handle(turn(call("search", "s:0", query="B")), "r")
    assert [first[0].content, second[0].content] == ["A", "B"]
    assert first[0].key != second[0].key


async def test_a_nested_call_runs_and_one_that_waits_for_its_caller_is_refused_at_once() -> None:
    """R062: slots are lent, self-conflicts are an immediate typed error."""
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.READ, accesses=[cg.reads("doc:inner")])
    async def inner(value: int) -> int:
        """Inner."""
        return value * 2

    @tools.tool(effect=cg.Effect.WRITE, accesses=[cg.writes("doc:outer")])
    async def outer(value: int, ctx: cg.Context) -> Any:
        """Outer."""
        inside = await ctx.call("inner", {"value": value})
        try:
            await ctx.call("outer", {"value": 0})
        except cg.CallgateError as refused:
            return [inside.content, refused.code]
        return "not refused"

    async with cg.open_gate(tools, options=cg.GateOptions(concurrency=2)) as gate:
        with anyio.fail_after(20):
            results = await gate.handle(turn(call("outer", value=1), call("outer", value=2)), "r")
    assert [result.content for result in results] == [[2, "NESTED_CALL"], [4, "NESTED_CALL"]]


async def test_after_a_failed_irreversible_call_the_later_ones_of_the_batch_do_not_run() -> None:
    tools, ran = cg.Toolset(), []

    @tools.tool(effect=cg.Effect.IRREVERSIBLE, accesses=[cg.writes("mail:{to}")])
    async def send_mail(to: str) -> None:
        """Send."""
        ran.append(to)
        if to == "b":
            message = "no such address"
            raise cg.ToolError(message)

    policy = cg.Policy(rules=(cg.Rule(tool="send_mail", decision="allow", reason="test"),))
    async with cg.open_gate(tools, policy=policy) as gate:
        results = await gate.handle(turn(*(call("send_mail", to=to) for to in "abc")), "r")
    assert ran == ["a", "b"]
    assert [(r.status, r.code) for r in results] == [
        ("ok", ""),
        ("error", "TOOL_ERROR"),
        ("not_run", "EARLIER_STOPPED"),
    ]
