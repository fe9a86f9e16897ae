"""The code table: each reason a call can be given, its layer, who can mend it, and what to do next.

One row a code. No two rows give the same advice: two codes that ask for the same thing would be one code.
The reference page is generated from this table.
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
        ("TURN_FAILED", _P, "The model's server failed; nothing was run. The run's owner must look into it."),
        ("TURN_CAPPED", _M, "The reply hit its length limit; nothing was run. Make fewer or shorter calls."),
        ("TURN_REFUSED", _N, "The reply was refused or filtered; nothing was run. Do not repeat it."),
    ),
    *_rows(
        Layer.KNOWN,
        ("NOT_OFFERED", _M, "Call one of the tools that are offered, by its exact name."),
        ("TOOL_GONE", _P, "The tool was offered but is gone; the run's owner must install it again."),
        ("KIND_UNSUPPORTED", _M, "This kind of call is not taken here; use a function tool that is offered."),
    ),
    *_rows(
        Layer.SYNTAX,
        ("CALL_INCOMPLETE", _M, "The call never closed. Write it again, whole."),
        ("NOT_JSON", _M, "Write the arguments as one JSON object; mend what stands at the place named."),
        ("NOT_AN_OBJECT", _M, "Wrap the arguments in a JSON object that names each parameter."),
        ("DUPLICATE_KEY", _M, "Give each name in an object once."),
        ("NUMBER_NOT_FINITE", _M, "Use a finite number within 64-bit floats; JSON has no NaN or Infinity."),
        ("TEXT_NOT_UNICODE", _M, "Write whole characters: no half of a surrogate pair, no broken UTF-8."),
        ("TOO_DEEP", _M, "Nest the arguments less deeply."),
        ("TOO_LARGE", _M, "Send less in one call; split it into several."),
        ("TWO_ARGUMENTS", _M, "One call came with two sets of arguments; send each as a call of its own."),
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
        ("NOT_CONVERTIBLE", _M, "The value fits the schema, not the tool's own type; choose another."),
    ),
    *_rows(
        Layer.BUSINESS,
        ("RULE_BROKEN", _M, "The tool's own rule says no; follow what the finding expects."),
        ("CHECK_FAILED", _P, "The tool's own check broke; its author must mend it. Do without this call."),
        ("VALUE_NOT_FROM_SOURCE", _M, "Take the value from the request or a result; do not invent it."),
    ),
    *_rows(
        Layer.AUTHORIZATION,
        ("FORBIDDEN", _N, "The policy forbids this call. Do not try it again in another form."),
        ("OUTSIDE_WORKSPACE", _M, "Use a path inside the workspace, relative to its root."),
        ("PATH_UNUSABLE", _M, "Name a file or folder: no NUL, no over-long names, nothing but plain text."),
        ("APPROVAL_PENDING", _P, "A person must decide. Do not call it again; do what does not need it."),
        ("APPROVAL_DENIED", _P, "A person said no. Do not repeat the call; ask the user what to do instead."),
        ("APPROVAL_EXPIRED", _P, "Nobody decided in time. Tell the user that a decision is needed."),
        ("NO_APPROVER", _P, "It needs a person and none can be asked here. Say so and go on without it."),
        ("APPROVAL_MISMATCH", _P, "What was approved is not what would run; it must be asked for anew."),
    ),
    *_rows(
        Layer.VERSION,
        ("VERSION_CONFLICT", _M, "The resource changed. Read it again, then call with its current version."),
        ("VERSION_UNKNOWN", _M, "Nothing is there to have a version; leave the expected version out."),
        ("RESOURCE_MOVED", _M, "The name leads elsewhere than when it was judged; look again first."),
    ),
    *_rows(
        Layer.SCHEDULE,
        ("PREDECESSOR_FAILED", _M, "An earlier call it depended on did not succeed; see to that one first."),
        ("EARLIER_STOPPED", _M, "An earlier call that cannot be undone failed; see what it did first."),
        ("CANCELLED", _P, "The run was interrupted before this call started; it was not run."),
    ),
    *_rows(
        Layer.EXECUTION,
        ("TOOL_ERROR", _M, "Read what the tool says and act on it."),
        ("TOOL_FAILED", _P, "The tool broke; a person finds why under the evidence id. Try another way."),
        (
            "STOPPED",
            _M,
            "It was stopped before it answered and changed nothing. Ask again if need be.",
        ),
        ("TIMED_OUT", _M, "The read took too long and was given up. Ask for less, or try once more."),
        ("OUTCOME_UNKNOWN", _P, "It may have happened. Do not repeat it; read to find out, or ask the user."),
        ("DID_NOT_HAPPEN", _M, "It is established that it did not happen; it may be called once more."),
        ("RESULT_UNREADABLE", _N, "It succeeded; its value cannot be shown. Do not call it again for that."),
        ("NOT_FOUND", _M, "Nothing of that name exists. List what is there and choose from it."),
        ("ALREADY_EXISTS", _M, "It exists. Read it, then change it with its version, or use another name."),
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
        ("REPEATED_CALL", _M, "The same call gave the same result each time. Do something else or finish."),
    ),
]

CODES: Final[dict[str, Code]] = {row.name: row for row in _TABLE}
"""Code name → row."""
