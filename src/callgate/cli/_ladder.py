"""The ladder: the five boundaries between a byte and a turn, one line for each thing that crosses one."""

from __future__ import annotations

import codecs

from rich.table import Table

from callgate.calls import (
    ArgumentsDelta,
    CallDone,
    CallStarted,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Turn,
    TurnDone,
)
from callgate.wire import DIALECTS, Decoder, NdjsonParser, SseParser

from ._screen import plain, screen

_WIDTH = 90
_PARSERS = {"sse": SseParser, "ndjson": NdjsonParser}


def climb(body: bytes, dialect: str) -> Turn:
    """Show a body rung by rung, and give its turn."""
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(body, final=True)
    table = Table("boundary", "where", "what crosses it", title=f"{dialect}, {len(body)} bytes", box=None)
    table.add_row("bytes", f"0-{len(body)}", _short(repr(body[:_WIDTH])))
    wide = sum(1 for character in text if ord(character) > 0x7F)
    table.add_row("characters", f"{len(text)}", f"{wide} of more than one byte")
    decoder = Decoder(dialect)
    for number, (start, end, shown) in enumerate(_events(body, dialect)):
        table.add_row("event", f"#{number} {start}-{end}", _short(shown))
        for event in decoder.feed(body[start:end]):
            boundary, what = _said(event)
            table.add_row(f"  {boundary}", "", _short(what))
    turn = decoder.close()
    table.add_row(
        "turn",
        f"{len(turn.calls)} calls",
        "executable" if turn.executable else plain(f"not executable {turn.why_not}"),
    )
    screen.print(table)
    return turn


def _events(body: bytes, dialect: str) -> list[tuple[int, int, str]]:
    """Where each event of the framing ends, with its data: found by feeding line by line."""
    framing = DIALECTS[dialect].framing
    if framing not in _PARSERS:
        return [(0, len(body), body.decode("utf-8", "replace"))]
    parser = _PARSERS[framing]()
    found: list[tuple[int, int, str]] = []
    start = place = 0
    for line in body.splitlines(keepends=True):
        place += len(line)
        for event in parser.feed(line):
            found.append((start, place, str(getattr(event, "data", event))))
            start = place
    if start < len(body):
        found.append((start, len(body), "(no event: the body ends here)"))
    return found


def _said(event: StreamEvent) -> tuple[str, str]:
    if isinstance(event, TextDelta | ReasoningDelta):
        return "delta", f"text {event.text!r}"
    if isinstance(event, CallStarted):
        return "call", f"{event.position} opened: {event.name}"
    if isinstance(event, ArgumentsDelta):
        return "delta", f"arguments of {event.position}: {event.text!r}"
    if isinstance(event, CallDone):
        return "call", f"{event.position} closed: {event.call.name} {event.call.arguments_text}"
    if isinstance(event, TurnDone):
        return "turn", f"the dialect says it is over: {event.finish}"
    return "fault", f"{event.code} {event.message}"


def _short(text: str) -> str:
    return plain(text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…")
