"""What callgate and the system raise becomes one line; JSON is JSON whatever the values are."""

import json

import pytest
import typer

from callgate.calls import CallKey, FrozenDict, Status
from callgate.cli._screen import COLOURS, plainly, print_json
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
