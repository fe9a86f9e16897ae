"""A model that replays recorded replies: tests, demonstrations and the examination of a journal's bodies.

In: files that hold one reply each, in order of the turns. Out: their bytes, in pieces. Promise: the same
request gets the same reply in every process: the file is chosen by the number of exchanges in the request's
history, not by how often was asked. So a run that was killed replays on at the right place; a history that
was trimmed does not.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from callgate.errors import ConfigurationError, TransportError
from callgate.wire import Exchange, Request

from ._port import Prepared

_SUFFIXES: Final = frozenset({".sse", ".ndjson", ".txt", ".bin"})
_HEAD: Final = 65_536
_MARKS: Final = (
    ("openai-responses", re.compile(rb'"type"\s*:\s*"response\.')),
    ("anthropic", re.compile(rb'"type"\s*:\s*"(message_start|content_block_start|ping)"')),
    ("openai-chat", re.compile(rb'"(choices|chat\.completion\.chunk)"')),
    ("json-mode", re.compile(rb'^\s*\{\s*"(tool|text|arguments)"')),
)
"""Dialect → what its replies hold near their beginning. The one found first decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """How to replay.

    Args:
        dialect: How the recordings are to be read; guessed from the first one where it is empty.
        chunk_bytes: Size of the pieces that are handed out.
        pause_seconds: Wait before each piece.
    """

    dialect: str = ""
    chunk_bytes: int = 4096
    pause_seconds: float = 0.0


class ReplayModel:
    """A model that replays recorded replies. Make one with ``connect``.

    Args:
        paths: The recordings, one a turn.
        options: How to replay them.

    Raises:
        ConfigurationError: A recording cannot be read, or its dialect cannot be told.
    """

    def __init__(self, paths: Sequence[Path], options: ReplayOptions) -> None:
        if options.chunk_bytes < 1:
            raise ConfigurationError("chunk_bytes is at least 1", got=options.chunk_bytes)
        self._options = options
        self._bodies = [_read(path) for path in paths]
        self.name = "replay:" + ",".join(path.name for path in paths)
        self.dialect = options.dialect or guess_dialect(self._bodies[0])
        if not self.dialect:
            raise ConfigurationError(
                "the recording's dialect cannot be told from it; name it by dialect=", file=str(paths[0])
            )

    def prepare(self, request: Request) -> Prepared:
        """Encode a request in the recordings' dialect, though nothing is sent."""
        return Prepared.of(self.dialect, request)

    async def chunks(self, prepared: Prepared) -> AsyncGenerator[bytes, None]:
        """Hand out the recording of this turn.

        Raises:
            TransportError: There are fewer recordings than turns.
        """
        turn = sum(isinstance(item, Exchange) for item in prepared.request.history)
        if turn >= len(self._bodies):
            raise TransportError(
                "there is no recording for this turn", kind="replay", turn=turn, recordings=len(self._bodies)
            )
        body, size = self._bodies[turn], self._options.chunk_bytes
        for start in range(0, len(body), size):
            await anyio.sleep(self._options.pause_seconds)
            yield body[start : start + size]

    async def close(self) -> None:
        """Nothing is held open."""


def find_recordings(place: str) -> list[Path]:
    """The files that ``replay:PLACE`` names: one, several with commas between, or a folder's by name.

    Raises:
        ConfigurationError: There is no such file, or the folder holds none.
    """
    whole = Path(place)
    paths = [whole] if whole.exists() else [Path(part) for part in place.split(",") if part]
    if whole.is_dir():
        paths = sorted(path for path in whole.iterdir() if path.suffix in _SUFFIXES and path.is_file())
    if not paths:
        kinds = ", ".join(sorted(_SUFFIXES))
        raise ConfigurationError(
            f"replay: names a file, several with commas between, or a folder with {kinds} files", got=place
        )
    return paths


def guess_dialect(body: bytes) -> str:
    """The dialect of a recorded reply, or ``""``."""
    found = [
        (mark.start(), dialect) for dialect, pattern in _MARKS if (mark := pattern.search(body, 0, _HEAD))
    ]
    return min(found)[1] if found else ""


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise ConfigurationError(
            "a recording cannot be read", file=str(path), reason=problem.strerror
        ) from problem
