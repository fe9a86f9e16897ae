"""Files as text: UTF-8 alone, lines as editors count them, one replacement that keeps everything else.

In: bytes and text. Out: text, or a ``ToolError`` that says why not. Promise: what is not shown or replaced is
kept to the byte: line ends, a byte order mark, a missing last line end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from callgate.errors import ToolError

from ._refusals import refuse

BOM: Final = "\ufeff"
_PLACES: Final = 10  # lines named when a text fits several places


def text_of(data: bytes, path: str) -> str:
    """The text of a file, a byte order mark included.

    Raises:
        ToolError: ``NOT_TEXT``: it is not UTF-8, or holds NUL.
    """
    if b"\0" in data:
        raise refuse("NOT_TEXT", "it holds NUL bytes, so it is no text", path)
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        raise refuse("NOT_TEXT", "it is not UTF-8", path, at_byte=problem.start) from None


def lines_of(text: str) -> list[str]:
    """The lines with their ends; only a line feed, alone or after a carriage return, ends one."""
    *whole, last = text.split("\n")
    lines = [f"{line}\n" for line in whole]
    return [*lines, last] if last else lines


@dataclass(frozen=True, slots=True)
class Replacement:
    """``old`` and ``new`` in the line ends of the file they are for."""

    old: str
    new: str

    @classmethod
    def fitted(cls, text: str, old: str, new: str) -> Replacement:
        """Give both the file's line ends where it has only one kind; a model may have written the other."""
        crlf = text.count("\r\n")
        if crlf and crlf == text.count("\n"):
            return cls(_with_crlf(old), _with_crlf(new))
        if not crlf and "\r\n" in old:
            return cls(old.replace("\r\n", "\n"), new.replace("\r\n", "\n"))
        return cls(old, new)

    def places(self, text: str) -> Iterator[int]:
        """Where ``old`` fits; overlapping places count."""
        return _places(text, self.old)

    def apply(self, text: str, path: str) -> str:
        """The text with its one ``old`` made ``new``.

        Raises:
            ToolError: ``NO_MATCH``, or ``AMBIGUOUS`` with ``count`` and the first ``lines``.
        """
        places = list(self.places(text))
        if not places:
            raise refuse("NO_MATCH", "the text does not occur in the file", path, count=0)
        if len(places) > 1:
            raise _ambiguous(text, places, path)
        return text[: places[0]] + self.new + text[places[0] + len(self.old) :]

    def origins(self, text: str) -> Iterator[str]:
        """Every text ``text`` could have been made of; none where ``new`` is empty: it fits everywhere."""
        for place in _places(text, self.new) if self.new else ():
            yield text[:place] + self.old + text[place + len(self.new) :]


def _with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _places(text: str, part: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _ambiguous(text: str, places: list[int], path: str) -> ToolError:
    lines = [text.count("\n", 0, place) + 1 for place in places[:_PLACES]]
    message = f"the text fits {len(places)} places"
    return refuse("AMBIGUOUS", message, path, count=len(places), lines=lines)
