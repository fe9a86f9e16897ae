"""Where a run stands."""

from typing import Any

import pytest

from callgate.agent import Limits, Reason
from callgate.agent._course import Course
from callgate.calls import (
    AttemptKind,
    CallKey,
    Finish,
    Status,
    StreamFault,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)


def course(**limits: Any) -> Course:
    return Course("r", "task", "", Limits(**limits))


def turn(finish: Finish = Finish.TOOL_CALLS, calls: int = 0, **told: Any) -> Turn:
    made = tuple(ToolCall("t", call_id=f"c{place}") for place in range(calls))
    usage = Usage(10, 5)
    return Turn(calls=made, finish=finish, usage=usage, digest="d", **{"text": "so", **told})


def results(count: int, status: Status = Status.OK, code: str = "") -> list[ToolResult]:
    return [ToolResult(CallKey("r", 0, 0, n), f"c{n}", "t", status, code, content=n) for n in range(count)]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        (Finish.STOP, Reason.ANSWERED),
        (Finish.REFUSAL, Reason.REFUSED),
        (Finish.FILTERED, Reason.FILTERED),
    ],
)
def test_a_turn_without_calls_ends_the_run(finish: Finish, reason: Reason) -> None:
    run = course()
    assert run.hear(turn(finish), []) is reason
    assert run.outcome(reason).text == "so"
    assert run.exchanges == []


@pytest.mark.parametrize("finish", [Finish.STOP, Finish.LENGTH])
def test_an_answer_that_was_capped_is_not_taken_for_a_whole_one(finish: Finish) -> None:
    assert course().hear(turn(finish, why_not="TURN_CAPPED"), []) is Reason.LENGTH


@pytest.mark.parametrize("finish", [Finish.STOP, Finish.TOOL_CALLS, Finish.LENGTH])
def test_a_turn_with_calls_goes_on(finish: Finish) -> None:
    run = course()
    assert run.hear(turn(finish, calls=2), results(2)) is None
    assert (run.number, run.attempt, len(run.exchanges)) == (1, 0, 1)


@pytest.mark.parametrize("finish", [Finish.REFUSAL, Finish.FILTERED])
def test_a_refusal_ends_the_run_though_calls_came_with_it(finish: Finish) -> None:
    reason = course().hear(turn(finish, calls=1), results(1, Status.NOT_RUN, "TURN_REFUSED"))
    assert reason in {Reason.REFUSED, Reason.FILTERED}


@pytest.mark.parametrize(("finish", "reason"), [(Finish.CUT, Reason.CUT), (Finish.EMPTY, Reason.EMPTY)])
def test_what_broke_off_or_was_empty_is_asked_for_once_more(finish: Finish, reason: Reason) -> None:
    run = course()
    assert run.hear(turn(finish), []) is None
    assert (run.number, run.attempt, run.kind) == (0, 1, AttemptKind.RESENT)
    assert run.hear(turn(finish), []) is reason
    assert run.exchanges == []


def test_a_server_error_is_asked_again_only_if_it_passes() -> None:
    passing = (StreamFault("PROVIDER_ERROR", retryable=True),)
    assert course().hear(turn(Finish.ERROR, faults=passing), []) is None
    assert course().hear(turn(Finish.ERROR), []) is Reason.MODEL_ERROR


def test_a_reply_that_would_break_off_again_is_not_asked_for_again() -> None:
    broken = (StreamFault("CONNECTION_BROKE", "used up", retryable=False),)
    run = course()
    assert run.hear(turn(Finish.CUT, faults=broken), []) is Reason.CUT
    assert run.outcome(Reason.CUT).detail == "used up"


def test_a_reply_nobody_heard_is_asked_for_again_as_often_as_needed() -> None:
    run = course(resends=0)
    for attempt in range(1, 4):
        assert run.hear(Turn(), []) is None
        assert (run.attempt, run.kind) == (attempt, AttemptKind.REGENERATED)


def test_the_calls_of_the_last_turn_are_not_run() -> None:
    run = course(turns=2)
    assert run.budget(None) == 200
    run.hear(turn(calls=1), results(1))
    assert run.budget(None) == 0
    run.hear(turn(calls=1), results(1, Status.REFUSED, "CALLS_EXHAUSTED"))
    assert run.stop() is Reason.MAX_TURNS


def test_calls_are_reserved_before_any_starts() -> None:
    run = course(calls=6)
    run.calls = 5
    assert run.budget(None) == 1
    run.calls = 8
    assert run.budget(None) == 0


def test_calls_used_up_exactly_leave_the_model_its_answer() -> None:
    run = course(calls=1)
    run.calls = 1
    run.hear(turn(calls=1), results(1))
    assert run.stop() is None
    run.hear(turn(calls=1), results(1, Status.REFUSED, "CALLS_EXHAUSTED"))
    assert run.stop() is Reason.MAX_CALLS


def test_tokens_used_up_by_the_reply_itself_stop_its_calls() -> None:
    run = course(tokens=15)
    assert run.budget(Usage(10, 5)) == 0
    run.hear(turn(calls=1), results(1))
    assert run.stop() is Reason.MAX_TOKENS


def test_usage_says_when_a_part_of_it_was_estimated() -> None:
    run = course()
    run.hear(turn(calls=1), results(1))
    assert run.usage == Usage(10, 5)
    run.hear(
        Turn(calls=(ToolCall("t"),), finish=Finish.STOP, usage=Usage(1, 1, estimator="e"), digest="d"),
        results(1),
    )
    assert run.usage == Usage(11, 6, estimator="e")


def test_a_waiting_call_stops_the_run_and_its_decision_lets_it_go_on() -> None:
    run = course()
    run.hear(turn(calls=2), [*results(1), *results(2, Status.PENDING)[1:]])
    assert run.stop() is Reason.PENDING
    again = course()
    again.hear(turn(calls=2), results(2))
    assert again.stop() is None


def test_the_model_is_warned_before_a_run_is_stopped_for_repetition() -> None:
    run = course(repeats=4, repeats_warned=3)
    for _ in range(4):
        assert run.stop() is None
        run.hear(turn(calls=1), results(1))
    assert run.stop() is Reason.REPEATED
    warned = [[finding.code for finding in one.results[0].findings] for one in run.exchanges]
    assert warned == [[], [], ["REPEATED_CALL"], ["REPEATED_CALL"]]


def test_rounds_without_an_admitted_call_stop_the_run() -> None:
    for code, reason in (("WRONG_TYPE", Reason.STUCK_MENDABLE), ("FORBIDDEN", Reason.STUCK_UNMENDABLE)):
        run = course(stuck_rounds=2, stuck_unmendable_rounds=2)
        for number in range(2):
            assert run.stop() is None
            told = results(number + 1, Status.REFUSED, code)
            run.hear(turn(calls=number + 1), told)
        assert run.stop() is reason


def test_time_that_is_up_is_the_reason_even_where_calls_were_cancelled_for_it() -> None:
    run = course()
    run.hear(turn(calls=1), results(1, Status.NOT_RUN, "CANCELLED"))
    run.cancelled = True
    assert run.stop() is Reason.CANCELLED
    assert run.stop(late=True) is Reason.MAX_SECONDS


def test_a_run_taken_up_again_is_forgiven_but_not_refunded() -> None:
    run = course(repeats=2, repeats_warned=1)
    for _ in range(3):
        run.hear(turn(calls=1), results(1))
    assert run.stop() is Reason.REPEATED
    run.reopen()
    assert run.stop() is None
    assert run.usage.total == 45
