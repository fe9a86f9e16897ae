"""The board: every call of a run, its state, the layer that said no, and how long it took.

In: entries as they become durable. Out: a table. Promise: it shows what the record says and nothing else.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from rich.live import Live
from rich.table import Table

from callgate.calls import (
    CODES,
    Admitted,
    ApprovalAsked,
    CallKey,
    Decided,
    Entry,
    LostSight,
    Raised,
    Reconciled,
    Refused,
    Returned,
    Started,
    TurnHeard,
)

from ._screen import plain, screen

_WIDTH = 56


@dataclass(slots=True)
class Row:
    """One call as it stands."""

    name: str
    arguments: str
    state: str = "created"
    why: str = ""
    started: float = 0.0
    seconds: float | None = None


@dataclass(slots=True)
class Board:
    """All calls seen so far, in the order they were made."""

    title: str = ""
    rows: dict[CallKey, Row] = field(default_factory=dict)
    live: Live | None = None

    def hear(self, entry: Entry) -> None:
        """Take an entry in; a listener for ``gate.subscribe``."""
        take = _TAKE.get(type(entry))
        if take is not None:
            take(self, entry)
            self.refresh()

    def progress(self, key: CallKey, text: str) -> None:
        """Show what a tool says of its progress."""
        self.rows[key].why = text
        self.refresh()

    def refresh(self) -> None:
        """Draw the table anew where it is live."""
        if self.live is not None:
            self.live.update(self.table(), refresh=True)

    def heard(self, entry: TurnHeard) -> None:
        """A turn brought calls."""
        for call in entry.calls:
            self.rows[call.key] = Row(call.name, call.arguments_text)
            if entry.why_not:
                self.put(call.key, "not_run", entry.why_not)

    def decided(self, entry: Decided) -> None:
        """A person, or the clock, decided."""
        state = "validated" if entry.approved else "refused"
        self.put(entry.key, state, entry.code or f"approved by {entry.by}")

    def started(self, entry: Started) -> None:
        """A call runs."""
        row = self.rows[entry.key]
        row.started = entry.at
        self.put(entry.key, "running" if entry.attempt == 1 else f"running, try {entry.attempt}", row.why)

    def ended(self, entry: Returned | Raised | LostSight | Reconciled) -> None:
        """A call ended, or nobody saw how."""
        row = self.rows[entry.key]
        row.seconds = entry.at - row.started
        if isinstance(entry, Returned):
            self.put(entry.key, "succeeded", row.why)
        elif isinstance(entry, Raised):
            self.put(entry.key, "failed", entry.code)
        elif isinstance(entry, Reconciled):
            self.put(entry.key, "succeeded" if entry.happened else "failed", f"by evidence of {entry.by}")
        else:
            self.put(entry.key, "unknown", entry.cause)

    def put(self, key: CallKey, state: str, why: str = "") -> None:
        """Say how a call stands."""
        row = self.rows[key]
        row.state, row.why = state, why

    def table(self) -> Table:
        """The table as it stands."""
        table = Table(
            "call", "tool", "arguments", "state", "layer", "why", "ms", title=self.title or None, box=None
        )
        for key, row in self.rows.items():
            code = CODES.get(row.why)
            table.add_row(
                f"{key.turn}.{key.position}",
                plain(row.name),
                plain(short(row.arguments)),
                row.state,
                str(code.layer) if code else "",
                plain(row.why),
                "" if row.seconds is None else f"{row.seconds * 1000:.0f}",
            )
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


_TAKE: Final[dict[type, Callable[[Board, Any], None]]] = {
    TurnHeard: Board.heard,
    Admitted: lambda board, entry: board.put(entry.key, "validated"),
    Refused: lambda board, entry: board.put(entry.key, "refused", entry.findings[0].code),
    ApprovalAsked: lambda board, entry: board.put(entry.key, "awaiting_approval", "; ".join(entry.reasons)),
    Decided: Board.decided,
    Started: Board.started,
    Returned: Board.ended,
    Raised: Board.ended,
    LostSight: Board.ended,
    Reconciled: Board.ended,
}


def short(text: str, width: int = _WIDTH) -> str:
    """A text on one line, cut where it is too long."""
    line = re.sub(r"[ \t\r\n]+", " ", text).strip(" ")
    return line if len(line) <= width else line[: width - 1] + "…"
