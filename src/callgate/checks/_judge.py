"""The one table of layers, and the walk through it.

In: a call and what it is judged by. Out: a ``Judgement``: the verdict, and what the call would touch.
Promise: the layers are asked in this order, always; a well-formed call is not a permitted one, and none is
skipped because a provider promises its answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from callgate.calls import Access, Finding, Layer, ToolCall, Verdict
from callgate.schema import MAX_FINDINGS

from ._layers import (
    PASSED,
    Answer,
    Case,
    authorization,
    business,
    known,
    structure,
    syntax,
    version,
)


class Look(NamedTuple):
    """A row: the layer, its question, and whether a no ends the judgement.

    After a no to the first three there is nothing sound to ask further; after one to the others the rest is
    still asked, so that one answer mends all.
    """

    layer: Layer
    ask: Callable[[ToolCall, Case], Answer]
    ends: bool


LAYERS: Final = (
    Look(Layer.KNOWN, known, ends=True),
    Look(Layer.SYNTAX, syntax, ends=True),
    Look(Layer.STRUCTURE, structure, ends=True),
    Look(Layer.BUSINESS, business, ends=False),
    Look(Layer.AUTHORIZATION, authorization, ends=False),
    Look(Layer.VERSION, version, ends=False),
)


class Judgement(msgspec.Struct, frozen=True, gc=False):
    """The verdict on one call, and what it touches where it got as far as the layer of authorization."""

    verdict: Verdict
    accesses: tuple[Access, ...] = ()


_PASSED: Final = Verdict()


def judge(call: ToolCall, case: Case) -> Judgement:
    """Ask a call the questions of every layer.

    The verdict holds at most ``MAX_FINDINGS`` findings of each layer. A call that passes may still have to
    wait: ``verdict.ask`` holds the reasons why a person must decide.
    """
    findings: tuple[Finding, ...] = ()
    reasons: tuple[str, ...] = ()
    touched: tuple[Access, ...] = ()
    for _layer, ask, ends in LAYERS:
        answer = ask(call, case)
        if answer is PASSED:
            continue
        findings += answer.findings[:MAX_FINDINGS]
        reasons += answer.ask
        touched += answer.accesses
        if findings and ends:
            break
    return Judgement(Verdict(findings, reasons) if findings or reasons else _PASSED, touched)
