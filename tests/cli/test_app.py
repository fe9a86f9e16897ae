"""The commands there are, and that asking for help or a version costs nothing."""

import callgate as package
from tests.cli.talking import callgate, child, finished


def test_the_commands_are_listed() -> None:
    said = callgate("--help")
    assert said.code == 0
    for command in ("demo", "run", "decode", "lint", "model", "journal"):
        assert command in said.out


def test_the_version_is_said() -> None:
    assert callgate("--version").out.strip() == f"callgate {package.__version__}"


def test_what_cannot_be_meant_ends_with_two_and_no_trace() -> None:
    said = finished(child("journal", "frobnicate"))
    assert said.code == 2
    assert "Traceback" not in said.err
