"""What a tool may return beside a plain value."""

from callgate.calls import Range
from callgate.tools import CannotTell, DidNotHappen, Happened, Result


def test_a_result_is_not_trusted_unless_it_says_so() -> None:
    assert not Result("text").trusted
    assert Result("text", next_range=Range(1, 2)).next_range == Range(1, 2)


def test_the_three_answers_to_whether_it_happened_are_different() -> None:
    assert len({Happened(), Happened(1), DidNotHappen(), CannotTell()}) == 4
