"""What of a run goes into the next request."""

from hypothesis import given
from hypothesis import strategies as st

from callgate.agent._history import cost, fit
from callgate.calls import CallKey, Finish, Status, ToolCall, ToolResult, Turn, freeze
from callgate.wire import Exchange, Said


def exchange(number: int, calls: int = 1) -> Exchange:
    keys = [CallKey("r", number, 0, place) for place in range(calls)]
    made = tuple(ToolCall("t", freeze({"n": number}), "{}", f"c{key.position}", key) for key in keys)
    results = tuple(ToolResult(key, f"c{key.position}", "t", Status.OK, content="好" * 100) for key in keys)
    return Exchange(Turn(calls=made, finish=Finish.TOOL_CALLS, executable=True), results)


def test_without_a_budget_everything_stays() -> None:
    exchanges = [exchange(n) for n in range(3)]
    assert fit("task", exchanges, [], None) == (Said("user", "task"), *exchanges)


def test_what_is_left_out_is_told() -> None:
    exchanges = [exchange(n) for n in range(3)]
    history = fit("task", exchanges, [5, 5, 5], 10)
    assert history is not None
    assert history[1:] == tuple(exchanges[1:])
    [said] = [item for item in history if isinstance(item, Said)]
    assert said.text.startswith("task\n\n[1 earlier turn")


def test_it_says_so_when_not_even_the_newest_fits() -> None:
    assert fit("task", [exchange(0)], [11], 10) is None
    assert fit("task", [], [], 0) == (Said("user", "task"),)


def test_a_larger_exchange_costs_more() -> None:
    one, two = cost("openai-chat", exchange(0)), cost("openai-chat", exchange(0, calls=2))
    assert 100 < one < two


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(0, 60))
def test_the_newest_that_fit_are_kept_whole_and_no_more(costs: list[int], budget: int) -> None:
    exchanges = [exchange(n) for n in range(len(costs))]
    history = fit("task", exchanges, costs, budget)
    if history is None:
        assert costs[-1] > budget
        return
    kept = len(history) - 1
    assert history[1:] == tuple(exchanges[-kept:])
    assert sum(costs[-kept:]) <= budget
    assert kept == len(costs) or sum(costs[-kept - 1 :]) > budget
