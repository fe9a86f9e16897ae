"""What is promised about calls that wait for a person."""

from pathlib import Path
from typing import Any

import anyio
import pytest

import callgate as cg
from callgate.calls import Decided
from callgate.errors import LeaseHeldError
from callgate.journal import Decision, open_journal
from tests.gate.turns import call, turn

pytestmark = pytest.mark.anyio


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def irreversible(ran: list[str]) -> cg.Toolset:
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.IRREVERSIBLE, accesses=[cg.writes("thing:{it}")])
    async def drop(it: str) -> str:
        """Drop."""
        ran.append(it)
        return f"dropped {it}"

    @tools.tool(effect=cg.Effect.READ, accesses=[cg.reads("state:all")])
    async def diagnose(it: str) -> str:
        """Diagnose."""
        ran.append(it)
        return it

    @tools.tool(effect=cg.Effect.WRITE, accesses=[cg.writes("thing:{it}")])
    async def touch(it: str) -> str:
        """Touch."""
        ran.append(it)
        return it

    return tools


async def test_a_gated_call_waits_and_its_sibling_runs_at_once() -> None:
    """R076: clean yes, drop no with a reason; one result for each, in order."""
    ran: list[str] = []
    async with cg.open_gate(irreversible(ran)) as gate:
        batch = turn(call("drop", it="clean"), call("diagnose", it="diag"), call("drop", it="db"))
        first = await gate.handle(batch, "r")
        assert [(r.status, r.code) for r in first] == [
            ("pending", "APPROVAL_PENDING"),
            ("ok", ""),
            ("pending", "APPROVAL_PENDING"),
        ]
        clean, drop = await gate.pending("r")
        assert await gate.decide(drop.key, approved=False, by="ann", reason="not today")
        assert await gate.decide(clean.key, approved=True, by="ann")
        last = await gate.results("r")
    assert ran == ["diag", "clean"]
    assert [(r.status, r.code, r.content) for r in last] == [
        ("ok", "", "dropped clean"),
        ("ok", "", "diag"),
        ("refused", "APPROVAL_DENIED", "not today"),
    ]


async def test_what_conflicts_with_a_waiting_call_waits_for_it_and_a_no_skips_it() -> None:
    ran: list[str] = []
    async with cg.open_gate(irreversible(ran)) as gate:
        results = await gate.handle(
            turn(call("drop", it="a"), call("touch", it="a"), call("touch", it="b")), "r"
        )
        assert [r.status for r in results] == ["pending", "pending", "ok"]
        (waiting,) = await gate.pending("r")
        await gate.decide(waiting.key, approved=False, by="ann")
        results = await gate.results("r")
    assert ran == ["b"]
    assert [(r.status, r.code) for r in results] == [
        ("refused", "APPROVAL_DENIED"),
        ("not_run", "PREDECESSOR_FAILED"),
        ("ok", ""),
    ]


async def test_a_second_answer_is_told_that_it_is_too_late() -> None:
    """R077."""
    ran: list[str] = []
    async with cg.open_gate(irreversible(ran)) as gate:
        await gate.handle(turn(call("drop", it="a")), "r")
        (waiting,) = await gate.pending("r")
        assert await gate.decide(waiting.key, approved=True, by="ann")
        assert not await gate.decide(waiting.key, approved=True, by="ann")
        await gate.results("r")
    assert ran == ["a"]


async def test_a_decision_about_another_digest_runs_nothing() -> None:
    """R069: what was approved is what runs."""
    ran: list[str] = []
    store = await open_journal("memory:")
    async with cg.open_gate(irreversible(ran), journal=store) as gate:
        await gate.handle(turn(call("drop", it="a")), "r")
        (waiting,) = await gate.pending("r")
        await store.post(Decision(waiting.key, "0" * 64, approved=True, by="mallory", reason="", at=1.0))
        results = await gate.results("r")
        entries = [record.entry for record in await store.read("r")]
    assert ran == []
    assert all(result.status != "ok" for result in results)
    assert not any(isinstance(entry, Decided) and entry.approved for entry in entries)


async def test_arguments_that_say_approved_change_nothing() -> None:
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.IRREVERSIBLE)
    async def drop(approved: bool) -> None:
        """Drop."""

    async with cg.open_gate(tools) as gate:
        assert (await gate.handle(turn(call("drop", approved=True)), "r"))[0].status == "pending"


