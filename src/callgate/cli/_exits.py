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
    Exit.OK: "It was done: the model answered, the file decodes to an executable turn or a finished answer, "
    "the linter found no error (warnings and notes are no errors), the journal's chain is whole.",
    Exit.NOT_DONE: "It ran, and the answer is no: the run ended for another reason, the turn is not "
    "executable, the linter found an error, the journal's chain is broken, the call waits no longer.",
    Exit.USAGE: "The command line cannot be meant that way, or what it names is missing or of another kind.",
    Exit.PENDING: "A call waits for a person; approve or deny it, then resume the run.",
    Exit.FAILED: "Something outside failed: a file, the journal, the model. A line on stderr says what.",
    Exit.INTERRUPTED: "Ctrl-C. What ran stands in the journal, and the run can be resumed.",
}
"""Exit code → what it means."""
