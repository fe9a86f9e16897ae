"""Whether a loop still gets anywhere."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.agent._progress import Progress, warned
from callgate.calls import CallKey, Finding, Status, ToolCall, ToolResult, freeze

Round = list[tuple[str, dict[str, Any], Any]]


def made(
    name: str, arguments: dict[str, Any], content: Any = None, **told: Any
) -> tuple[ToolCall, ToolResult]:
    call = ToolCall(name, freeze(arguments))
    status = told.pop("status", Status.OK)
    return call, ToolResult(CallKey(), None, name, status, content=content, **told)


def count(progress: Progress, *made: tuple[ToolCall, ToolResult]) -> int:
    return progress.add([call for call, _ in made], [result for _, result in made])


def test_the_same_call_with_the_same_result_is_counted() -> None:
    progress = Progress()
    assert [count(progress, made("ls", {"p": "/x"}, [])) for _ in range(4)] == [1, 2, 3, 4]


def test_keys_in_another_order_are_the_same_call() -> None:
    progress = Progress()
    count(progress, made("ls", {"a": 1, "b": 2}, []))
    assert count(progress, made("ls", {"b": 2, "a": 1}, [])) == 2


def test_a_circle_of_calls_is_counted() -> None:
    progress = Progress()
    circle = [made(name, {}, name) for name in "abcabcabc"]
    assert [count(progress, one) for one in circle] == [1, 1, 1, 2, 3, 4, 5, 6, 7]


def test_a_result_that_changes_is_progress() -> None:
    progress = Progress()
    assert [count(progress, made("read", {}, number)) for number in range(5)] == [1] * 5


def test_one_new_call_beside_old_ones_is_progress() -> None:
    progress = Progress()
    old = made("ls", {}, [])
    assert [count(progress, old, made("read", {"n": n}, n)) for n in range(5)] == [1] * 5


def test_polling_tools_are_not_counted() -> None:
    progress = Progress(polling=frozenset({"wait"}))
    assert [count(progress, made("wait", {}, "running")) for _ in range(9)] == [0] * 9
    assert progress.times == 1


def test_a_counter_in_a_read_that_changes_nothing_weighs_half() -> None:
    progress = Progress(reading=frozenset({"find"}))
    counts = [count(progress, made("find", {"q": "x", "try": n}, [])) for n in range(9)]
    assert counts == [1, 1, 2, 2, 3, 3, 4, 4, 5]


def test_a_counter_in_a_write_is_another_write() -> None:
    progress = Progress(reading=frozenset({"find"}))
    assert [count(progress, made("insert", {"id": n}, "done")) for n in range(9)] == [1] * 9


@pytest.mark.parametrize("field", ["handle", "evidence", "key", "call_id"])
def test_what_names_one_call_alone_does_not_count(field: str) -> None:
    progress = Progress()
    for n in range(3):
        told = CallKey("r", n) if field == "key" else f"id-{n}"
        call, result = made("ls", {}, [])
        changed = {name: getattr(result, name) for name in result.__struct_fields__} | {field: told}
        assert progress.add([call], [ToolResult(**changed)]) == n + 1


def test_rounds_without_an_admitted_call_are_counted_apart() -> None:
    progress = Progress()
    refused = {"status": Status.REFUSED}
    count(progress, made("a", {}, code="MISSING_PARAMETER", **refused))
    count(progress, made("a", {}, code="FORBIDDEN", **refused), made("b", {}, code="NOT_OFFERED", **refused))
    assert (progress.stuck, progress.stuck_unmendable) == (2, 0)
    count(progress, made("a", {}, code="FORBIDDEN", **refused))
    assert (progress.stuck, progress.stuck_unmendable) == (2, 1)
    count(progress, made("a", {}, code="FORBIDDEN", **refused), made("b", {}, "done"))
    assert (progress.stuck, progress.stuck_unmendable) == (0, 0)


def test_a_failed_or_a_waiting_call_was_admitted() -> None:
    for status in (Status.ERROR, Status.UNKNOWN, Status.PENDING):
        progress = Progress(stuck=1)
        count(progress, made("a", {}, status=status))
        assert progress.stuck == 0


def test_a_warning_is_added_and_nothing_taken_away() -> None:
    _, result = made("ls", {}, [], findings=(Finding("RANGE"),))
    [told] = warned([result], 3)
    assert [finding.code for finding in told.findings] == ["RANGE", "REPEATED_CALL"]
    assert (told.status, told.content) == (Status.OK, [])


rounds = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 2)), min_size=1, max_size=30)


@given(rounds)
def test_a_stream_of_calls_that_brings_nothing_new_is_always_noticed(steps: list[tuple[str, int]]) -> None:
    progress = Progress()
    for name, content in steps:
        count(progress, made(name, {}, content))
    for repeat in range(1, 6):
        name, content = steps[repeat % len(steps)]
        assert count(progress, made(name, {}, content)) > repeat


@given(rounds)
def test_the_same_rounds_give_the_same_counts(steps: list[tuple[str, int]]) -> None:
    told = [
        [count(progress, made(name, {"n": content}, content)) for name, content in steps]
        for progress in (Progress(), Progress())
    ]
    assert told[0] == told[1]
