"""A view shows the run whole: turns, results, what waits, what was used."""

import pytest

import callgate as cg
from callgate.calls import Usage
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
