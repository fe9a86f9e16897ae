"""Opening a journal by its address."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from callgate.errors import ConfigurationError

from ._memory import MemoryStore
from ._port import Store
from ._sqlite import open_sqlite

WAIT_SECONDS: Final = 5.0
"""How long a write waits for another process to finish its own; a commit takes milliseconds."""


async def open_journal(url: str, *, wait_seconds: float = WAIT_SECONDS) -> Store:
    """The store at ``memory:`` or ``sqlite:PATH``. A missing file is made, a missing directory is not.

    Raises:
        ConfigurationError: The address is of no known kind, or the file is another program's.
        JournalUnavailableError: The file cannot be opened or written.
        JournalCorruptError: The file is damaged.
        JournalVersionError: A newer version wrote it.
    """
    if url == "memory:":
        return MemoryStore()
    kind, _, where = url.partition(":")
    if kind == "sqlite" and where:
        return await open_sqlite(_place(where), wait_seconds)
    message = "a journal's address is memory: or sqlite:PATH"
    raise ConfigurationError(message, got=url)


def _place(where: str) -> Path:
    """Where the file is, whatever folder the process stands in later."""
    return Path(where).absolute()
