"""Results are made from the record alone, cut in one place, and paged from the whole."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import CallKey, Returned, State, Status
from callgate.gate._machine import CallState
from callgate.gate._results import page, result_of
from tests.gate.turns import call

KEY = CallKey("r", 0, 0, 0)


def succeeded(content: Any, limit: int) -> CallState:
    made = call("look").admitted_as(KEY, "d")
    return CallState(made, State.SUCCEEDED, outcome=Returned(KEY, 1.0, content, limit))


@pytest.mark.parametrize("state", State)
def test_a_call_in_any_state_has_a_result(state: State) -> None:
    result = result_of(CallState(call("look").admitted_as(KEY, "d"), state))
    assert result.status in Status
    assert (result.key, result.name) == (KEY, "look")


@given(st.text(max_size=400), st.integers(1, 100))
def test_what_is_cut_says_so_and_pages_give_the_whole(text: str, limit: int) -> None:
    found = succeeded(text, limit)
    result = result_of(found)
    assert result.truncated == (len(text) > limit)
    if not result.truncated:
        assert result.content == text
        return
    assert result.handle == str(KEY)
    assert str(len(text)) in result.content
    pieces = [page(found, start, start + 37)[0] for start in range(0, len(text), 37)]
    assert "".join(pieces) == text


@given(st.lists(st.integers(), max_size=50), st.integers(20, 100))
def test_a_structure_within_the_limit_stays_a_structure(rows: list[int], limit: int) -> None:
    result = result_of(succeeded(rows, limit))
    assert result.content == rows or (result.truncated and isinstance(result.content, str))


def test_a_page_beyond_the_end_is_empty_and_says_how_much_there_is() -> None:
    text, found = page(succeeded("abc", 0), 10, 20)
    assert (text, found.start, found.end, found.total) == ("", 3, 3, 3)
