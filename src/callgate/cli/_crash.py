"""The demo's crash: a child is killed between an intent and its outcome, and its run goes on.

The tool books an amount into a file, one line each, and can tell later by the idempotency key in the file
whether a booking happened. The second booking of the batch never returns: the file has its line, the
journal has no outcome.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from callgate.calls import (
    Effect,
    Finish,
    FrozenDict,
    Returned,
    Started,
    ToolCall,
    ToolResult,
    Turn,
    parse_arguments,
)
from callgate.errors import ModelError
from callgate.gate import open_gate
from callgate.journal import Fault, open_journal
from callgate.tools import CannotTell, Context, Happened, Toolset

RUN: Final = "demo-crash"
BOOK: Final = "book.txt"
AMOUNTS: Final = (10, 20, 30)
_STUCK: Final = 20
_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class CrashReport:
    """What stood in the journal when the child was killed, and what became of it."""

    process: int
    killed_after: str
    results: tuple[ToolResult, ...]
    booked: tuple[str, ...]
    faults: tuple[Fault, ...]
    entries: int

    @property
    def ok(self) -> bool:
        """No amount was booked twice, and the journal verifies."""
        return len(set(self.booked)) == len(self.booked) and not self.faults


def booking(folder: Path, *, stuck: bool) -> Toolset:
    """The tool; in the child its second call hangs after it wrote its line."""
    tools = Toolset("booking")
    book = folder / BOOK

    def happened(ctx: Context, call: ToolCall) -> Happened | CannotTell:
        found = book.exists() and ctx.idempotency_key in book.read_text(encoding="utf-8")
        return Happened(f"booked {call.arguments['amount']}") if found else CannotTell()

    @tools.tool(effect=Effect.WRITE, reconcile=happened, timeout_seconds=_SECONDS)
    async def write_booking(amount: int, ctx: Context) -> str:
        """Book an amount.

        Args:
            amount: How much.
        """
        line = f"{amount} {ctx.idempotency_key}\n"
        with book.open("a", encoding="utf-8") as file:
            file.write(line)
        if stuck and amount == _STUCK:
            await anyio.sleep_forever()
        return f"booked {amount}"

    return tools


def batch() -> Turn:
    """Three bookings in one turn."""
    calls = []
    for position, amount in enumerate(AMOUNTS):
        text = f'{{"amount": {amount}}}'
        arguments = parse_arguments(text)
        assert isinstance(arguments, FrozenDict)  # noqa: S101 - the text is ours
        calls.append(ToolCall("write_booking", arguments, text, f"call_{position}"))
    return Turn(calls=tuple(calls), finish=Finish.TOOL_CALLS, executable=True, dialect="callgate")


async def child(folder: Path, journal: Path) -> None:
    """What the child process does until it is killed."""
    async with open_gate(booking(folder, stuck=True), journal=f"sqlite:{journal}") as gate:
        await gate.handle(batch(), RUN)


async def crash_and_resume(folder: Path, journal: Path) -> CrashReport:
    """Start the child, kill it between intent and outcome, go on with its run, and look at what happened."""
    command = [sys.executable, "-m", "callgate", "demo", "--child", str(folder), str(journal)]
    process = _spawn(command)
    try:
        killed_after = await _until_stuck(folder, journal, process)
    finally:
        process.send_signal(signal.SIGKILL)
        await anyio.to_thread.run_sync(process.wait)
    async with open_gate(booking(folder, stuck=False), journal=f"sqlite:{journal}") as gate:
        await gate.resume(RUN)
        results = await gate.results(RUN)
    store = await open_journal(f"sqlite:{journal}")
    faults, records = await store.verify(), await store.read(RUN)
    await store.close()
    booked = tuple(line.split()[0] for line in _booked(folder))
    return CrashReport(process.pid, killed_after, tuple(results), booked, tuple(faults), len(records))


def _spawn(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - our own words


def _booked(folder: Path) -> list[str]:
    book = folder / BOOK
    return book.read_text(encoding="utf-8").splitlines() if book.exists() else []


async def _until_stuck(folder: Path, journal: Path, process: subprocess.Popen[bytes]) -> str:
    """Wait until the journal holds an intent without outcome and the effect is in the file."""
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        if len(_booked(folder)) > 1:
            store = await open_journal(f"sqlite:{journal}")
            entries = [record.entry for record in await store.read(RUN)]
            await store.close()
            started = [entry for entry in entries if isinstance(entry, Started)]
            returned = [entry for entry in entries if isinstance(entry, Returned)]
            if len(started) > len(returned):
                return f"Started of call {started[-1].key}, no outcome"
        await anyio.sleep(0.02)
    raise ModelError("the demo's child process did not come to its second booking", process=process.pid)
