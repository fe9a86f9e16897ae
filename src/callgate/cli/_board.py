"""The board: every call of a run, its state, the layer that said no, and how long it took.

In: entries as they become durable, of a run and of those that its tools made below it. Out: a table.
Promise: a call stands as the gate's own fold over the record says; the board adds times and progress alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from rich.live import Live
from rich.table import Table

from callgate.calls import (
    CallKey,
    Entry,
    LostSight,
    Raised,
    Reconciled,
    Returned,
    Started,
    State,
    TurnHeard,
)
from callgate.gate import CallView, Replay

from ._screen import plain, screen

_WIDTH: Final = 56
_ENDS: Final = Returned | Raised | LostSight | Reconciled


@dataclass(frozen=True, slots=True)
class Row:
    """One call as it is shown; ``seconds`` are None until it ended once."""

    name: str
    arguments: str
    state: str
    layer: str
    why: str
    seconds: float | None


@dataclass(slots=True)
class Watch:
    """What the board keeps of a call: when it was last started, how long that took, how far it says it is."""

    started: float = 0.0
    seconds: float | None = None
    progress: str = ""


@dataclass(slots=True)
class Board:
    """All calls seen so far, in the order they were made."""

    title: str = ""
    runs: dict[str, Replay] = field(default_factory=dict)
    watches: dict[CallKey, Watch] = field(default_factory=dict)
    live: Live | None = None

    def hear(self, entry: Entry) -> None:
        """Take an entry in; a listener for ``gate.subscribe``."""
        key: CallKey | None = getattr(entry, "key", None)
        run = key.run if key else getattr(entry, "run", "")
        self.runs.setdefault(run, Replay(run)).add(entry)
        if isinstance(entry, TurnHeard):
            self.watches |= {call.key: Watch() for call in entry.calls}
        elif isinstance(entry, Started):
            self.watches[entry.key] = Watch(entry.at)
        elif isinstance(entry, _ENDS):
            watch = self.watches[entry.key]
            watch.seconds = entry.at - watch.started
        self.refresh()

    def progress(self, key: CallKey, text: str) -> None:
        """Show what a tool says of its progress."""
        self.watches[key].progress = text
        self.refresh()

    def refresh(self) -> None:
        """Draw the table anew where it is live."""
        if self.live is not None:
            self.live.update(self.table(), refresh=True)

    @property
    def rows(self) -> dict[CallKey, Row]:
        """Every call as it stands now."""
        calls = {call.call.key: call for run in self.runs.values() for call in run.calls}
        return {key: _row(calls[key], watch) for key, watch in self.watches.items()}

    def table(self) -> Table:
        """The table as it stands."""
        table = Table(
            "call", "tool", "arguments", "state", "layer", "why", "ms", title=self.title or None, box=None
        )
        for key, row in self.rows.items():
            cells = (_where(key), row.name, short(row.arguments), row.state, row.layer, row.why)
            taken = "" if row.seconds is None else f"{row.seconds * 1000:.0f}"
            table.add_row(*map(plain, cells), taken)
        return table

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the table while it changes on a terminal, and once at the end elsewhere."""
        # Colour may be forced on a pipe; a cursor to move it still has none.
        if screen.is_terminal and sys.stdout.isatty():
            with Live(self.table(), console=screen, auto_refresh=False) as self.live:
                yield
            self.live = None
        else:
            yield
            if self.rows:
                screen.print(self.table())

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Take the table off the terminal while a question is asked there."""
        live, self.live = self.live, None
        if live is not None:
            live.stop()
        yield
        if live is not None:
            live.start()
            self.live = live


def _row(call: CallView, watch: Watch) -> Row:
    tries = f", try {call.attempt}" if call.state is State.RUNNING and call.attempt > 1 else ""
    layer, state = call.layer or "", f"{call.state}{tries}"
    return Row(call.call.name, call.call.arguments_text, state, layer, _why(call, watch), watch.seconds)


def _why(call: CallView, watch: Watch) -> str:
    """The one thing to know of a call beside its state."""
    if call.state is State.AWAITING_APPROVAL:
        return "; ".join(call.reasons)
    if isinstance(call.outcome, Reconciled):
        return f"by evidence of {call.decided_by}"
    if isinstance(call.outcome, LostSight):
        return call.outcome.cause
    return call.code or watch.progress or (f"approved by {call.decided_by}" if call.decided_by else "")


def _where(key: CallKey) -> str:
    """The turn and position of a call; of one that a tool made, below those of the call that made it."""
    below = key.run.partition("~")[2]
    return f"{below}~{key.turn}.{key.position}" if below else f"{key.turn}.{key.position}"


def short(text: str, width: int = _WIDTH) -> str:
    """A text on one line, cut where it is too long."""
    line = re.sub(r"[ \t\r\n]+", " ", text).strip(" ")
    return line if len(line) <= width else line[: width - 1] + "…"
