"""A turn finds its number, its attempt, and itself when it comes again."""

import pytest

import callgate as cg
from callgate.calls import AttemptKind, TurnAsked
from tests.gate.turns import call, turn

pytestmark = pytest.mark.anyio


def asked(number: int, attempt: int) -> TurnAsked:
    return TurnAsked("r", number, attempt, AttemptKind.FIRST, "m", "d", 1.0)


async def test_turns_count_up_and_a_turn_that_was_asked_for_keeps_its_number() -> None:
    async with cg.open_gate(cg.Toolset()) as gate:
        await gate.handle(turn(call("nope")), "r")
        await gate.handle(turn(call("nope")), "r")
        await gate.asked(asked(2, 0))
        await gate.handle(turn(call("nope")), "r")
        await gate.asked(asked(3, 0))
        await gate.handle(turn(finish="cut", executable=False, why_not="TURN_CUT"), "r")
        await gate.asked(asked(3, 1))
        await gate.handle(turn(call("nope")), "r")
        seen = await gate.view("r")
    assert [(known.number, known.attempt) for known in seen.turns] == [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1)]


async def test_an_equal_turn_without_an_id_of_its_response_is_another_turn() -> None:
    async with cg.open_gate(cg.Toolset()) as gate:
        first = await gate.handle(turn(call("nope", "c1")), "r")
        second = await gate.handle(turn(call("nope", "c1")), "r")
    assert first[0].key.turn == 0
    assert second[0].key.turn == 1
