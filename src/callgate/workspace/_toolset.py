"""The tools that ship with callgate, declared in full.

In: nothing. Out: a ``Toolset``. Promise: ``callgate lint`` finds nothing in it; each example is one that the
tool takes.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from callgate.calls import Effect
from callgate.tools import Tool, ToolOptions, Toolset, declare

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
            examples=[
                ("Show me notes.txt", {"path": "notes.txt"}),
                (
                    "Read lines 10 to 20 of src/app.py",
                    {"path": "src/app.py", "start_line": 10, "end_line": 20},
                ),
                ("What does the README say from line 5 on?", {"path": "README.md", "start_line": 5}),
            ],
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
            examples=[
                ("Which files are here?", {}),
                ("List the folder docs", {"path": "docs"}),
                ("Find all Python files below src", {"path": "src", "pattern": "*.py", "recursive": True}),
            ],
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
            examples=[
                ("Where is TODO written?", {"query": "TODO"}),
                ("Find the word budget in the folder notes", {"query": "budget", "path": "notes"}),
                ("Which Python files mention parse_date?", {"query": "parse_date", "pattern": "*.py"}),
            ],
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
            examples=[
                ("Write hello to greeting.txt", {"path": "greeting.txt", "content": "hello\n"}),
                ("Create docs/plan.md with the title Plan", {"path": "docs/plan.md", "content": "# Plan\n"}),
                ("Make a file todo.txt that says buy milk", {"path": "todo.txt", "content": "buy milk\n"}),
            ],
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
            examples=[
                (
                    "In config.ini change port=80 to port=8080",
                    {"path": "config.ini", "old": "port=80", "new": "port=8080"},
                ),
                ("Replace Bob by Alice in names.txt", {"path": "names.txt", "old": "Bob", "new": "Alice"}),
                ("Fix the typo teh in README.md", {"path": "README.md", "old": "teh", "new": "the"}),
            ],
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
            examples=[
                ("Delete old.log", {"path": "old.log"}),
                ("Remove the file drafts/memo.txt", {"path": "drafts/memo.txt"}),
                ("Get rid of build/cache.bin", {"path": "build/cache.bin"}),
            ],
        ),
    ),
)


def workspace_tools(name: str = "workspace") -> Toolset:
    """Tools on the files of the gate's workspace: read, list, search, write, replace, delete."""
    return Toolset(name, _declared())


@cache
def _declared() -> tuple[Tool, ...]:
    return tuple(declare(function, options) for function, options in _TOOLS)
