"""The exit codes, one table: the reference page is made from it."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a process ends with."""

    OK = 0
    NOT_DONE = 1
    USAGE = 2
    PENDING = 3
    FAILED = 4
    INTERRUPTED = 130


EXITS: dict[Exit, str] = {
    Exit.OK: "It was done: the model answered, the file decodes to an executable turn, nothing was found.",
    Exit.NOT_DONE: "It ran, and the answer is no: the run ended for another reason, the turn is not "
    "executable, the linter or the journal's chain has findings.",
    Exit.USAGE: "The command line cannot be meant that way.",
    Exit.PENDING: "A call waits for a person; approve or deny it, then resume the run.",
    Exit.FAILED: "Something outside failed: a file, the journal, the model. A line on stderr says what.",
    Exit.INTERRUPTED: "Ctrl-C. What ran stands in the journal, and the run can be resumed.",
}
"""Exit code → what it means."""
