"""What is promised of the order in which the calls of a turn run."""

from callgate.calls import Access, CallKey, Mode
from callgate.schedule import Schedule, Skipped

A, B, C, D, E = (CallKey("r", 0, 0, position) for position in range(5))


def write(resource: str) -> tuple[Access, ...]:
    return (Access(resource, Mode.WRITE),)


def read(resource: str) -> tuple[Access, ...]:
    return (Access(resource, Mode.READ),)


def test_two_edits_of_one_file_run_in_call_order_and_another_file_beside_them() -> None:
    """R052: edit a.txt, edit ./a.txt (one resource once it is canonical), read a.txt, edit b.txt."""
    schedule = Schedule()
    ready = schedule.add_all(
        [
            (A, write("file:/a.txt"), False, False),
            (B, write("file:/a.txt"), False, False),
            (C, read("file:/a.txt"), False, False),
            (D, write("file:/b.txt"), False, False),
        ]
    )
    assert ready == [A, D]
    assert schedule.done(D, True).ready == []
    assert schedule.done(A, True).ready == [B]
    assert schedule.done(B, True).ready == [C]


def test_a_tool_that_says_nothing_of_what_it_touches_runs_alone() -> None:
    """R052: unknown tools count as writes to everything."""
    schedule = Schedule()
    everything = (Access.everything(),)
    assert schedule.add(A, read("file:/a.txt")) == [A]
    assert schedule.add(B, everything) == []
    assert schedule.add(C, read("net:host")) == []
    assert schedule.done(A, True).ready == [B]
    assert schedule.done(B, True).ready == [C]


def test_reads_run_together_even_of_everything() -> None:
    schedule = Schedule()
    everything = (Access.everything(Mode.READ),)
    assert schedule.add_all([(key, everything, False, False) for key in (A, B, C)]) == [A, B, C]


def test_a_write_in_a_folder_waits_for_the_listing_of_the_folder() -> None:
    schedule = Schedule()
    schedule.add(A, read("file:/src"))
    assert schedule.add(B, write("file:/src/a.py")) == []
    assert schedule.add(C, write("file:/srcs/a.py")) == [C]
    assert schedule.done(A, True).ready == [B]


def test_what_depends_on_a_failed_call_is_skipped_with_the_reason() -> None:
    schedule = Schedule()
    schedule.add(A, write("file:/a.txt"))
    schedule.add(B, read("file:/a.txt"))
    schedule.add(C, read("file:/b.txt"))
    assert schedule.done(A, False).skipped == [Skipped(B, "PREDECESSOR_FAILED", A)]
    assert C in schedule


def test_a_failed_sibling_takes_no_other_with_it() -> None:
    """R057: one failing call of a batch leaves the rest alone."""
    schedule = Schedule()
    schedule.add_all([(key, read("*"), False, False) for key in (A, B, C)])
    assert schedule.done(B, False).skipped == []
    assert A in schedule
    assert C in schedule


def test_what_cannot_be_taken_back_runs_one_after_another_and_stops_at_a_failure() -> None:
    schedule = Schedule()
    assert schedule.add_all(
        [
            (A, write("mail:a"), True, False),
            (B, write("mail:b"), True, False),
            (C, write("file:/c"), False, False),
            (D, write("mail:d"), True, False),
        ]
    ) == [A, C]
    assert schedule.done(A, True).ready == [B]
    assert schedule.done(B, False).skipped == [Skipped(D, "EARLIER_STOPPED", B)]
    assert C in schedule


def test_a_call_that_waits_for_a_person_keeps_its_place() -> None:
    """R076: gated and ungated calls in one batch."""
    schedule = Schedule()
    ready = schedule.add_all(
        [
            (A, write("db:t"), True, True),
            (B, read("net:status"), False, False),
            (C, read("db:t"), False, False),
            (D, write("db:u"), True, True),
        ]
    )
    assert ready == [B]
    assert schedule.release(A) == [A]
    assert schedule.done(B, True).ready == []
    # The answer to the last one may come first: it still runs after the others.
    assert schedule.release(D) == []
    assert schedule.done(A, True).ready == [C, D]


def test_a_call_that_was_denied_takes_with_it_what_relied_on_it() -> None:
    """R076: and nothing else; a later gated call is still a question of its own."""
    schedule = Schedule()
    schedule.add_all(
        [
            (A, write("db:t"), True, True),
            (B, read("db:t"), False, False),
            (C, write("db:u"), True, True),
        ]
    )
    assert schedule.withdraw(A).skipped == [Skipped(B, "PREDECESSOR_FAILED", A)]
    assert schedule.release(C) == [C]


def test_a_call_of_a_later_turn_waits_only_for_what_it_touches() -> None:
    schedule = Schedule()
    schedule.add(A, write("file:/a"), held=True)
    later = [CallKey("r", 1, 0, position) for position in range(2)]
    schedule.add(later[0], read("file:/a"))
    assert schedule.add(later[1], read("file:/b")) == [later[1]]


def test_every_write_in_call_order_when_that_is_asked_for() -> None:
    schedule = Schedule("serial")
    ready = schedule.add_all(
        [
            (A, write("file:/a"), False, False),
            (B, read("file:/r"), False, False),
            (C, write("file:/c"), False, False),
            (D, write("file:/d"), False, False),
        ]
    )
    assert ready == [A, B]
    released = schedule.done(A, False)
    # An order alone is no dependence: what fails stops nothing that does not conflict.
    assert (released.ready, released.skipped) == ([C], [])
    assert schedule.done(C, True).ready == [D]
