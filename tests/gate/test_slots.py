"""A bound on what runs, and a turn for each who waits."""

from callgate.gate._slots import Slots


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


def test_who_waited_longest_is_asked_first() -> None:
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


def test_whoever_asks_is_served_when_nothing_runs() -> None:
    running = [1]
    slots, gone, other = Slots(1, running), Session(), Session()
    assert slots.reserve(gone, 1) == 0
    running.clear()
    assert slots.reserve(other, 1) == 1
