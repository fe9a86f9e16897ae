"""From what a response told to the ``Turn``: the one place that says whether a reply may have effects.

In: an ``Assembly`` whose dialect has seen the end of the stream. Out: a ``Turn``. Promise: executable only
when the dialect's own completion said so, no fault speaks against it, and the output limit was not met;
every other turn says why not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from callgate.calls import Finish, FrozenList, StreamFault, ToolCall, Turn, freeze, turn_digest

from ._assembly import Assembly
from ._loose import whole
from ._slot import GOOD, Draft, call_of, is_open, outcome, server_call_of

_REPEATED: Final = StreamFault(
    "ARGUMENTS_REPEATED", "a call's arguments came twice and count once", fatal=False
)
_BAD_ENDS: Final = {
    None: (Finish.CUT, "TURN_CUT", "the stream ended before the reply did"),
    Finish.LENGTH: (Finish.LENGTH, "TURN_CAPPED", "the reply hit its length limit"),
    Finish.REFUSAL: (Finish.REFUSAL, "TURN_REFUSED", "the model refused"),
    Finish.FILTERED: (Finish.FILTERED, "TURN_REFUSED", "a filter stopped the reply"),
    Finish.ERROR: (
        Finish.ERROR,
        "TURN_FAILED",
        "the reply ended in an error, or for a reason that is not known",
    ),
}
_OTHER_CHOICE: Final = "another choice of the same response: only choice 0 may run"

Ending = tuple[Finish, str, str]
"""How the turn ended, why it is not executable (a code, or empty), and that in words."""


def build(assembly: Assembly) -> Turn:
    """The whole reply: choice 0, with the others as its alternatives."""
    others = sorted(assembly.drafts.keys() - {0})
    return _turn(
        assembly, assembly.draft(0), tuple(_turn(assembly, assembly.draft(number), ()) for number in others)
    )


def _turn(assembly: Assembly, draft: Draft, alternatives: tuple[Turn, ...]) -> Turn:
    terms = assembly.terms
    calls = tuple(call_of(slot, terms, is_well=draft.finish in GOOD) for slot in draft.slots)
    finish, why_not, reason = _ending(assembly, draft, calls)
    faults = list(assembly.faults)
    if any(slot.repeated for slot in draft.slots):
        faults.append(_REPEATED)
    if draft.number and not why_not:
        why_not, reason = "TURN_REFUSED", _OTHER_CHOICE
    text, refusal = whole("".join(draft.text)), whole("".join(draft.refusal))
    turn = Turn(
        text=text,
        calls=calls,
        finish=finish,
        finish_raw=draft.finish_raw,
        executable=not why_not,
        why_not=why_not,
        reason=reason,
        usage=assembly.usage,
        possibly_truncated=finish is Finish.LENGTH or _is_at_cap(assembly) or _breaks_off(calls),
        faults=tuple(faults),
        refusal=refusal,
        reasoning=whole("".join(draft.reasoning)),
        server_calls=tuple(map(server_call_of, draft.server)),
        kept=FrozenList() if draft.number else freeze(assembly.kept),
        alternatives=alternatives,
        response_id=assembly.response_id,
        dialect=terms.dialect,
    )
    return replace(turn, digest=turn_digest(turn))


def _ending(assembly: Assembly, draft: Draft, calls: Sequence[ToolCall]) -> Ending:
    fatal = next((fault for fault in assembly.faults if fault.fatal), None)
    if fatal is not None:
        return Finish.ERROR, "TURN_FAILED", fatal.message or fatal.code
    finish = outcome(draft)
    if finish is None or finish in _BAD_ENDS:
        kind, code, words = _BAD_ENDS[finish]
        return kind, code, f"{words} ({draft.finish_raw})" if draft.finish_raw else words
    if calls and _is_at_cap(assembly):
        return finish, "TURN_CAPPED", "the reply has as many tokens as it was allowed to have"
    is_counted = assembly.usage is not None and assembly.usage.output_tokens > 0
    is_told = assembly.terms.max_tokens is None or is_counted or assembly.certain
    if calls and not is_told:
        return Finish.CUT, "TURN_CUT", "the stream ended before it told whether the length limit was hit"
    return finish, "", ""


def _is_at_cap(assembly: Assembly) -> bool:
    cap, usage = assembly.terms.max_tokens, assembly.usage
    return cap is not None and usage is not None and usage.output_tokens >= cap


def _breaks_off(calls: Sequence[ToolCall]) -> bool:
    return (
        bool(calls)
        and not calls[-1].complete
        and bool(calls[-1].arguments_text)
        and is_open(calls[-1].arguments_text)
    )
