"""What callgate and the system raise becomes one line; JSON is JSON whatever the values are."""

import json

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from callgate.calls import CallKey, FrozenDict, Status, ToolCall, freeze
from callgate.cli._screen import COLOURS, plain, plainly, print_json, screen, whole
from callgate.errors import LeaseHeldError, UnknownRunError


def test_every_status_has_its_colour() -> None:
    assert set(COLOURS) == set(Status)


def test_an_error_of_ours_is_told_with_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended, plainly():
        raise LeaseHeldError("another process holds the run", run="r")
    assert ended.value.exit_code == 4
    assert capsys.readouterr().err.startswith("LEASE_HELD: another process holds the run")


def test_an_error_of_the_system_is_told_without_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit), plainly():
        raise PermissionError(13, "Permission denied", "secret.db")
    assert capsys.readouterr().err.strip() == "secret.db: Permission denied"


def test_an_error_that_a_task_group_wrapped_is_told_as_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended, plainly():
        raise ExceptionGroup("tasks", [ExceptionGroup("gate", [UnknownRunError("no such run", run="r")])])
    assert ended.value.exit_code == 4
    assert capsys.readouterr().err.startswith("UNKNOWN_RUN: no such run")


def test_a_bug_keeps_its_trace() -> None:
    with pytest.raises(ZeroDivisionError), plainly():
        raise ZeroDivisionError


def test_json_holds_our_values(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"key": CallKey("r", 1, 0, 2), "arguments": FrozenDict(a="北京"), "status": Status.OK})
    out = capsys.readouterr().out
    assert json.loads(out) == {"key": ["r", 1, 0, 2], "arguments": {"a": "北京"}, "status": "ok"}
    assert "北京" in out


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("a\x1b[2Jb", "a\\u001b[2Jb"),
        ("a\x9b2Kb", "a\\u009b2Kb"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u2066b\u200f", "a\\u2066b\\u200f"),
        ("a\rb\tc\x07\x08", "a\\u000db\\u0009c\\u0007\\u0008"),
        ("a\u00a0\u200b\u2028\x85", "a\\u00a0\\u200b\\u2028\\u0085"),
        ("a\ufe0f\u3164\u2800", "a\\ufe0f\\u3164\\u2800"),
        ("tag \U000e0041", "tag \\udb40\\udc41"),
        ("half \ud800", "half \\ud800"),
        ("北京 né 🙂 [red] :bomb: \\", "北京 né 🙂 [red] :bomb: \\"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_written_out(hostile: str, shown: str) -> None:
    assert plain(hostile) == shown


def test_a_line_ends_only_where_the_place_has_several_lines() -> None:
    assert plain("a\nb") == "a\\u000ab"
    assert plain("a\nb\r\n", lines=True) == "a\nb\\u000d\n"


@given(st.text())
def test_all_that_is_shown_can_be_seen(text: str) -> None:
    assert plain(text).isprintable()


@given(st.text(), st.text())
def test_two_values_are_never_shown_alike(one: str, other: str) -> None:
    shown = [whole(ToolCall("look", FrozenDict(at=text))) for text in (one, other)]
    assert (shown[0] == shown[1]) == (one == other)


def test_a_call_is_shown_by_its_value_and_not_by_how_it_was_written() -> None:
    text = '{"path":"\\u0061.txt",' + " " * 500 + '"n":1}'
    call = ToolCall("look", FrozenDict(path="a.txt", n=1), text)
    assert whole(call) == 'look {"n":1,"path":"a.txt"}'


@given(st.dictionaries(st.text(), st.text() | st.integers(-9, 9)))
def test_the_json_of_a_value_stays_the_json_of_that_value(value: dict[str, object]) -> None:
    shown = whole(ToolCall("look", FrozenDict(freeze(value))))
    assert json.loads(shown.removeprefix("look ")) == value


@pytest.mark.parametrize("text", ["x[/red]", "[bold]x[/bold]", ":bomb:", "x\\\\", "[link=a]b[/link]"])
def test_text_is_no_markup_in_a_line_nor_in_a_table(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(text, title=text, box=None)
    table.add_row(text)
    screen.print(text)
    screen.print(table)
    assert [line.strip() for line in capsys.readouterr().out.splitlines()] == [text] * 4


def test_json_is_safe_to_look_at_too(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": "\x9b2K\u202e\x7f\U000e0041"})
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    assert json.loads(out) == {"text": "\x9b2K\u202e\x7f\U000e0041"}


def test_a_line_about_a_problem_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit), plainly():
        raise UnknownRunError("no such run", run="r\n\x1b[2Jdone")
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert len(err.splitlines()) == 1
