"""The tools that ship with callgate, declared in full.

In: nothing. Out: a ``Toolset``. Promise: ``callgate lint`` finds nothing in it; each example is one that the
tool takes.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from callgate.calls import Effect
from callgate.tools import Tool, ToolOptions, Toolset, declare

from ._examples import EXAMPLES
from ._reading import lines_in_order, list_files, one_line, read_file, search_text
from ._writing import (
    delete_file,
    not_the_root,
    really_new,
    reconcile_delete,
    reconcile_replace,
    reconcile_write,
    replace_in_file,
    write_file,
)

_TOOLS: Final = (
    (
        read_file,
        ToolOptions(
            effect=Effect.READ,
            when="the content of a known text file is needed, or its version",
            when_not="you look for a text and do not know in which file it is",
            instead="search_text",
            returns="the lines as they are; beside them the file's version, and next_range if they were cut",
            check=lines_in_order,
            tags=("files", "look"),
            examples=EXAMPLES["read_file"],
        ),
    ),
    (
        list_files,
        ToolOptions(
            effect=Effect.READ,
            when="you need to know which files and folders there are",
            when_not="you look for a text in files",
            instead="search_text",
            returns="entries: paths relative to the workspace's root, folders with a slash at the end; "
            "truncated: whether there are more",
            tags=("files", "look"),
            examples=EXAMPLES["list_files"],
        ),
    ),
    (
        search_text,
        ToolOptions(
            effect=Effect.READ,
            when="you look for a word, a name or a piece of text in files",
            when_not="you know the file and want to read it",
            instead="read_file",
            returns="matches: file, line number and line; files_searched; truncated: whether there are more",
            check=one_line,
            tags=("files", "look"),
            examples=EXAMPLES["search_text"],
        ),
    ),
    (
        write_file,
        ToolOptions(
            effect=Effect.WRITE,
            when="a new file shall be made, or a file that was read shall be written anew",
            when_not="only a part of an existing file shall change",
            instead="replace_in_file",
            returns="created or replaced; beside it the file's new version",
            danger="With expected_version all that the file held is replaced.",
            reconcile=reconcile_write,
            tags=("files", "change"),
            phases=("change",),
            examples=EXAMPLES["write_file"],
        ),
    ),
    (
        replace_in_file,
        ToolOptions(
            effect=Effect.WRITE,
            when="a part of an existing text file shall change",
            when_not="the file does not exist yet, or all of it shall change",
            instead="write_file",
            returns="replaced; beside it the file's new version",
            check=really_new,
            reconcile=reconcile_replace,
            tags=("files", "change"),
            phases=("change",),
            examples=EXAMPLES["replace_in_file"],
        ),
    ),
    (
        delete_file,
        ToolOptions(
            effect=Effect.IRREVERSIBLE,
            when="a file shall be gone",
            when_not="the file shall only be emptied or changed",
            instead="write_file",
            returns="deleted",
            danger="The file is gone for every tool; only a person can restore it, from the journal.",
            check=not_the_root,
            reconcile=reconcile_delete,
            tags=("files", "change"),
            phases=("change",),
            examples=EXAMPLES["delete_file"],
        ),
    ),
)


def workspace_tools(name: str = "workspace") -> Toolset:
    """Tools on the files of the gate's workspace: read, list, search, write, replace, delete."""
    return Toolset(name, _declared())


@cache
def _declared() -> tuple[Tool, ...]:
    return tuple(declare(function, options) for function, options in _TOOLS)
