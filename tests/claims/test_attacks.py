"""What careless tools, impatient callers and failing disks do to a gate, and that it stands."""

import contextvars
import threading
from collections.abc import AsyncIterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

import callgate as cg
from callgate.calls import CallKey, Entry, Raised, Returned
from callgate.errors import CallgateError, GateClosedError, JournalUnavailableError, LocalProtocolError
from callgate.journal import Decision, Lease, MemoryStore, open_journal
from tests.gate.turns import call, turn

pytestmark = pytest.mark.anyio


@pytest.fixture(
    params=[
        "asyncio",
        pytest.param("trio", marks=pytest.mark.skipif(not find_spec("trio"), reason="no trio")),
    ]
)
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both event loops: nothing of the gate knows which one it is."""
    return str(request.param)


def asking(do: Any = None, **how: Any) -> cg.Toolset:
    """One tool, ``act``, of this function."""
    tools = cg.Toolset()

    async def act(value: int) -> int:
        """Act."""
        return value

    act = do or act
    act.__name__ = "act"
    tools.tool(**{"effect": cg.Effect.READ, **how})(act)
    return tools


async def eventually(gate: cg.Gate, status: str, run: str = "r") -> cg.ToolResult:
    with anyio.fail_after(20):
        while (result := (await gate.results(run))[0]).status != status:
            await anyio.sleep(0.005)
    return result


async def test_turns_handed_over_at_once_are_turns_of_their_own() -> None:
    async with cg.open_gate(asking()) as gate:
        told: list[Any] = []

        async def handle(value: int) -> None:
            (result,) = await gate.handle(turn(call("act", value=value)), "r")
            told.append((result.key.turn, result.content))

        async with anyio.create_task_group() as tasks:
            for value in range(5):
                tasks.start_soon(handle, value)
    turns, values = zip(*told, strict=True)
    assert sorted(turns) == sorted(values) == list(range(5))


async def test_one_turn_handed_over_twice_at_once_runs_once() -> None:
    ran: list[int] = []

    async def act(value: int) -> int:
        """Act."""
        await anyio.sleep(0.01)
        ran.append(value)
        return value

    async with cg.open_gate(asking(act)) as gate, anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(lambda: gate.handle(turn(call("act", value=1)), "r", number=0))
    assert ran == [1]


async def test_each_turn_sees_the_variables_of_its_own_caller() -> None:
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")

    async def act() -> str:
        """Act."""
        await anyio.sleep(0.01)
        return who.get()

    told: dict[str, Any] = {}
    # One slot: the second call of each turn starts when the other caller has come already.
    async with cg.open_gate(asking(act), options=cg.GateOptions(concurrency=1)) as gate:

        async def handle(name: str) -> None:
            who.set(name)
            told[name] = [r.content for r in await gate.handle(turn(call("act"), call("act")), "r")]

        async with anyio.create_task_group() as tasks:
            for name in ("ann", "bob"):
                tasks.start_soon(handle, name)
    assert told == {"ann": ["ann"] * 2, "bob": ["bob"] * 2}


async def test_an_asynchronous_generator_runs_and_its_rows_are_the_result() -> None:
    async def act() -> AsyncIterator[int]:
        """Act."""
        for row in range(3):
            await anyio.lowlevel.checkpoint()
            yield row

    async with cg.open_gate(asking(act, effect=cg.Effect.WRITE)) as gate:
        (result,) = await gate.handle(turn(call("act")), "r")
    assert (result.status, result.content) == ("ok", [0, 1, 2])


class Unreadable(cg.ToolError):
    """An exception that never called its parent."""

    def __init__(self) -> None:
        pass

    def __str__(self) -> str:
        raise ValueError


def circle() -> Exception:
    problem = ValueError("round")
    problem.__cause__ = KeyError("and round")
    problem.__cause__.__cause__ = problem
    return problem


@pytest.mark.parametrize("store", ["memory:", "sqlite"])
@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_no_exception_of_a_tool_ends_more_than_its_call(store: str, kind: str, tmp_path: Path) -> None:
    made: dict[str, BaseException] = {
        "number": cg.ToolError(5),  # type: ignore[arg-type]
        "surrogate": cg.ToolError("\udcff", tool_code=["x"], facts={1: object()}),  # type: ignore[arg-type]
        "unreadable": Unreadable(),
        "circle": circle(),
        "plain": ValueError("\ud800"),
        "long": ValueError("x" * 3_000_000),
        "exit": SystemExit(3),
        "generator": GeneratorExit(),
        "stop": StopIteration(4),
        "interrupt": KeyboardInterrupt(),
        "group": BaseExceptionGroup("many", [SystemExit(1), ValueError("two")]),
    }

    async def on_loop(what: str) -> None:
        """Act."""
        raise made[what]

    def in_thread(what: str) -> None:
        """Act."""
        raise made[what]

    journal = store if store == "memory:" else f"sqlite:{tmp_path / 'j.db'}"
    async with cg.open_gate(asking(on_loop if kind == "async" else in_thread), journal=journal) as gate:
        for what in made:
            (result,) = await gate.handle(turn(call("act", what=what)), "r")
            assert result.status == "error", what
    if store == "sqlite":
        read = await open_journal(journal)
        told = [record.entry for record in await read.read("r") if isinstance(record.entry, Raised)]
        await read.close()
        assert len(told) == len(made)
        assert max(len(entry.detail) for entry in told) < 100_000


async def test_what_stands_beside_a_result_is_recorded_as_text_whatever_it_was(tmp_path: Path) -> None:
    async def act() -> Any:
        """Act."""
        return cg.Result("x", resource=tmp_path, version=7, next_range="2-3")  # type: ignore[arg-type]

    path = f"sqlite:{tmp_path / 'j.db'}"
    async with cg.open_gate(asking(act, effect=cg.Effect.WRITE), journal=path) as gate:
        await gate.handle(turn(call("act")), "r")
    async with cg.open_gate(cg.Toolset(), journal=path) as gate:
        (result,) = await gate.results("r")
    assert (result.status, result.resource, result.version) == ("ok", str(tmp_path), "7")


async def test_a_connection_lost_inside_a_group_or_as_a_cause_is_lost() -> None:
    """R059."""

    async def act(how: str) -> None:
        """Act."""
        if how == "group":
            raise ExceptionGroup("tasks", [ValueError(), ExceptionGroup("more", [ConnectionResetError()])])
        raise RuntimeError(how) from TimeoutError()

    async with cg.open_gate(asking(act, effect=cg.Effect.WRITE, accesses=[cg.writes("doc:{how}")])) as gate:
        results = await gate.handle(turn(call("act", how="group"), call("act", how="cause")), "r")
    assert [result.status for result in results] == ["unknown", "unknown"]


async def test_a_thread_given_up_before_its_function_began_never_calls_it() -> None:
    """Failed means that it did not happen, and so it must not."""
    looking, go_on, ran = threading.Event(), threading.Event(), []

    class World:
        def locate(self, text: str, mode: Any) -> Any:
            if threading.current_thread() is not threading.main_thread() and looking.is_set():
                go_on.wait(5)
            looking.set()
            return cg.tools.Located(text, text, f"file:/{text}")

        def version(self, resource: str) -> None:
            return None

    def act(path: cg.WorkspacePath) -> None:
        """Act."""
        ran.append(path)

    tools = asking(act, effect=cg.Effect.WRITE, timeout_seconds=0.05)
    async with cg.open_gate(tools, workspace=World()) as gate:
        (result,) = await gate.handle(turn(call("act", path="a")), "r")
        go_on.set()
        await anyio.sleep(0.1)
    assert (result.status, result.code, ran) == ("error", "TIMED_OUT", [])


async def test_a_slot_of_a_thread_that_never_began_is_given_back() -> None:
    def act(value: int) -> int:
        """Act."""
        return value

    async with cg.open_gate(asking(act), options=cg.GateOptions(threads=1)) as gate:
        for turns in range(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(gate.handle, turn(*(call("act", value=n) for n in range(3))), "r")
                for _ in range(turns % 8):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
        with anyio.fail_after(20):
            (result,) = await gate.handle(turn(call("act", value=1)), "r")
        assert result.status == "ok"
        assert gate._host.executor._slots.borrowed_tokens == 0


async def test_a_late_promise_is_no_late_success() -> None:
    """A given-up function that only returned an awaitable did nothing yet."""
    release, did = threading.Event(), []

    async def later() -> None:
        did.append(1)

    def act() -> Any:
        """Act."""
        release.wait(5)
        return later()

    async with cg.open_gate(asking(act, effect=cg.Effect.WRITE, timeout_seconds=0.05)) as gate:
        await gate.handle(turn(call("act")), "r")
        release.set()
        await anyio.sleep(0.1)
        (result,) = await gate.results("r")
    assert (result.status, did) == ("unknown", [])


async def test_what_comes_late_is_recorded_though_its_run_was_let_go_of() -> None:
    """R053."""
    release, store = threading.Event(), MemoryStore()

    def act() -> str:
        """Act."""
        release.wait(5)
        return "done"

    async with cg.open_gate(asking(act, effect=cg.Effect.WRITE, timeout_seconds=0.05), journal=store) as gate:
        await gate.handle(turn(call("act")), "r")
        await gate.finish("r", "answered")
        release.set()
        with anyio.fail_after(20):
            while not any(isinstance(r.entry, Returned) for r in await store.read("r")):
                await anyio.sleep(0.01)
            while (await store.runs())[0].holder:
                await anyio.sleep(0.01)
        assert (await gate.results("r"))[0].content == "done"


async def test_looking_at_a_run_that_is_not_there_makes_none_and_keeps_no_lease() -> None:
    store = MemoryStore()
    options = cg.GateOptions(poll_seconds=0.01)
    async with cg.open_gate(asking(), journal=store, options=options) as gate:
        assert await gate.results("nobody") == []
        assert (await gate.view("nobody")).turns == ()
        assert not await gate.decide(CallKey("nobody"), approved=True, by="ann")
        await gate.cancel("nobody", "ann")
        assert await store.read("nobody") == []
        with anyio.fail_after(20):
            while "nobody" in gate._host.sessions:
                await anyio.sleep(0.01)
        await store.acquire("nobody", "another", 10, 0.0)


@pytest.mark.parametrize("run", ["", "\ud800", "a\udfff"])
async def test_a_run_needs_a_name_that_can_be_written(run: str) -> None:
    async with cg.open_gate(asking()) as gate:
        with pytest.raises(LocalProtocolError):
            await gate.handle(turn(call("act", value=1)), run)


@pytest.mark.parametrize("run", ["a/b", "a~0.0.0", "…/0.0.0", "x\ny", "a/0.0.0", " "])
async def test_any_other_name_will_do(run: str, tmp_path: Path) -> None:
    tools = asking(lambda: None)
    tools = asking(result_limit=10)
    async with cg.open_gate(tools, journal=f"sqlite:{tmp_path / 'j.db'}") as gate:
        (result,) = await gate.handle(turn(call("act", value=10**30)), run)
        assert CallKey.parse(str(result.key)) == result.key
        assert (await gate.view(run)).run == run


class Failing(MemoryStore):
    """A store whose appends fail while it is told so."""

    fails = False

    async def append(self, lease: Lease, entries: Sequence[Entry]) -> None:
        await anyio.sleep(0.01)
        if self.fails and lease.run == "a":
            message = "disk full"
            raise JournalUnavailableError(message)
        await super().append(lease, entries)


async def test_room_that_a_failing_run_had_taken_goes_to_the_others() -> None:
    store, done = Failing(), []
    async with cg.open_gate(asking(), journal=store, options=cg.GateOptions(concurrency=2)) as gate:

        async def handle(run: str) -> None:
            try:
                await gate.handle(turn(*(call("act", value=n) for n in range(5))), run)
            except JournalUnavailableError:
                assert run == "a"
            done.append(run)

        store.fails = True
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for run in "abcd":
                    tasks.start_soon(handle, run)
    assert sorted(done) == list("abcd")


async def test_a_run_that_broke_stops_what_still_runs_of_it() -> None:
    """Its next holder must not meet the old tries."""
    store, stopped = Failing(), []

    async def act(value: int) -> int:
        """Act."""
        try:
            await anyio.sleep(0.05 if value else 30)
        except anyio.get_cancelled_exc_class():
            stopped.append(value)
            raise
        return value

    async with cg.open_gate(asking(act), journal=store) as gate, anyio.create_task_group() as tasks:

        async def handle() -> None:
            with pytest.raises(JournalUnavailableError):
                await gate.handle(turn(call("act", value=0), call("act", value=1)), "a")

        tasks.start_soon(handle)
        await anyio.sleep(0.03)
        store.fails = True
    assert stopped == [0]


async def test_closing_keeps_what_waits_for_a_person_though_something_else_runs(tmp_path: Path) -> None:
    """R077."""
    tools = asking(effect=cg.Effect.IRREVERSIBLE, accesses=[cg.writes("thing:{value}")])

    @tools.tool(effect=cg.Effect.READ, accesses=[cg.reads("other:all")])
    async def slow() -> None:
        """Slow."""
        await anyio.sleep(30)

    path = f"sqlite:{tmp_path / 'j.db'}"
    async with anyio.create_task_group() as tasks, cg.open_gate(tools, journal=path) as gate:
        tasks.start_soon(gate.handle, turn(call("act", value=1), call("slow")), "r")
        with anyio.fail_after(20):
            while not gate._host.executor.running:
                await anyio.sleep(0.005)
    async with cg.open_gate(tools, journal=path) as gate:
        assert [result.status for result in await gate.results("r")] == ["pending", "error"]
        (waiting,) = await gate.pending("r")
        await gate.decide(waiting.key, approved=True, by="ann")
        assert (await eventually(gate, "ok")).content == 1


async def test_a_caller_left_over_when_the_gate_closed_is_told_and_does_not_hang() -> None:
    class Slow(MemoryStore):
        async def append(self, lease: Lease, entries: Sequence[Entry]) -> None:
            await anyio.sleep(0.2)
            await super().append(lease, entries)

    told: list[str] = []

    async def handle(gate: cg.Gate) -> None:
        for _ in range(3):
            try:
                await gate.handle(turn(call("act", value=1)), "r")
                told.append("done")
            except CallgateError as problem:
                told.append(problem.code)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            options = cg.GateOptions(close_seconds=0.05)
            async with cg.open_gate(asking(), journal=Slow(), options=options) as gate:
                tasks.start_soon(handle, gate)
                await anyio.sleep(0.1)
    assert told[-1] == GateClosedError.code


async def test_a_yes_that_was_given_after_the_question_expired_is_none() -> None:
    ran: list[int] = []

    async def act(value: int) -> None:
        """Act."""
        ran.append(value)

    now = [1000.0]
    options = cg.GateOptions(clock=lambda: now[0], approval_seconds=60, poll_seconds=100, lease_seconds=1e9)
    store = MemoryStore()
    async with cg.open_gate(
        asking(act, effect=cg.Effect.IRREVERSIBLE), journal=store, options=options
    ) as gate:
        await gate.handle(turn(call("act", value=1)), "r")
        (waiting,) = await gate.pending("r")
        now[0] += 61
        await store.post(Decision(waiting.key, waiting.digest, approved=True, by="ann", reason="", at=now[0]))
        (result,) = await gate.results("r")
    assert (result.status, result.code, ran) == ("refused", "APPROVAL_EXPIRED", [])


async def test_who_waits_for_a_person_also_waits_for_what_was_allowed() -> None:
    async def act(value: int) -> int:
        """Act."""
        await anyio.sleep(0.3)
        return value

    options = cg.GateOptions(poll_seconds=0.01)
    tools = asking(act, effect=cg.Effect.IRREVERSIBLE)
    async with cg.open_gate(tools, options=options) as gate, anyio.create_task_group() as tasks:

        async def allow() -> None:
            while not (asked := await gate.pending("r")):
                await anyio.sleep(0.005)
            await gate.decide(asked[0].key, approved=True, by="ann")

        tasks.start_soon(allow)
        (result,) = await gate.handle(turn(call("act", value=1)), "r", wait_for_approvals=0.15)
    assert (result.status, result.content) == ("ok", 1)


async def test_two_people_who_answer_at_once_are_one_answer() -> None:
    ran: list[int] = []

    async def act(value: int) -> None:
        """Act."""
        ran.append(value)

    async with cg.open_gate(asking(act, effect=cg.Effect.IRREVERSIBLE)) as gate:
        await gate.handle(turn(call("act", value=1)), "r")
        (waiting,) = await gate.pending("r")
        taken: list[bool] = []

        async def answer() -> None:
            taken.append(await gate.decide(waiting.key, approved=True, by="ann"))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(answer)
        await gate.resume("r")
    assert sorted(taken) == [False, False, True]
    assert ran == [1]


async def test_nested_calls_made_at_once_all_run_and_their_run_is_let_go_of() -> None:
    tools = asking(accesses=[cg.reads("page:{value}")])

    @tools.tool(effect=cg.Effect.WRITE, accesses=[cg.writes("doc:outer")])
    async def outer(ctx: cg.Context) -> list[Any]:
        """Outer."""
        found: list[Any] = []

        async def one(value: int) -> None:
            found.append((await ctx.call("act", {"value": value})).content)

        async with anyio.create_task_group() as tasks:
            for value in range(4):
                tasks.start_soon(one, value)
        return sorted(found)

    options = cg.GateOptions(concurrency=1, poll_seconds=0.01)
    async with cg.open_gate(tools, options=options) as gate:
        with anyio.fail_after(20):
            (result,) = await gate.handle(turn(call("outer")), "r")
            while len(gate._host.sessions) > 1:
                await anyio.sleep(0.01)
    assert result.content == [0, 1, 2, 3]


async def test_a_large_result_is_cut() -> None:
    def act() -> str:
        """Act."""
        return "x" * 100_000_000

    async with cg.open_gate(asking(act, result_limit=1000)) as gate:
        (result,) = await gate.handle(turn(call("act")), "r")
    assert (result.status, result.truncated) == ("ok", True)


async def test_a_synchronous_tools_result_becomes_json_in_its_own_thread() -> None:
    """Many rows take long, and the loop must go on."""
    seen: list[int] = []

    class Row(dict[str, int]):
        def items(self) -> Any:
            seen.append(threading.get_ident())
            return super().items()

    def act() -> Any:
        """Act."""
        seen.append(threading.get_ident())
        return [Row(value=n) for n in range(3)]

    async with cg.open_gate(asking(act)) as gate:
        (result,) = await gate.handle(turn(call("act")), "r")
    assert result.content == [{"value": n} for n in range(3)]
    assert len(seen) == 4
    assert len(set(seen)) == 1
    assert seen[0] != threading.get_ident()


@pytest.mark.parametrize("how", ["finally", "except", "says so"])
async def test_what_an_interruption_makes_a_tool_raise_is_no_evidence_that_nothing_happened(how: str) -> None:
    """A timed-out effect is unknown, whatever its clean-up says; only the tool's own word counts."""
    sent = []

    async def act() -> None:
        """Act."""
        sent.append(1)
        try:
            await anyio.sleep(30)
        except BaseException:
            if how == "except":
                raise RuntimeError("the connection is in use") from None
            if how == "says so":
                raise cg.ToolError("taken back") from None
            raise
        finally:
            if how == "finally":
                raise RuntimeError("cannot close")

    tools = asking(act, effect=cg.Effect.WRITE, timeout_seconds=0.05)
    async with cg.open_gate(tools) as gate:
        (first,) = await gate.handle(turn(call("act")), "r")
        await anyio.sleep(0.05)
        (later,) = await gate.results("r")
    assert sent == [1]
    expected = ("error", "TOOL_ERROR") if how == "says so" else ("unknown", "OUTCOME_UNKNOWN")
    assert (later.status, later.code) == expected
    assert first.status in {"unknown", later.status}


