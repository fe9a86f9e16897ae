"""The board shows what the record says: state, layer of a refusal, time."""

import pytest

import callgate as cg
from callgate.cli._board import Board, short
from callgate.cli._screen import screen
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
    assert [(row.state, row.why) for row in board.rows.values()] == [("not_run", "TURN_CUT")]
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
