"""What the entries of a run say of it as a whole."""

from callgate.calls import (
    AttemptKind,
    CancelRequested,
    Entry,
    Finish,
    Refused,
    RunEnded,
    TurnAsked,
    TurnHeard,
)
from callgate.journal import open_questions
from callgate.journal._folds import ended
from tests.journal.stores import NOW, asked, decided, key


def test_a_question_is_open_until_it_is_answered() -> None:
    entries: list[Entry] = [asked("r", 0), asked("r", 1), decided("r", 0)]
    assert open_questions(entries) == [asked("r", 1)]
    assert open_questions([*entries, asked("r", 0)]) == [asked("r", 1), asked("r", 0)]


def test_a_refused_or_cancelled_call_waits_for_nobody() -> None:
    entries = [asked("r", 0), asked("r", 1), asked("r", 2)]
    assert open_questions([*entries, Refused(key("r", 1), NOW, ())]) == [asked("r", 0), asked("r", 2)]
    assert open_questions([*entries, CancelRequested("r", NOW, key=key("r", 2))]) == entries[:2]
    assert open_questions([*entries, CancelRequested("r", NOW)]) == []


def test_an_answer_to_nothing_closes_nothing() -> None:
    assert open_questions([decided("r", 1), asked("r", 0), decided("r", 1)]) == [asked("r", 0)]


def test_a_run_has_ended_until_it_goes_on_with_a_turn() -> None:
    assert ended([]) == ""
    assert ended([], "done") == "done"
    assert ended([asked("r")], "done") == "done"
    assert ended([RunEnded("r", NOW, "turns"), RunEnded("r", NOW, "done")]) == "done"
    turn = TurnAsked("r", 1, 0, AttemptKind.FIRST, "m", "d", NOW)
    assert ended([RunEnded("r", NOW, "done"), turn], "turns") == ""
    heard = TurnHeard("r", 1, 0, NOW, Finish.STOP, digest="d")
    assert ended([heard], "done") == ""
    # A recovery closes a reply that was never heard: nobody went on.
    assert ended([TurnHeard("r", 1, 0, NOW, Finish.CUT, digest="")], "done") == "done"
