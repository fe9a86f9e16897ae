"""Everything in a folder, and below it, in order, within bounds.

In: files and a canonical name. Out: canonical names; folders end in ``/``. Promise: links are named and not
followed, so that the walk ends and stays inside; the metadata of version control is named and not entered;
what cannot be listed is counted.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from callgate.errors import ToolError
from callgate.tools import Files

SEEN: Final = 50_000
"""Names a walk looks at before it stops."""

CLOSED: Final = frozenset({".git/", ".hg/", ".svn/"})


@dataclass(slots=True)
class Tree:
    """One walk below ``top``. ``stopped``: it ended early; ``closed``: how many folders it could not list."""

    files: Files
    top: str
    stopped: bool = False
    closed: int = 0
    _seen: int = 0

    def names(self, *, recursive: bool) -> Iterator[str]:
        """The names, in order; a folder before what is in it.

        Raises:
            ToolError: ``top`` itself cannot be listed.
        """
        waiting = [self._prefixed(self.top, self.files.names(self.top))]
        while waiting:
            name = next(waiting[-1], None)
            if name is None:
                waiting.pop()
                continue
            self._seen += 1
            if self._seen > SEEN:
                self.stopped = True
                return
            yield name
            if (
                recursive
                and name.endswith("/")
                and name.rpartition("/")[0].rpartition("/")[2] + "/" not in CLOSED
            ):
                waiting.append(self._below(name))

    def _below(self, name: str) -> Iterator[str]:
        try:
            return self._prefixed(name, self.files.names(name.rstrip("/")))
        except ToolError:
            self.closed += 1
            return iter(())

    @staticmethod
    def _prefixed(folder: str, names: list[str]) -> Iterator[str]:
        before = "" if folder == "." else folder.rstrip("/") + "/"
        return iter([before + name for name in names])


def matcher(pattern: str | None, top: str) -> Callable[[str], bool]:
    """Whether a name fits a glob: its last part, or, where the glob has a slash, its path below ``top``."""
    if not pattern:
        return lambda _: True
    globs = [pattern, pattern.removeprefix("**/")]
    fits = re.compile("|".join(fnmatch.translate(glob) for glob in globs)).match
    cut = 0 if top == "." else len(top) + 1
    if "/" in pattern:
        return lambda name: fits(name[cut:].rstrip("/")) is not None
    return lambda name: fits(name.rstrip("/").rpartition("/")[2]) is not None