async def test_a_lost_connection_is_seen_behind_what_was_raised_in_its_place() -> None:
    async def act() -> None:
        """Act."""
        try:
            raise ConnectionResetError
        except OSError:
            raise RuntimeError("the payment service failed")  # noqa: B904 - the careless case

    async with cg.open_gate(asking(act, effect=cg.Effect.WRITE)) as gate:
        (result,) = await gate.handle(turn(call("act")), "r")
    assert (result.status, result.code) == ("unknown", "OUTCOME_UNKNOWN")


async def test_a_run_taken_up_again_where_it_is_open_asks_what_became_of_its_lost_calls() -> None:
    asked = []

    async def act() -> None:
        """Act."""
        raise ConnectionError

    def reconcile(_ctx: cg.Context, _call: cg.ToolCall) -> Any:
        asked.append(1)
        return cg.tools.Happened("done")

    async with cg.open_gate(asking(act, effect=cg.Effect.WRITE, reconcile=reconcile)) as gate:
        (lost,) = await gate.handle(turn(call("act")), "r")
        await gate.resume("r")
        (found,) = await gate.results("r")
        await gate.resume("r")
    assert (lost.status, found.status, found.content, asked) == ("unknown", "ok", "done", [1])


async def test_a_run_is_ended_only_when_nothing_of_it_runs() -> None:
    begun, go_on, store = anyio.Event(), anyio.Event(), MemoryStore()
    told: list[cg.ToolResult] = []

    async def act() -> str:
        """Act."""
        begun.set()
        await go_on.wait()
        return "done"

    async with cg.open_gate(asking(act), journal=store) as gate:

        async def handle() -> None:
            told.extend(await gate.handle(turn(call("act")), "r"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(handle)
            await begun.wait()
            tasks.start_soon(gate.finish, "r", "answered")
            await anyio.sleep(0.01)
            go_on.set()
    assert [result.content for result in told] == ["done"]
    names = [type(record.entry).__name__ for record in await store.read("r")]
    assert names[-2:] == ["Returned", "RunEnded"]


async def test_a_long_run_keeps_no_context_of_turns_that_are_over() -> None:
    async with cg.open_gate(asking(effect=cg.Effect.IRREVERSIBLE)) as gate:
        for value in range(3):
            await gate.handle(turn(call("act", value=value)), "r")
        variables = gate._host.sessions["r"].variables
        assert len(variables) == 3
        for waiting in await gate.pending("r"):
            await gate.decide(waiting.key, approved=True, by="ann")
        for number, value in enumerate(range(3)):
            await gate.handle(turn(call("act", value=value)), "r", number=number)
        assert variables == {}


async def test_a_run_that_was_only_looked_at_begins_with_its_task() -> None:
    async with cg.open_gate(asking()) as gate:
        await gate.view("r")
        begun = await gate.begin("r", "do it", "be kind")
    assert (begun.task, begun.system) == ("do it", "be kind")


async def test_a_question_is_closed_when_what_its_call_waited_for_came_to_nothing() -> None:
    def act(it: str) -> str:
        """Act."""
        return it

    store = MemoryStore()
    tools = asking(act, effect=cg.Effect.IRREVERSIBLE, accesses=[cg.writes("thing:{it}")])
    async with cg.open_gate(tools, journal=store) as gate:
        await gate.handle(turn(call("act", it="a"), call("act", it="a")), "r")
        first, second = await gate.pending("r")
        assert await gate.decide(first.key, approved=False, by="ann")
        assert await gate.pending("r") == ()
        assert await store.waiting("r") == []
        late = Decision(second.key, second.digest, approved=True, by="bob", reason="", at=1.0)
        assert not await store.post(late)
        live = [(result.status, result.code) for result in await gate.results("r")]
    async with cg.open_gate(tools, journal=store) as gate:
        assert [(result.status, result.code) for result in await gate.results("r")] == live
    assert live == [("refused", "APPROVAL_DENIED"), ("not_run", "PREDECESSOR_FAILED")]


async def test_a_turn_is_counted_from_nought() -> None:
    async with cg.open_gate(asking()) as gate:
        with pytest.raises(LocalProtocolError):
            await gate.handle(turn(call("act", value=1)), "r", number=-1)


async def test_a_world_that_breaks_while_nobody_looks_ends_no_run() -> None:
    broken = [False]

    class World:
        def locate(self, text: str, mode: Any) -> Any:
            if broken[0]:
                raise OSError
            return cg.tools.Located(text, text, f"file:/{text}")

        def version(self, resource: str) -> None:
            return None

    def act(path: cg.WorkspacePath) -> str:
        """Act."""
        return str(path)

    store = MemoryStore()
    tools = asking(act, effect=cg.Effect.IRREVERSIBLE)
    options = cg.GateOptions(poll_seconds=0.01)
    async with cg.open_gate(tools, workspace=World(), journal=store, options=options) as gate:
        await gate.handle(turn(call("act", path="a")), "r")
        (waiting,) = await gate.pending("r")
        broken[0] = True
        await store.post(Decision(waiting.key, waiting.digest, approved=True, by="ann", reason="", at=1.0))
        await anyio.sleep(0.05)
        broken[0] = False
        assert (await eventually(gate, "ok")).content is not None
