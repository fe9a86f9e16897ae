"""The board shows what the record says: state, layer of a refusal, time."""

from pathlib import Path

import pytest

import callgate as cg
from callgate.cli._board import Board, short
from callgate.cli._screen import screen
from callgate.journal import open_journal
from tests.gate.turns import call, turn

pytestmark = pytest.mark.anyio


async def test_each_call_stands_with_its_state_and_the_layer_that_said_no() -> None:
    tools = cg.Toolset()

    @tools.tool(effect=cg.Effect.READ)
    async def look(value: int) -> int:
        """Look."""
        return value

    @tools.tool(effect=cg.Effect.IRREVERSIBLE)
    async def drop() -> None:
        """Drop."""

    board = Board()
    async with cg.open_gate(tools) as gate:
        gate.subscribe(board.hear)
        await gate.handle(
            turn(call("look", value=1), call("look", value="x"), call("drop"), call("nope")), "r"
        )
        rows = [(row.name, row.state, row.why) for row in board.rows.values()]
        assert rows[0] == ("look", "succeeded", "")
        assert rows[1] == ("look", "refused", "WRONG_TYPE")
        assert rows[2][:2] == ("drop", "awaiting_approval")
        assert rows[3] == ("nope", "refused", "NOT_OFFERED")
        (waiting,) = await gate.pending("r")
        await gate.decide(waiting.key, approved=False, by="ann")
    assert [(row.state, row.why) for row in board.rows.values()][2] == ("refused", "APPROVAL_DENIED")
    assert next(iter(board.rows.values())).seconds is not None


async def test_calls_of_a_turn_that_may_not_run_are_shown_with_its_reason() -> None:
    board = Board()
    async with cg.open_gate(cg.Toolset()) as gate:
        gate.subscribe(board.hear)
        await gate.handle(turn(call("look"), executable=False, finish="cut", why_not="TURN_CUT"), "r")
    assert [(row.state, row.why) for row in board.rows.values()] == [("cancelled", "TURN_CUT")]
    assert board.table().row_count == 1


async def test_what_a_tool_says_of_its_progress_is_shown_until_it_ends() -> None:
    tools, board = cg.Toolset(), Board()
    shown: list[str] = []

    @tools.tool(effect=cg.Effect.READ)
    async def look(ctx: cg.Context) -> None:
        """Look."""
        ctx.progress("half of it")
        shown.extend(row.why for row in board.rows.values())

    async with cg.open_gate(tools) as gate:
        gate.subscribe(board.hear, board.progress)
        await gate.handle(turn(call("look")), "r")
    assert shown == ["half of it"]


async def test_a_call_that_was_skipped_says_so_and_what_it_waited_for() -> None:
    tools, board = cg.Toolset(), Board()

    @tools.tool(effect=cg.Effect.WRITE, idempotent=True)
    async def put(value: int) -> int:
        """Put."""
        if value == 1:
            raise cg.ToolError("full")
        return value

    async with cg.open_gate(tools) as gate:
        gate.subscribe(board.hear)
        await gate.handle(turn(call("put", value=1), call("put", value=2)), "r")
    assert [(row.state, row.layer, row.why) for row in board.rows.values()] == [
        ("failed", "execution", "TOOL_ERROR"),
        ("skipped", "schedule", "PREDECESSOR_FAILED"),
    ]


