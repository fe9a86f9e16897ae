from itertools import product
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import FINAL, STATUS, TRANSITIONS, Event, State, Status, step
from callgate.errors import IllegalTransitionError

PAIRS: Final = list(product(State, Event))


@pytest.mark.parametrize(("state", "event"), PAIRS, ids=str)
def test_a_pair_is_in_the_table_or_an_error(state: State, event: Event) -> None:
    if (state, event) in TRANSITIONS:
        assert step(state, event) is TRANSITIONS[state, event]
        return
    with pytest.raises(IllegalTransitionError) as caught:
        step(state, event, "r/0.0.1")
    assert caught.value.facts == {"state": state.value, "event": event.value, "key": "r/0.0.1"}


def test_the_table_says_what_the_design_says() -> None:
    following: dict[State, set[State]] = {state: set() for state in State}
    for (state, _), after in TRANSITIONS.items():
        following[state].add(after)
    assert following == {
        State.CREATED: {State.VALIDATED, State.REFUSED, State.CANCELLED},
        State.VALIDATED: {State.AWAITING_APPROVAL, State.RUNNING, State.SKIPPED, State.CANCELLED},
        State.AWAITING_APPROVAL: {State.VALIDATED, State.REFUSED, State.CANCELLED},
        State.RUNNING: {State.SUCCEEDED, State.FAILED, State.UNKNOWN, State.RUNNING},
        State.UNKNOWN: {State.RUNNING, State.SUCCEEDED, State.FAILED},
        State.SUCCEEDED: set(),
        State.FAILED: set(),
        State.REFUSED: set(),
        State.SKIPPED: set(),
        State.CANCELLED: set(),
    }


def test_a_final_state_is_one_that_nothing_leaves() -> None:
    assert {state for state in State if state not in {before for before, _ in TRANSITIONS}} == FINAL


def reached(start: State) -> set[State]:
    """All states that some events lead to from here, itself among them."""
    known, frontier = {start}, [start]
    while frontier:
        state = frontier.pop()
        after = {TRANSITIONS[state, event] for event in Event if (state, event) in TRANSITIONS} - known
        known |= after
        frontier += after
    return known


def test_every_state_is_reached_from_the_first() -> None:
    assert reached(State.CREATED) == set(State)


@pytest.mark.parametrize("state", State)
def test_from_every_state_an_end_is_reached(state: State) -> None:
    assert reached(state) & FINAL


def test_every_event_leads_somewhere() -> None:
    assert {event for _, event in TRANSITIONS} == set(Event)


def test_what_never_started_is_never_called_succeeded_failed_or_unknown() -> None:
    """Only ``started`` leads to the states of a call that may have had an effect."""
    without = {pair: after for pair, after in TRANSITIONS.items() if pair[1] is not Event.STARTED}
    known = {State.CREATED}
    for _ in State:
        known |= {after for (state, _), after in without.items() if state in known}
    assert known.isdisjoint({State.RUNNING, State.SUCCEEDED, State.FAILED, State.UNKNOWN})


def test_what_started_is_never_called_refused_skipped_or_cancelled() -> None:
    assert reached(State.RUNNING).isdisjoint({State.REFUSED, State.SKIPPED, State.CANCELLED})


def test_only_evidence_or_another_try_ends_the_unknown() -> None:
    assert {event for state, event in TRANSITIONS if state is State.UNKNOWN} == {
        Event.RETRIED,
        Event.RETURNED,
        Event.RAISED,
        Event.HAPPENED,
        Event.DID_NOT_HAPPEN,
    }


def test_every_state_has_its_status_and_no_status_is_without_a_state() -> None:
    assert STATUS.keys() == set(State)
    assert set(STATUS.values()) == set(Status)
    assert {state for state in State if STATUS[state] in {Status.PENDING, Status.UNKNOWN}} == set(
        State
    ) - FINAL


@given(st.lists(st.sampled_from(Event), max_size=12))
def test_a_final_state_absorbs_whatever_comes(events: list[Event]) -> None:
    state, ended = State.CREATED, False
    for event in events:
        try:
            state = step(state, event)
        except IllegalTransitionError:
            continue
        assert not ended
        ended = state in FINAL
