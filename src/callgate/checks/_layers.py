"""The questions a call is asked, one function a layer.

In: a call and its case. Out: an ``Answer``: findings, reasons to ask a person, accesses. Promise: nothing
is looked up, run or guessed; no finding repeats a value that the model sent.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import replace
from typing import Final, NamedTuple

import msgspec

from callgate.calls import Access, CallKind, Finding, Mode, ToolCall, pointer
from callgate.schema import nearest
from callgate.tools import NO_FACTS, Facts, Located, Tool, accesses

from ._policy import Permission, Policy
from ._sources import Sources

_SHOWN: Final = 20
"""Names told to a model that called none of them; more would be the tool list once more."""
_LONGEST: Final = 100
"""Characters of a called name that are compared with the offered ones: the comparison is quadratic."""


class Case(msgspec.Struct, frozen=True, gc=False):
    """What a call is judged by.

    ``tool`` is the one of exactly this name, if it is installed; ``offered`` the names offered in the turn
    of the call; ``facts`` what the world said of its paths and versions; ``can_ask``: somebody can answer.
    """

    tool: Tool | None
    offered: Collection[str]
    facts: Facts = NO_FACTS
    policy: Policy = Policy()
    sources: Sources = Sources()
    can_ask: bool = True


class Answer(NamedTuple):
    """What one layer says. ``ask`` and ``accesses`` come from the layer of authorization alone."""

    findings: tuple[Finding, ...] = ()
    ask: tuple[str, ...] = ()
    accesses: tuple[Access, ...] = ()


PASSED: Final = Answer()
_NOWHERE: Final = Finding("OUTSIDE_WORKSPACE", expected="a workspace; none is open here")


def known(call: ToolCall, case: Case) -> Answer:
    """A function tool of exactly this name was offered in this turn, and is there."""
    if call.kind is not CallKind.FUNCTION:
        return Answer((Finding("KIND_UNSUPPORTED", expected="a call of a function tool"),))
    if call.name not in case.offered:
        return Answer((_not_offered(call.name, case.offered),))
    return PASSED if case.tool is not None else Answer((Finding("TOOL_GONE"),))


def _not_offered(name: str, offered: Collection[str]) -> Finding:
    if not offered:
        return Finding("NOT_OFFERED", expected="no call: no tool is offered in this turn")
    like = difflib.get_close_matches(name[:_LONGEST], offered, n=_SHOWN, cutoff=0.3)
    names = [*like, *sorted(set(offered).difference(like))]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    near = nearest(name, offered)
    mend = f"did you mean {near}?" if near else ""
    return Finding("NOT_OFFERED", expected=f"one of {', '.join(names[:_SHOWN])}{more}", mend=mend)


def syntax(call: ToolCall, _case: Case) -> Answer:
    """The dialect closed the call, and its arguments were read."""
    if call.fault is not None:
        return Answer((call.fault,))
    return PASSED if call.complete else Answer((Finding("CALL_INCOMPLETE"),))


def structure(call: ToolCall, case: Case) -> Answer:
    """The arguments fit the published schema, then the tool's own types."""
    found = _tool(case).findings(call.arguments)
    return Answer(found) if found else PASSED


def business(call: ToolCall, case: Case) -> Answer:
    """The tool's own checks pass, and values stand where they must come from."""
    tool = _tool(case)
    found = tool.business(call.arguments) + case.sources.findings(tool.parameters, call.arguments)
    return Answer(found) if found else PASSED


def authorization(call: ToolCall, case: Case) -> Answer:
    """The paths may be reached, and the policy permits the call or asks a person."""
    tool = _tool(case)
    touched = accesses(tool, call.arguments, case.facts)
    astray = _astray(call, tool, case.facts)
    # Where a path leads nowhere, rules about resources have nothing to say; those about the tool do.
    permission = case.policy.decide(tool, () if astray else touched)
    refused = _refused(permission, can_ask=case.can_ask)
    if permission.decision == "allow" and not astray:
        return Answer((), (), touched)
    return Answer(astray + refused, () if refused else permission.reasons, touched)


def _astray(call: ToolCall, tool: Tool, facts: Facts) -> tuple[Finding, ...]:
    """Paths that may not be reached.

    The world said so, or there is no workspace in which to look for them.
    """
    touches = tool.touches(call.arguments)
    if not touches:
        return ()
    found = (
        (touch.where, facts.located.get(touch.text, _NOWHERE)) for touch in touches if touch.kind == "path"
    )
    return tuple(dict.fromkeys(replace(one, where=where) for where, one in found if isinstance(one, Finding)))


def _refused(permission: Permission, *, can_ask: bool) -> tuple[Finding, ...]:
    if permission.decision == "deny":
        return (Finding("FORBIDDEN", expected="; ".join(permission.reasons)),)
    if permission.decision == "ask" and not can_ask:
        return (Finding("NO_APPROVER", expected=f"a person's approval: {'; '.join(permission.reasons)}"),)
    return ()


def version(call: ToolCall, case: Case) -> Answer:
    """What the model saw is what is there."""
    found = recheck_version(call, _tool(case), case.facts)
    return Answer(found) if found else PASSED


def recheck_version(call: ToolCall, tool: Tool, facts: Facts) -> tuple[Finding, ...]:
    """Whether the version a call expects is that of what it writes.

    Asked again, with fresh facts, right before the call runs. What the call only reads counts where it writes
    nothing. A resource whose version nobody knows here is left to the tool; a path where nothing is has none.
    """
    expected = call.arguments.get(tool.expected_version) if tool.expected_version else None
    if expected is None:
        return ()
    current = _versions(call, tool, facts)
    if not current or str(expected) in current:
        return ()
    where = pointer((tool.expected_version,))
    if any(current):
        return (Finding("VERSION_CONFLICT", where, "the version that the resource has now"),)
    return (Finding("VERSION_UNKNOWN", where, "no version, because nothing stands there"),)


def _versions(call: ToolCall, tool: Tool, facts: Facts) -> list[str | None]:
    touches = tool.touches(call.arguments)
    written = [touch for touch in touches if touch.mode is Mode.WRITE] or touches
    current: list[str | None] = []
    for touch in written:
        located = facts.located.get(touch.text)
        if touch.kind == "path" and isinstance(located, Located):
            current.append(facts.versions.get(located.resource, located.version))
        elif touch.kind == "resource" and facts.versions.get(touch.text) is not None:
            current.append(facts.versions[touch.text])
    return current


def _tool(case: Case) -> Tool:
    """The tool of a call that passed the first layer."""
    assert case.tool is not None  # noqa: S101 - the table's order
    return case.tool