@pytest.mark.parametrize("is_moved", [False, True])
async def test_what_was_approved_and_refused_all_the_same_is_refused(is_moved: bool, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("x", encoding="utf-8")
    board = Board()
    async with cg.open_gate(cg.workspace_tools(), tmp_path) as gate:
        gate.subscribe(board.hear)
        await gate.handle(turn(call("delete_file", path="sub/a.txt")), "r")
        if is_moved:
            (tmp_path / "sub").rename(tmp_path / "other")
            (tmp_path / "sub").symlink_to("/etc")
        (waiting,) = await gate.pending("r")
        assert [row.state for row in board.rows.values()] == ["awaiting_approval"]
        await gate.decide(waiting.key, approved=True, by="ann")
        await gate.resume("r")
        (result,) = await gate.results("r")
    ((state, layer, why),) = [(row.state, row.layer, row.why) for row in board.rows.values()]
    if is_moved:
        assert (state, layer, why) == ("refused", "authorization", result.code)
    else:
        assert (state, layer, why) == ("succeeded", "", "approved by ann")


async def test_a_run_that_was_cancelled_leaves_nothing_waiting() -> None:
    tools, board = cg.Toolset(), Board()

    @tools.tool(effect=cg.Effect.IRREVERSIBLE)
    async def drop() -> None:
        """Drop."""

    async with cg.open_gate(tools) as gate:
        gate.subscribe(board.hear)
        await gate.handle(turn(call("drop"), call("drop")), "r")
        await gate.cancel("r", "ann")
    assert [(row.state, row.why) for row in board.rows.values()] == [("cancelled", "CANCELLED")] * 2


async def test_calls_that_a_tool_made_stand_below_it() -> None:
    tools, board = cg.Toolset(), Board()

    @tools.tool(effect=cg.Effect.READ)
    async def look(value: int) -> int:
        """Look."""
        return value

    @tools.tool(effect=cg.Effect.READ)
    async def look_twice(ctx: cg.Context) -> None:
        """Look twice."""
        await ctx.call("look", {"value": 1})
        await ctx.call("look", {"value": "x"})

    async with cg.open_gate(tools) as gate:
        gate.subscribe(board.hear)
        await gate.handle(turn(call("look_twice"), call("look", value=2)), "r")
    assert [(str(key), row.name, row.state) for key, row in board.rows.items()] == [
        ("r/0.0.0", "look_twice", "succeeded"),
        ("r/0.0.1", "look", "succeeded"),
        ("r~0.0.0/0.0.0", "look", "succeeded"),
        ("r~0.0.0/1.0.0", "look", "refused"),
    ]
    table = board.table()
    assert list(table.columns[0].cells) == ["0.0", "0.1", "0.0.0~0.0", "0.0.0~1.0"]


async def test_a_run_that_is_resumed_is_shown_whole() -> None:
    tools, boards = cg.Toolset(), (Board(), Board())

    @tools.tool(effect=cg.Effect.IRREVERSIBLE)
    async def drop() -> None:
        """Drop."""

    store = await open_journal("memory:")
    async with cg.open_gate(tools, journal=store) as gate:
        gate.subscribe(boards[0].hear)
        await gate.handle(turn(call("drop"), call("nope")), "r")
    for record in await store.read("r"):
        boards[1].hear(record.entry)
    async with cg.open_gate(tools, journal=store) as gate:
        gate.subscribe(boards[0].hear)
        gate.subscribe(boards[1].hear)
        await gate.resume("r")
        (waiting,) = await gate.pending("r")
        await gate.decide(waiting.key, approved=True, by="ann")
        await gate.resume("r")
    assert boards[0].rows == boards[1].rows
    assert [(row.state, row.why) for row in boards[1].rows.values()] == [
        ("succeeded", "approved by ann"),
        ("refused", "NOT_OFFERED"),
    ]


async def test_a_long_text_is_cut_to_one_line() -> None:
    assert short("a\n b" * 100, 10) == "a ba ba b…"
    assert short("short") == "short"
    assert short("a\u2028b\x85c") == "a\u2028b\x85c"


async def test_nothing_in_a_table_is_markup_or_unseen(capsys: pytest.CaptureFixture[str]) -> None:
    board = Board()
    async with cg.open_gate(cg.Toolset()) as gate:
        gate.subscribe(board.hear)
        await gate.handle(turn(call("x[/red]\x9b", at="[bold]\u202e")), "r")
    screen.print(board.table())
    out = capsys.readouterr().out
    assert "x[/red]\\u009b" in out
    assert "[bold]" in out
    assert out.replace("\n", "").isprintable()
