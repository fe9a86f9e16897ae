"""Room for calls is shared fairly, and neither room nor who wants it is ever forgotten."""

from hypothesis import given
from hypothesis import strategies as st

from callgate.gate._slots import Slots


class Run:
    """Wants to start calls; asks when it is kicked, at the next turn."""

    is_nested = False

    def __init__(self, slots: Slots, running: list[object], due: list["Run"]) -> None:
        self.slots, self.running, self.due = slots, running, due
        self.wanted = 0

    def kick(self) -> None:
        if self not in self.due:
            self.due.append(self)

    def pump(self, *, fails: bool) -> None:
        granted = self.slots.reserve(self, self.wanted) if self.wanted else 0
        self.wanted -= granted
        if not fails:
            self.running.extend([self] * granted)
        self.slots.unreserve(granted)
        self.slots.passed(self)


STEP = st.tuples(st.sampled_from(["want", "pump", "fail", "end", "give up"]), st.integers(0, 9))


@given(st.integers(1, 3), st.lists(STEP, max_size=60))
def test_nothing_waits_while_there_is_room(limit: int, steps: list[tuple[str, int]]) -> None:
    running: list[object] = []
    due: list[Run] = []
    slots = Slots(limit, running)
    runs = [Run(slots, running, due) for _ in range(4)]
    for what, number in [*steps, *[("pump", 0), ("end", 0)] * 400]:
        if what == "want":
            runs[number % 4].wanted += 1 + number // 4
            runs[number % 4].kick()
        elif what in {"pump", "fail"} and due:
            due.pop(0).pump(fails=what == "fail")
        elif what == "end" and running:
            running.pop(0)
            slots.feed()
        elif what == "give up":
            runs[number % 4].wanted = 0
        assert len(running) <= limit
        if not due and len(running) < limit:
            assert all(not run.wanted for run in runs)
    assert not any(run.wanted for run in runs)


def test_who_waited_longest_is_asked_first() -> None:
    running: list[object] = []
    due: list[Run] = []
    slots = Slots(1, running)
    greedy, small = Run(slots, running, due), Run(slots, running, due)
    greedy.wanted, small.wanted = 10, 1
    greedy.pump(fails=False)
    small.pump(fails=False)
    order = []
    while running:
        order.append(running.pop())
        slots.feed()
        while due:
            due.pop(0).pump(fails=False)
    assert order.index(small) <= 2
    assert len(order) == 11


class Session:
    def __init__(self, *, is_nested: bool = False) -> None:
        self.is_nested = is_nested
        self.kicked = 0

    def kick(self) -> None:
        self.kicked += 1


def test_no_more_start_than_there_is_room_for() -> None:
    running: list[int] = []
    slots, one = Slots(3, running), Session()
    assert slots.reserve(one, 5) == 3
    assert slots.reserve(one, 2) == 0
    slots.unreserve(3)
    running.extend(range(3))
    assert slots.reserve(one, 2) == 0


def test_who_waited_is_asked_before_who_comes() -> None:
    running = [1, 2]
    slots, first, second = Slots(2, running), Session(), Session()
    assert slots.reserve(first, 1) == slots.reserve(second, 1) == 0
    running.pop()
    slots.feed()
    assert (first.kicked, second.kicked) == (1, 0)
    assert slots.reserve(second, 1) == 0
    assert slots.reserve(first, 1) == 1


def test_a_nested_call_needs_no_room() -> None:
    slots = Slots(1, [1])
    assert slots.reserve(Session(is_nested=True), 4) == 4


def test_who_left_keeps_nobody_waiting() -> None:
    running = [1]
    slots, gone, other = Slots(1, running), Session(), Session()
    assert slots.reserve(gone, 1) == 0
    slots.leave(gone)
    running.clear()
    assert slots.reserve(other, 1) == 1
