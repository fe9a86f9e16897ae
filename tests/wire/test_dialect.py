"""What every row of the table of dialects promises."""

import pytest

from callgate.calls import StreamEvent
from callgate.wire import DIALECTS
from callgate.wire._assembly import Assembly
from callgate.wire._dialect import as_it_is
from callgate.wire._loose import Loose
from callgate.wire._slot import Terms
from callgate.wire._turn import build


@pytest.mark.parametrize("name", DIALECTS)
def test_a_state_that_saw_nothing_is_a_cut_turn(name: str) -> None:
    assembly = Assembly(Terms(name))
    state = DIALECTS[name].state(assembly)
    out: list[StreamEvent] = []
    state.take_all([], out)
    state.end()
    assert out == []
    assert build(assembly).why_not == "TURN_CUT"


@pytest.mark.parametrize("name", DIALECTS)
def test_a_copy_of_a_state_stands_on_its_own_assembly(name: str) -> None:
    assembly = Assembly(Terms(name))
    other = assembly.copy()
    assert DIALECTS[name].state(assembly).copy(other).assembly is other


@pytest.mark.parametrize("name", DIALECTS)
def test_a_framing_is_one_that_the_decoder_knows(name: str) -> None:
    assert DIALECTS[name].framing in ("sse", "ndjson", "raw")


def test_most_dialects_need_no_mending() -> None:
    loose = Loose({"a": 1}, '{"a":1}')
    assert as_it_is(loose) is loose
