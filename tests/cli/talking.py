"""Runs the command line as a person would: in a child process, with what it printed and ended with."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from typer.testing import CliRunner

from callgate.cli import app


class Said(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


def callgate(*words: str | Path, given: bytes | None = None) -> Said:
    """Run a command in this process."""
    told = CliRunner().invoke(app, [str(word) for word in words], input=given)
    if told.exception is not None and not isinstance(told.exception, SystemExit):
        raise told.exception
    return Said(told.exit_code, told.stdout, told.stderr)


def child(*words: str | Path, **variables: str) -> subprocess.Popen[str]:
    """Start a command in a process of its own, without a terminal."""
    command = [sys.executable, "-m", "callgate", *(str(word) for word in words)]
    environment = {**os.environ, **variables}
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def finished(process: subprocess.Popen[str], seconds: float = 180) -> Said:
    """Wait for a child; one that does not end is killed, and the test fails."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return Said(process.returncode, out, err)


def at_a_terminal(*words: str | Path, answer: str | None, **variables: str) -> tuple[int, str]:
    """Run a command at a terminal, and type the answer to its question; its exit code and what it showed.

    With None it shows on the terminal and hears nothing from there: its input is empty.
    """
    ours, its = pty.openpty()
    command = [sys.executable, "-m", "callgate", *(str(word) for word in words)]
    environment = {**os.environ, "TERM": "xterm", **variables}
    heard = subprocess.DEVNULL if answer is None else its
    process = subprocess.Popen(command, stdin=heard, stdout=its, stderr=its, env=environment)
    os.close(its)
    seen, until = b"", time.monotonic() + 180
    try:
        while time.monotonic() < until:
            if not select.select([ours], [], [], 0.1)[0]:
                continue
            try:
                seen += os.read(ours, 65536)
            except OSError:  # Linux says so when nobody has the other end open any more
                break
            if answer and b"allow it?" in seen:
                os.write(ours, answer.encode() + b"\n")
                answer = ""
        return process.wait(max(1.0, until - time.monotonic())), seen.decode("utf-8", "replace")
    finally:
        process.kill()
        process.wait()
        os.close(ours)
