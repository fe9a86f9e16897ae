"""What is found in a record that was tampered with. The rows are changed as a person with the file could."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from callgate.journal import Fault, encode_entry, follow
from callgate.journal._chain import genesis
from callgate.journal._verify import EDITED, MISSING, MOVED, UNREADABLE, Row, first_fault
from tests.journal.stores import asked, started

COUNT = 6


def rows(run: str = "r", count: int = COUNT) -> list[Row]:
    made: list[Row] = []
    head = genesis(run)
    for sequence, entry in enumerate(started(run, *range(count))):
        line = encode_entry(entry)
        head = follow(head, line)
        made.append((sequence, line, head, None))
    return made


def fault(changed: list[Row], count: int = COUNT, last: bytes | None = None) -> Fault | None:
    return first_fault("r", lambda: iter(changed), count, rows()[-1][2] if last is None else last)


def edit(sequence: int, line: bytes, digest: bytes, question: int | None) -> Row:
    return sequence, line.replace(b'"cg_', b'"cg-'), digest, question


def test_a_record_as_it_was_written_has_no_fault() -> None:
    assert fault(rows()) is None
    assert first_fault("r", list, 0, genesis("r")) is None


@given(st.integers(0, COUNT - 1))
def test_an_edited_entry_is_named(place: int) -> None:
    changed = rows()
    changed[place] = edit(*changed[place])
    found = fault(changed)
    assert found is not None
    assert (found.sequence, found.code) == (place, EDITED)


@given(st.integers(0, COUNT - 2))
def test_an_entry_edited_with_its_digest_shows_in_the_next(place: int) -> None:
    changed = rows()
    sequence, line, *_ = edit(*changed[place])
    before = changed[place - 1][2] if place else genesis("r")
    changed[place] = (sequence, line, follow(before, line), None)
    found = fault(changed)
    assert found is not None
    assert (found.sequence, found.code) == (place + 1, EDITED)


def test_a_last_entry_edited_with_its_digest_is_not_the_one_that_was_noted() -> None:
    changed = rows()
    sequence, line, *_ = edit(*changed[-1])
    changed[-1] = (sequence, line, follow(changed[-2][2], line), None)
    assert fault(changed) == Fault(
        "r", COUNT - 1, EDITED, "its digest is not the one that was noted as the last"
    )


@given(st.integers(0, COUNT - 1))
def test_a_dropped_entry_is_missed_at_its_place(place: int) -> None:
    changed = rows()
    del changed[place]
    found = fault(changed)
    assert found is not None
    assert (found.sequence, found.code) == (place, MISSING)


@given(st.integers(0, COUNT - 1))
def test_dropping_and_renumbering_shows_the_entry_that_moved_up(place: int) -> None:
    changed = rows()
    del changed[place]
    changed = [(at, *row[1:]) for at, row in enumerate(changed)]
    found = fault(changed, COUNT - 1)
    assert found is not None
    assert (found.sequence, found.code) == (min(place, COUNT - 2), EDITED)


@given(st.permutations(range(COUNT)))
def test_entries_in_another_order_are_found_and_the_first_is_named(order: list[int]) -> None:
    whole = rows()
    changed = [(at, *whole[place][1:]) for at, place in enumerate(order)]
    found = fault(changed)
    if order == sorted(order):
        assert found is None
        return
    wrong = next(at for at, place in enumerate(order) if at != place)
    assert found is not None
    assert (found.sequence, found.code) == (wrong, MOVED)


def test_a_moved_entry_says_where_it_was_written() -> None:
    whole = rows()
    changed = [(at, *whole[place][1:]) for at, place in enumerate([0, 1, 4, 3, 2, 5])]
    assert fault(changed) == Fault("r", 2, MOVED, "it was written right after what is entry 3 here")
    changed = [(at, *whole[place][1:]) for at, place in enumerate([1, 0, 2, 3, 4, 5])]
    assert fault(changed) == Fault("r", 0, MOVED, "it was written right after what is entry 1 here")
    changed = [(at, *whole[place][1:]) for at, place in enumerate([0, 0, 1, 2, 3, 4])]
    assert fault(changed) == Fault("r", 1, MOVED, "it was written as the first entry of the run")


def test_an_entry_of_another_run_does_not_fit() -> None:
    changed = rows()
    changed[2] = rows("s")[2]
    found = fault(changed)
    assert found is not None
    assert (found.sequence, found.code) == (2, EDITED)
    assert first_fault("r", lambda: rows("s"), COUNT, rows("s")[-1][2]) is not None


def test_a_question_that_was_hidden_from_the_search_is_found() -> None:
    changed = rows()
    changed[3] = (*changed[3][:3], 1)
    found = fault(changed)
    assert found is not None
    assert (found.sequence, found.code) == (3, EDITED)
    line = encode_entry(asked("r"))
    head = follow(genesis("r"), line)
    assert first_fault("r", lambda: [(0, line, head, 1)], 1, head) is None
    assert first_fault("r", lambda: [(0, line, head, None)], 1, head) is not None


def test_a_line_that_is_chained_but_no_entry_is_unreadable() -> None:
    line = b'{"v":1,"type":"Started"}'
    head = follow(genesis("r"), line)
    found = first_fault("r", lambda: [(0, line, head, None)], 1, head)
    assert found is not None
    assert (found.sequence, found.code) == (0, UNREADABLE)


def test_a_cut_tail_shows_while_the_count_stands_and_not_when_it_was_changed_too() -> None:
    """The limit that the chain's page names: only a digest kept elsewhere shows this."""
    cut = rows()[:4]
    assert fault(cut) == Fault("r", 4, MISSING, "6 entries were written and 4 are there")
    assert fault(cut, 4, cut[-1][2]) is None
    assert rows()[-1][2] != cut[-1][2]


def test_only_a_fault_is_looked_into_twice() -> None:
    walks = 0

    def counted(changed: list[Row]) -> Callable[[], list[Row]]:
        def give() -> list[Row]:
            nonlocal walks
            walks += 1
            return changed

        return give

    first_fault("r", counted(rows()), COUNT, rows()[-1][2])
    assert walks == 1