async def test_where_nobody_can_answer_the_call_is_refused() -> None:
    ran: list[str] = []
    async with cg.open_gate(irreversible(ran), options=cg.GateOptions(can_ask=False)) as gate:
        results = await gate.handle(turn(call("drop", it="a")), "r")
    assert (results[0].status, results[0].code, ran) == ("refused", "NO_APPROVER", [])


async def test_an_approval_that_nobody_gives_expires_visibly() -> None:
    ran: list[str] = []
    clock = Clock()
    options = cg.GateOptions(clock=clock, approval_seconds=60, poll_seconds=0.01, lease_seconds=1e9)
    async with cg.open_gate(irreversible(ran), options=options) as gate:
        assert (await gate.handle(turn(call("drop", it="a")), "r"))[0].status == "pending"
        clock.now += 61
        with anyio.fail_after(20):
            while (await gate.results("r"))[0].status == "pending":
                await anyio.sleep(0.01)
        results = await gate.results("r")
    assert (results[0].status, results[0].code, ran) == ("refused", "APPROVAL_EXPIRED", [])


async def test_an_answer_from_another_process_is_found_while_the_caller_waits(tmp_path: Path) -> None:
    """The decision comes through the store's inbox, as from another terminal."""
    ran: list[str] = []
    path = f"sqlite:{tmp_path / 'j.db'}"
    async with cg.open_gate(irreversible(ran), journal=path) as gate, anyio.create_task_group() as tasks:

        async def answer() -> None:
            other = await open_journal(path)
            while not (asked := await other.waiting("r")):
                await anyio.sleep(0.01)
            await other.post(
                Decision(asked[0].key, asked[0].digest, approved=True, by="ann", reason="", at=1.0)
            )
            await other.close()

        tasks.start_soon(answer)
        results = await gate.handle(turn(call("drop", it="a")), "r", wait_for_approvals=10)
    assert (results[0].status, ran) == ("ok", ["a"])


async def test_a_waiting_call_outlives_its_process_and_is_shown_whole(tmp_path: Path) -> None:
    """R077: request, end, start, list pending, answer yes, answer yes again."""
    ran: list[str] = []
    path = f"sqlite:{tmp_path / 'j.db'}"
    async with cg.open_gate(irreversible(ran), journal=path) as gate:
        await gate.handle(turn(call("drop", it="a")), "r")
    async with cg.open_gate(irreversible(ran), journal=path) as gate:
        view = await gate.resume("r")
        (waiting,) = view.pending
        assert waiting.call.arguments == {"it": "a"}
        assert await gate.decide(waiting.key, approved=True, by="ann")
        results = await gate.results("r")
        assert not await gate.decide(waiting.key, approved=True, by="ann")
    assert (results[0].content, ran) == ("dropped a", ["a"])


async def test_a_definition_that_changed_since_does_not_run_under_the_old_approval(tmp_path: Path) -> None:
    """R071: the approval is bound to the definition the call was made under."""
    ran: list[str] = []
    path = f"sqlite:{tmp_path / 'j.db'}"
    async with cg.open_gate(irreversible(ran), journal=path) as gate:
        await gate.handle(turn(call("drop", it="a")), "r")
    changed = cg.Toolset()

    @changed.tool(effect=cg.Effect.IRREVERSIBLE, accesses=[cg.writes("thing:{it}")])
    async def drop(it: str, force: bool = True) -> str:
        """Drop, always by force."""
        ran.append(it)
        return str(force)

    async with cg.open_gate(changed, journal=path) as gate:
        (waiting,) = (await gate.resume("r")).pending
        await gate.decide(waiting.key, approved=True, by="ann")
        results = await gate.results("r")
    assert (results[0].status, results[0].code, ran) == ("refused", "APPROVAL_MISMATCH", [])


async def test_a_run_has_one_holder() -> None:
    ran: list[Any] = []
    store = await open_journal("memory:")
    async with cg.open_gate(irreversible(ran), journal=store) as gate:
        await gate.handle(turn(call("diagnose", it="a")), "r")
        async with cg.open_gate(irreversible(ran), journal=store) as other:
            with pytest.raises(LeaseHeldError):
                await other.handle(turn(call("diagnose", it="b")), "r")
        await gate.finish("r", "answered")
        async with cg.open_gate(irreversible(ran), journal=store) as other:
            await other.handle(turn(call("diagnose", it="b")), "r")
    assert ran == ["a", "b"]
