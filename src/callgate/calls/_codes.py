"""The code table: every reason a call can be told, in which layer it arises, who can mend it, and what to do next.

One row a code. No two rows give the same advice: two codes that ask for the same thing would be one code. The reference page
is generated from this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Layer(StrEnum):
    """The question that was answered with no; in the order the questions are asked."""

    TURN = "turn"
    KNOWN = "known"
    SYNTAX = "syntax"
    STRUCTURE = "structure"
    BUSINESS = "business"
    AUTHORIZATION = "authorization"
    VERSION = "version"
    SCHEDULE = "schedule"
    EXECUTION = "execution"
    BUDGET = "budget"


class Mender(StrEnum):
    """Who can put it right."""

    MODEL = "model"
    PERSON = "person"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Code:
    """A row: the code's name, its layer, who can mend it, and what the model may do next."""

    name: str
    layer: Layer
    mender: Mender
    advice: str


def _rows(layer: Layer, *rows: tuple[str, Mender, str]) -> list[Code]:
    return [Code(name, layer, mender, advice) for name, mender, advice in rows]


_M, _P, _N = Mender.MODEL, Mender.PERSON, Mender.NOBODY

_TABLE: Final = [
    *_rows(
        Layer.TURN,
        ("TURN_CUT", _M, "The reply broke off before its end; nothing in it was run. Make the calls again."),
        ("TURN_FAILED", _P, "The model's server reported an error; nothing was run. The run's owner must look at it."),
        ("TURN_CAPPED", _M, "The reply hit its length limit; nothing in it was run. Make fewer or shorter calls."),
        ("TURN_REFUSED", _N, "The reply was refused or filtered; nothing was run. Do not repeat it."),
    ),
    *_rows(
        Layer.KNOWN,
        ("NOT_OFFERED", _M, "Call one of the tools that are offered, by its exact name."),
        ("TOOL_GONE", _P, "The tool was offered then but is not installed now; the run's owner must restore it."),
        ("KIND_UNSUPPORTED", _M, "This kind of call is not taken here; use a function tool that is offered."),
    ),
    *_rows(
        Layer.SYNTAX,
        ("CALL_INCOMPLETE", _M, "The call never closed. Write it again, whole."),
        ("NOT_JSON", _M, "Write the arguments again as one JSON object; mend what stands at the position named."),
        ("NOT_AN_OBJECT", _M, "Wrap the arguments in a JSON object that names each parameter."),
        ("DUPLICATE_KEY", _M, "Give each name in an object once."),
        ("NUMBER_NOT_FINITE", _M, "Use a finite number that fits a 64-bit float; JSON has no NaN or Infinity."),
        ("TEXT_NOT_UNICODE", _M, "Write the text as whole characters: no half of a surrogate pair, no broken UTF-8."),
        ("TOO_DEEP", _M, "Nest the arguments less deeply."),
        ("TOO_LARGE", _M, "Send less in one call; split it into several."),
        ("TWO_ARGUMENTS", _M, "One call came with two different sets of arguments; send each as a call of its own."),
    ),
    *_rows(
        Layer.STRUCTURE,
        ("MISSING_PARAMETER", _M, "Add the required parameter."),
        ("UNKNOWN_PARAMETER", _M, "Remove the name, or use the one the tool declares."),
        ("WRONG_TYPE", _M, "Give a value of the declared type."),
        ("NOT_IN_ENUM", _M, "Choose one of the values listed."),
        ("OUT_OF_RANGE", _M, "Choose a number within the bounds."),
        ("WRONG_SIZE", _M, "Change how many characters, items or names there are to within the bounds."),
        ("WRONG_FORMAT", _M, "Write the text in the format or pattern declared."),
        ("SCHEMA_MISMATCH", _M, "Read the tool's schema at the place named and fit the value to it."),
        ("NOT_CONVERTIBLE", _M, "The value fits the schema but not the tool's own type; choose another value."),
    ),
    *_rows(
        Layer.BUSINESS,
        ("RULE_BROKEN", _M, "The tool's own rule says no; follow what the finding expects."),
        ("CHECK_FAILED", _P, "The tool's own check broke; this call cannot be judged until its author mends it."),
        ("VALUE_NOT_FROM_SOURCE", _M, "Use a value that stands in the request or in an earlier result; do not invent it."),
    ),
    *_rows(
        Layer.AUTHORIZATION,
        ("FORBIDDEN", _N, "The policy forbids this call. Do not try it again in another form."),
        ("OUTSIDE_WORKSPACE", _M, "Use a path inside the workspace, relative to its root."),
        ("PATH_UNUSABLE", _M, "Write the path as plain text without NUL or over-long names, naming a file or folder."),
        ("APPROVAL_PENDING", _P, "A person must decide first. Do not call it again; go on with what does not depend on it."),
        ("APPROVAL_DENIED", _P, "A person said no. Do not repeat the call; ask the user what to do instead."),
        ("APPROVAL_EXPIRED", _P, "Nobody decided in time. Tell the user that a decision is needed."),
        ("NO_APPROVER", _P, "The call needs a person and none can be asked here. Say so and go on without it."),
        ("APPROVAL_MISMATCH", _P, "What was approved is not what would run; it must be asked for anew."),
    ),
    *_rows(
        Layer.VERSION,
        ("VERSION_CONFLICT", _M, "The resource changed. Read it again, then make the call with its current version."),
        ("VERSION_UNKNOWN", _M, "Nothing stands there to have a version; leave the expected version out to create it."),
        ("RESOURCE_MOVED", _M, "The name now leads elsewhere than when the call was judged; look again before acting."),
    ),
    *_rows(
        Layer.SCHEDULE,
        ("PREDECESSOR_FAILED", _M, "An earlier call it depended on did not succeed; see to that one first."),
        ("EARLIER_STOPPED", _M, "An earlier call of the batch that cannot be taken back failed; check what it did, then go on."),
        ("CANCELLED", _P, "The run was interrupted before this call started; it was not run."),
    ),
    *_rows(
        Layer.EXECUTION,
        ("TOOL_ERROR", _M, "Read what the tool says and act on it."),
        ("TOOL_FAILED", _P, "The tool broke; the details are in the record under the evidence id. Try another way."),
        ("TIMED_OUT", _M, "The read took too long and was given up. Ask for less, or try once more."),
        ("OUTCOME_UNKNOWN", _P, "It may or may not have happened. Do not repeat it; verify by reading, or ask the user."),
        ("RESULT_UNREADABLE", _N, "It succeeded, but its value cannot be shown. Do not call it again for that."),
        ("NOT_FOUND", _M, "Nothing of that name exists. List what is there and choose from it."),
        ("ALREADY_EXISTS", _M, "It exists already. Read it, then change it with its version, or choose another name."),
        ("DENIED_BY_SYSTEM", _P, "The operating system refuses access; the user must grant it."),
        ("RANGE", _M, "Ask for a range within the size the finding names."),
        ("NOT_TEXT", _N, "It is not readable text; this tool cannot show or edit it."),
        ("WRONG_KIND", _M, "It is a folder where a file is needed, or the reverse; name the other."),
        ("NO_MATCH", _M, "The text to replace does not occur; copy it exactly from a fresh read."),
        ("AMBIGUOUS", _M, "It fits several places; give more surrounding text so that it fits one."),
        ("NESTED_CALL", _N, "A tool's inner call would wait for the tool itself; it was refused."),
    ),
    *_rows(
        Layer.BUDGET,
        ("CALLS_EXHAUSTED", _P, "The run's budget of calls is used up. Finish with what you have."),
        ("REPEATED_CALL", _M, "The same call gave the same result several times. Do something else or finish."),
    ),
]

CODES: Final[dict[str, Code]] = {row.name: row for row in _TABLE}
"""Code name → row."""
