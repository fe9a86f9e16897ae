"""Names and ids on the wire: within every provider's rule, unique, and the same each time."""

import re

from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import CallKey, Status, ToolCall, ToolResult
from callgate.wire._names import WireIds, wire_name
from tests.strategies import texts

plain_names = st.from_regex(r"[a-zA-Z0-9_-]{1,64}", fullmatch=True)
tool_names = st.one_of(
    texts, plain_names, plain_names.map(wire_name), texts.map(wire_name), texts.map(lambda t: t * 20)
)
call_ids = st.one_of(st.none(), st.sampled_from(["", "c1", "c2", "s:0", "functions.add:0", "x" * 90]))


@given(tool_names)
def test_a_wire_name_is_one_that_every_provider_takes(name: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", wire_name(name))


@given(st.lists(tool_names, unique=True, max_size=20))
def test_two_names_never_become_one(names: list[str]) -> None:
    assert len({wire_name(name) for name in names}) == len(names)


@given(plain_names)
def test_a_plain_name_stays(name: str) -> None:
    assert wire_name(name) == name or re.search(r"-x[0-9a-f]{20}$", name)


def test_a_name_that_imitates_a_mapped_one_is_mapped_itself() -> None:
    taken = wire_name("search the web")
    assert wire_name(taken) != taken


def calls_and_results(ids: list[str | None], turn: int = 0) -> tuple[list[ToolCall], list[ToolResult]]:
    calls = [ToolCall("t", call_id=call_id, key=CallKey(position=place)) for place, call_id in enumerate(ids)]
    results = [
        ToolResult(CallKey("r", turn, 0, place), call.call_id, "t", Status.OK)
        for place, call in enumerate(calls)
    ]
    return calls, results


@given(st.lists(st.lists(call_ids, max_size=5), max_size=4))
def test_ids_of_a_history_are_unique_and_the_same_each_time(turns: list[list[str | None]]) -> None:
    def given_out() -> list[list[str]]:
        ids = WireIds(re.compile(r"[a-zA-Z0-9_-]{1,64}"))
        return [ids.of(*calls_and_results(turn, number)) for number, turn in enumerate(turns)]

    once = given_out()
    flat = [wire_id for turn in once for wire_id in turn]
    assert len(set(flat)) == len(flat)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", wire_id) for wire_id in flat)
    assert given_out() == once


@given(st.lists(st.lists(call_ids, max_size=3), max_size=4), st.lists(call_ids, max_size=3))
def test_a_later_turn_changes_no_earlier_id(turns: list[list[str | None]], more: list[str | None]) -> None:
    before, after = WireIds(re.compile(r"[!-~]{1,40}")), WireIds(re.compile(r"[!-~]{1,40}"))
    first = [before.of(*calls_and_results(turn, number)) for number, turn in enumerate(turns)]
    second = [after.of(*calls_and_results(turn, number)) for number, turn in enumerate([*turns, more])]
    assert second[: len(first)] == first


def test_the_provider_s_own_id_is_kept_where_it_is_new_and_a_derived_one_has_nine_letters() -> None:
    ids = WireIds(re.compile(r"[!-~]{1,40}"))
    first, second, third = ids.of(*calls_and_results(["s:0", "s:0", None]))
    assert first == "s:0"
    assert re.fullmatch(r"[a-z0-9]{9}", second)
    assert re.fullmatch(r"[a-z0-9]{9}", third)


def test_a_derived_id_gives_way_to_a_provider_s_that_is_the_same() -> None:
    ids = WireIds(re.compile(r"[!-~]{1,40}"))
    (derived,) = ids.of(*calls_and_results([None]))
    first, second = WireIds(re.compile(r"[!-~]{1,40}")).of(*calls_and_results([None, derived]))
    assert second == derived
    assert first != derived
