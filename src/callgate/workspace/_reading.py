"""The tools that look: read_file, list_files, search_text.

In: arguments of a call, paths already located. Out: text, names, places, with what was left out said.
Promise: nothing is changed; what comes back is bounded whatever the file or the tree holds; it is never
marked as our own word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import Field

from callgate.calls import Finding, Range
from callgate.errors import ToolError
from callgate.tools import Context, Result, WorkspacePath

from ._content import version_of
from ._refusals import refuse
from ._text import BOM, lines_of, text_of
from ._tree import Tree, matcher

PAGE: Final = 16_000
"""Characters one result holds; below a tool's result limit, so that it is cut between lines."""

NAMES: Final = 1_000
MATCHES: Final = 100
SEARCHED_BYTES: Final = 64 << 20
LINE: Final = 200  # characters shown of a line that matched

Glob = Annotated[str | None, Field(max_length=200)]


def read_file(
    path: WorkspacePath,
    start_line: Annotated[int, Field(ge=1)] = 1,
    end_line: Annotated[int | None, Field(ge=1)] = None,
) -> Result:
    """Read a text file, or some of its lines.

    Args:
        path: The file, relative to the workspace's root.
        start_line: First line to read, counted from 1.
        end_line: Last line to read, included; the file's last one by default.
    """
    data = path.read_bytes()
    lines = lines_of(text_of(data, path).removeprefix(BOM))
    if start_line > max(len(lines), 1):
        raise refuse("RANGE", f"the file has {len(lines)} lines", path, lines=len(lines))
    asked = lines[start_line - 1 : end_line]
    shown = _fitting(asked)
    rest = start_line + shown
    next_range = Range(rest, start_line + len(asked) - 1, "lines", len(lines)) if shown < len(asked) else None
    return Result("".join(asked[:shown]), resource(path), version_of(data), next_range)


def lines_in_order(start_line: int, end_line: int | None) -> Finding | None:
    """A check: the last line is not before the first."""
    if end_line is None or end_line >= start_line:
        return None
    return Finding("RULE_BROKEN", "/end_line", "a line that is not before start_line", "swap the two")


def list_files(
    path: WorkspacePath = WorkspacePath("."),  # noqa: B008 - immutable
    pattern: Glob = None,
    *,
    recursive: bool = False,
) -> Result:
    """List what is in a folder.

    Args:
        path: The folder, relative to the workspace's root; the root by default.
        pattern: Only names that fit this glob, such as *.py; one with a slash fits the path below the folder.
        recursive: Also list the folders below it.
    """
    tree, fits = Tree(path.files, path), matcher(pattern, path)
    entries: list[str] = []
    size = 0
    truncated = False
    for name in tree.names(recursive=recursive):
        if not fits(name):
            continue
        size += len(name) + 4  # quotes, comma and space
        if len(entries) == NAMES or size > PAGE:
            truncated = True
            break
        entries.append(name)
    told = {"entries": entries, "truncated": truncated or tree.stopped}
    return Result({**told, **_skipped(folders=tree.closed)}, resource(path))


@dataclass(slots=True)
class _Search:
    """One search: what was found, and what it cost."""

    wanted: str
    ignore_case: bool
    left: int
    matches: list[str] = field(default_factory=list)
    size: int = 0
    searched: int = 0
    skipped: int = 0
    truncated: bool = False

    def file(self, name: str, data: bytes) -> None:
        """Search one file; one that is no text is counted."""
        self.left -= len(data)
        try:
            text = text_of(data, name)
        except ToolError:
            self.skipped += 1
            return
        self.searched += 1
        if self.wanted not in self._folded(text):
            return
        for number, line in enumerate(lines_of(text.removeprefix(BOM)), 1):
            place = self._folded(line).find(self.wanted)
            if place >= 0:
                self._found(f"{name}:{number}: {_shown(line, place)}")
                if self.truncated:
                    return

    def _found(self, match: str) -> None:
        self.size += len(match) + 4
        self.truncated = len(self.matches) == MATCHES or self.size > PAGE
        if not self.truncated:
            self.matches.append(match)

    def _folded(self, text: str) -> str:
        return text.casefold() if self.ignore_case else text


def search_text(
    query: Annotated[str, Field(min_length=1, max_length=1_000)],
    path: WorkspacePath = WorkspacePath("."),  # noqa: B008 - immutable
    pattern: Glob = None,
    *,
    ignore_case: bool = False,
    ctx: Context,
) -> Result:
    """Search text files for a piece of text, taken as it is and not as a regular expression.

    Args:
        query: The text to look for, within one line.
        path: The folder to search with all below it, or one file; the workspace's root by default.
        pattern: Only files whose name fits this glob, such as *.py.
        ignore_case: Take capital and small letters for the same.
    """
    search = _Search(query.casefold() if ignore_case else query, ignore_case, SEARCHED_BYTES)
    tree = Tree(path.files, path)
    for name in _searchable(path, tree, pattern):
        if search.truncated or ctx.cancelled():
            break
        try:
            with path.files.open_read(name) as source:
                data = source.read(search.left + 1)
        except ToolError:  # a link, a pipe, or not permitted
            search.skipped += 1
            continue
        if len(data) > search.left:
            search.truncated = True
            break
        search.file(name, data)
    told: dict[str, Any] = {"matches": search.matches, "files_searched": search.searched}
    told["truncated"] = search.truncated or tree.stopped
    return Result({**told, **_skipped(files=search.skipped, folders=tree.closed)}, resource(path))


def one_line(query: str) -> Finding | None:
    """A check: a match lies within a line."""
    if "\n" not in query:
        return None
    return Finding("RULE_BROKEN", "/query", "text without line ends", "search for one of its lines")


def resource(path: str) -> str:
    """The canonical resource of a canonical name."""
    return "file:/" + ("" if path == "." else path.removeprefix("./"))


def _searchable(path: WorkspacePath, tree: Tree, pattern: str | None) -> Iterator[str]:
    if path.kind() == "file":
        return iter([str(path)])
    fits = matcher(pattern, path)
    return (name for name in tree.names(recursive=True) if not name.endswith("/") and fits(name))


def _shown(line: str, place: int) -> str:
    """A line, or of a long one what stands around the place that matched."""
    line = line.rstrip()
    start = max(0, place - LINE // 2) if len(line) > LINE else 0
    end = start + LINE
    return f"{'…' * (start > 0)}{line[start:end]}{'…' * (end < len(line))}"


def _fitting(lines: list[str]) -> int:
    """How many lines fit a result, at least one: the gate cuts and pages a line that is longer."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line)
        if size > PAGE:
            return max(count, 1)
    return len(lines)


def _skipped(**counts: int) -> dict[str, int]:
    return {f"{what}_skipped": count for what, count in counts.items() if count}
