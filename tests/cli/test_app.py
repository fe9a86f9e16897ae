"""The commands there are, and that asking for help or a version costs nothing."""

import os
import signal
import sys
import time
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

import callgate as package
from callgate.cli._exits import Exit
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


def test_ctrl_c_ends_with_130_whatever_waits(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "callgate", "decode", str(pipe)]
    process = Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, text=True)
    # The pipe opens when the command reads from it, and it reads until the pipe is closed.
    with process, pipe.open("wb"):
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == Exit.INTERRUPTED
    assert out == err == ""
