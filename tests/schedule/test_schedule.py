"""A schedule against the plainest model of it, and its answers to misuse."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from callgate.calls import Access, CallKey, Mode
from callgate.errors import ConfigurationError, LocalProtocolError
from callgate.schedule import Released, Schedule, Skipped
from tests.schedule.model import Call, Model, clash

RESOURCES = [
    "*",
    "file:/a",
    "file:/a/x",
    "file:/a/y",
    "net:host",
]

access = st.builds(Access, st.sampled_from(RESOURCES), st.sampled_from(Mode))
accesses = st.one_of(st.tuples(access), st.lists(access, max_size=2).map(tuple))
rarely = st.sampled_from([False] * 5 + [True])
calls = st.tuples(accesses, rarely, rarely)


class ScheduleMachine(RuleBasedStateMachine):
    """Random turns of calls, ended, approved, given up in random order; each answer is the model's."""

    @initialize(rows_writes=st.booleans())
    def begin(self, rows_writes: bool) -> None:
        self.schedule = Schedule("serial" if rows_writes else "by-resource")
        self.model = Model(rows_writes)
        self.turn = 0

    def expect(self, released: Released, skipped: dict[CallKey, tuple[str, bool]], because: CallKey) -> None:
        assert released.skipped == [
            Skipped(key, code, because, held) for key, (code, held) in skipped.items()
        ]
        assert released.ready == self.model.start()

    @precondition(lambda self: len(self.model.calls) < 10)
    @rule(turn=st.lists(calls, min_size=1, max_size=5), one_by_one=st.booleans())
    def add(self, turn: list[tuple[tuple[Access, ...], bool, bool]], one_by_one: bool) -> None:
        planned = [(CallKey("r", self.turn, 0, at), *call) for at, call in enumerate(turn)]
        self.turn += 1
        self.model.calls.extend(Call(*plan) for plan in planned)
        if one_by_one:
            ready = [
                ready
                for key, accesses, serial, held in planned
                for ready in self.schedule.add(key, accesses, serial=serial, held=held)
            ]
        else:
            ready = self.schedule.add_all(planned)
        assert ready == self.model.start()

    def running(self) -> list[CallKey]:
        return [call.key for call in self.model.calls if call.running]

    @precondition(lambda self: self.running())
    @rule(data=st.data(), ok=st.sampled_from([True, True, False]), stop=rarely)
    def end(self, data: st.DataObject, ok: bool, stop: bool) -> None:
        key = data.draw(st.sampled_from(self.running()))
        stops = stop or (self.model[key].serial and not ok)
        self.expect(self.schedule.done(key, ok, stop), self.model.end(key, ok=ok, stop=stops), key)

    @precondition(lambda self: any(call.held for call in self.model.calls))
    @rule(data=st.data())
    def approve(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from([call.key for call in self.model.calls if call.held]))
        self.model[key].held = False
        assert self.schedule.release(key) == self.model.start()

    @precondition(lambda self: self.model.calls)
    @rule(data=st.data())
    def give_up(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from([call.key for call in self.model.calls]))
        self.expect(self.schedule.withdraw(key), self.model.end(key, ok=False, stop=False), key)

    @invariant()
    def the_same_calls_are_not_over(self) -> None:
        assert len(self.schedule) == len(self.model.calls)
        assert all(call.key in self.schedule for call in self.model.calls)

    @invariant()
    def no_two_conflicting_calls_run_together(self) -> None:
        running = [call for call in self.model.calls if call.running]
        assert not any(
            clash(one.accesses, other.accesses) for at, one in enumerate(running) for other in running[:at]
        )

    def teardown(self) -> None:
        """Nothing waits for ever: approve and end what can be, and all is over."""
        if not hasattr(self, "model"):
            return
        for call in list(self.model.calls):
            if call.held:
                call.held = False
                assert self.schedule.release(call.key) == self.model.start()
        while self.model.calls:
            (key, *_) = self.running()
            self.expect(self.schedule.done(key, True), self.model.end(key, ok=True, stop=False), key)
        assert len(self.schedule) == 0


TestScheduleAgainstPairs = ScheduleMachine.TestCase
TestScheduleAgainstPairs.settings = settings(stateful_step_count=40)


KEYS = [CallKey("r", 0, 0, at) for at in range(4)]


def write(resource: str) -> tuple[Access, ...]:
    return (Access(resource, Mode.WRITE),)


def read(resource: str) -> tuple[Access, ...]:
    return (Access(resource, Mode.READ),)


def test_a_call_is_not_scheduled_twice() -> None:
    schedule = Schedule()
    schedule.add(KEYS[0], ())
    with pytest.raises(LocalProtocolError, match="scheduled already"):
        schedule.add(KEYS[0], ())
    assert len(schedule) == 1


def test_a_call_that_waits_cannot_be_done() -> None:
    schedule = Schedule()
    schedule.add(KEYS[0], write("file:/a"))
    assert schedule.add(KEYS[1], write("file:/a")) == []
    with pytest.raises(LocalProtocolError, match="could not have started"):
        schedule.done(KEYS[1], True)
    assert schedule.done(KEYS[0], True).ready == [KEYS[1]]


@pytest.mark.parametrize("name", ["done", "withdraw", "release"])
def test_a_call_that_is_over_is_over(name: str) -> None:
    schedule = Schedule()
    schedule.add(KEYS[0], ())
    schedule.done(KEYS[0], True)
    with pytest.raises(LocalProtocolError):
        getattr(schedule, name)(KEYS[0], *([True] if name == "done" else []))


def test_only_a_held_call_is_released_and_only_once() -> None:
    schedule = Schedule()
    assert schedule.add(KEYS[0], (), held=True) == []
    assert schedule.add(KEYS[1], ()) == [KEYS[1]]
    assert schedule.release(KEYS[0]) == [KEYS[0]]
    for key in KEYS[:2]:
        with pytest.raises(LocalProtocolError, match="not held"):
            schedule.release(key)


def test_writes_are_scheduled_in_one_of_two_ways() -> None:
    with pytest.raises(ConfigurationError):
        Schedule("parallel")


def test_a_failure_of_the_past_skips_nothing_new() -> None:
    schedule = Schedule()
    schedule.add(KEYS[0], write("file:/a"), serial=True)
    schedule.add(KEYS[1], (), held=True)
    assert schedule.done(KEYS[0], False) == Released([], [])
    assert schedule.add(KEYS[2], write("file:/a"), serial=True) == [KEYS[2]]


def test_a_skipped_call_leaves_no_order_behind() -> None:
    schedule = Schedule()
    schedule.add(KEYS[0], write("file:/a"))
    schedule.add(KEYS[1], write("net:host"))
    schedule.add(KEYS[2], (*write("file:/a"), *write("net:host"), *write("file:/b")))
    assert schedule.done(KEYS[1], False).skipped == [Skipped(KEYS[2], "PREDECESSOR_FAILED", KEYS[1])]
    # It would have waited for the write of file:/a; what comes after it waits for that itself, where it must.
    assert schedule.add(KEYS[3], read("file:/b")) == [KEYS[3]]
    assert schedule.add(KEYS[1], read("file:/a")) == []


def test_the_first_that_failed_is_named_and_not_the_one_between() -> None:
    schedule = Schedule()
    schedule.add_all([(key, write("file:/a"), False, False) for key in KEYS])
    skipped = schedule.done(KEYS[0], False).skipped
    assert [(one.key, one.because) for one in skipped] == [(key, KEYS[0]) for key in KEYS[1:]]
