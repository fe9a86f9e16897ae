"""A view shows the run whole: turns, results, what waits, what was used."""

import pytest

import callgate as cg
from callgate.calls import (
    Admitted,
    CallKey,
    Effect,
    Entry,
    Finish,
    LostSight,
    Raised,
    Reconciled,
    Returned,
    Started,
    State,
    TurnHeard,
    Usage,
)
from callgate.errors import JournalCorruptError
from callgate.gate import Replay, replay
from callgate.journal import open_journal
from tests.gate.turns import call, turn

pytestmark = pytest.mark.anyio


async def test_a_view_gives_back_the_turn_that_was_handled() -> None:
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.READ)
    async def look(value: int) -> int:
        """Look."""
        return value

    given = turn(
        call("look", "c1", value=1), call("nope", "c2"), text="so", usage=Usage(10, 5), response_id="x"
    )
    async with cg.open_gate(tools) as gate:
        await gate.begin("r", "the task")
        results = await gate.handle(given, "r")
        await gate.handle(turn(text="done", finish="stop", usage=Usage(20, 1)), "r")
        seen = await gate.view("r")
    first, second = seen.turns
    assert first.turn is not None
    assert second.turn is not None
    assert (first.turn.text, first.turn.executable, first.turn.response_id) == ("so", True, "x")
    assert [made.call_id for made in first.turn.calls] == ["c1", "c2"]
    assert list(first.results) == results
    assert (second.turn.text, second.results) == ("done", ())
    assert (seen.task, seen.ended, seen.admitted) == ("the task", "", 1)
    assert seen.usage == Usage(30, 6)


async def test_a_replay_fed_one_entry_at_a_time_stands_where_the_whole_one_and_the_gate_stand() -> None:
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.WRITE)
    async def put(value: int) -> int:
        """Put."""
        return 1 // value

    @tools.tool(effect=cg.Effect.IRREVERSIBLE)
    async def drop() -> None:
        """Drop."""

    store, one = await open_journal("memory:"), Replay("r")
    async with cg.open_gate(tools, journal=store) as gate:
        gate.subscribe(one.add)
        await gate.handle(turn(call("put", value=0), call("put", value=1), call("drop"), call("nope")), "r")
        await gate.handle(turn(call("drop"), call("put", value=1)), "r")
        (waiting,) = await gate.pending("r")
        await gate.decide(waiting.key, approved=True, by="ann")
        await gate.resume("r")
        assert one.view() == await gate.view("r")
    entries = [record.entry for record in await store.read("r")]
    again = Replay("r")
    for place, entry in enumerate(entries, 1):
        again.add(entry)
        assert again.view() == replay("r", entries[:place])
    assert again.calls == one.calls
    assert [(seen.call.name, seen.state, seen.code, seen.decided_by) for seen in again.calls] == [
        ("put", State.FAILED, "TOOL_FAILED", ""),
        ("put", State.SKIPPED, "PREDECESSOR_FAILED", ""),
        ("drop", State.CANCELLED, "PREDECESSOR_FAILED", ""),  # it waited for a person, who is asked no more
        ("nope", State.REFUSED, "NOT_OFFERED", ""),
        ("drop", State.SUCCEEDED, "", "ann"),
        ("put", State.SUCCEEDED, "", ""),
    ]


KEY = CallKey("r", 0, 0, 0)
LOST: tuple[Entry, ...] = (
    TurnHeard("r", 0, 0, 1.0, Finish.TOOL_CALLS, "d", calls=(call("put").admitted_as(KEY, "d"),)),
    Admitted(KEY, 2.0, "d", "d", Effect.WRITE),
    Started(KEY, 3.0, "k"),
    LostSight(KEY, 4.0, "TIMED_OUT"),
)


@pytest.mark.parametrize(
    ("more", "state", "code", "decided_by"),
    [
        ((), State.UNKNOWN, "OUTCOME_UNKNOWN", ""),
        ((Returned(KEY, 5.0, late=True),), State.SUCCEEDED, "", ""),
        ((Raised(KEY, 5.0, "TOOL_FAILED", late=True),), State.FAILED, "TOOL_FAILED", ""),
        ((Started(KEY, 5.0, "k", 1, 2),), State.RUNNING, "", ""),
        ((Reconciled(KEY, 5.0, happened=True, by="put"),), State.SUCCEEDED, "", "put"),
        ((Reconciled(KEY, 5.0, happened=False, by="ann"),), State.FAILED, "DID_NOT_HAPPEN", "ann"),
    ],
)
def test_what_became_of_a_lost_call_is_told_without_the_code_of_before(
    more: tuple[Entry, ...], state: State, code: str, decided_by: str
) -> None:
    fold = Replay("r")
    for entry in (*LOST, *more):
        fold.add(entry)
    (seen,) = fold.calls
    assert (seen.state, seen.code, seen.decided_by) == (state, code, decided_by)
    assert (seen.layer == "execution") == bool(code)


def test_an_entry_about_a_call_that_was_never_heard_is_refused() -> None:
    with pytest.raises(JournalCorruptError):
        Replay("r").add(Started(KEY, 1.0, "k"))
