"""What a reviewer should look at in a set of tools.

In: tools. Out: findings, worst first. Promise: none of them keeps a tool from working; each says how to mend
it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from callgate.calls import Effect, Mode, pointer
from callgate.schema import NOTHING, Validator

from ._effects import RANK, said_by_name
from ._names import LONGEST, PORTABLE
from ._tool import Tool

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing to look at: ``code`` is stable, ``parameter`` may be empty."""

    code: str
    tool: str
    parameter: str
    message: str
    mend: str
    severity: Severity


def lint(tools: tuple[Tool, ...]) -> tuple[LintFinding, ...]:
    """All findings of a set: errors, then warnings, then notes, each in the order of declaration."""
    names = frozenset(tool.name for tool in tools)
    found = [finding for tool in tools for rule in _RULES for finding in rule(tool)]
    found.extend(finding for tool in tools for finding in _unknown_instead(tool, names))
    return tuple(sorted(found, key=lambda finding: _ORDER[finding.severity]))


_ORDER: Final[dict[str, int]] = {"error": 0, "warning": 1, "note": 2}


def _no_description(tool: Tool) -> Iterator[LintFinding]:
    if not tool.definition.description.what.strip():
        message, mend = "the tool does not say what it does", "write a docstring, or give what=…"
        yield LintFinding("NO_DESCRIPTION", tool.name, "", message, mend, "warning")


def _undescribed(tool: Tool) -> Iterator[LintFinding]:
    for parameter in tool.parameters:
        if not parameter.description.strip():
            message = "the parameter is not described"
            mend = "describe it in the docstring, or with Field(description=…)"
            yield LintFinding("PARAMETER_UNDESCRIBED", tool.name, parameter.name, message, mend, "note")


def _unrecoverable(tool: Tool) -> Iterator[LintFinding]:
    if tool.effect is not Effect.READ and not tool.idempotent and tool.reconcile is None:
        message = "after a crash nobody can know whether a call happened: a person will have to find out"
        mend = "hand ctx.idempotency_key on and declare idempotent=True, or give reconcile=…"
        yield LintFinding("UNRECOVERABLE", tool.name, "", message, mend, "warning")


def _contradicting(tool: Tool) -> Iterator[LintFinding]:
    said = said_by_name(tool.name)
    if said is None or said is tool.effect:
        return
    is_milder = RANK[tool.effect] < RANK[said]
    message = f"the name says {said.value}, the declaration {tool.effect.value}"
    mend = "rename the tool or correct its effect"
    yield LintFinding(
        "NAME_CONTRADICTS_EFFECT", tool.name, "", message, mend, "error" if is_milder else "warning"
    )


def _unguarded(tool: Tool) -> Iterator[LintFinding]:
    for parameter in tool.parameters:
        if parameter.unguarded_reason:
            message = f"an unguarded {parameter.kind}, let through: {parameter.unguarded_reason}"
            yield LintFinding("UNGUARDED", tool.name, parameter.name, message, "judge the reason", "warning")
        elif not parameter.guarded:
            message = f"an unguarded {parameter.kind} from outside: every call asks a person"
            mend = "put a tool of your own before it, or give unguarded={…: reason}"
            yield LintFinding("ALWAYS_ASKS", tool.name, parameter.name, message, mend, "warning")


def _unread_docstring(tool: Tool) -> Iterator[LintFinding]:
    for title in tool.docs.unread:
        message = f"the docstring's section {title!r} was seen but nothing in it could be read"
        yield LintFinding(
            "DOCSTRING_UNREAD", tool.name, "", message, "write `name: words` lines, indented", "warning"
        )
    known = {parameter.name for parameter in tool.parameters}
    for name in tool.docs.parameters:
        if name not in known and name not in tool.insides.signature.hidden | tool.insides.signature.bound:
            message = "the docstring describes a parameter that the tool does not have"
            yield LintFinding("DOCSTRING_STALE", tool.name, name, message, "correct the name", "note")


def _name(tool: Tool) -> Iterator[LintFinding]:
    if len(tool.name) > LONGEST:
        message = f"the name has {len(tool.name)} characters; providers take {LONGEST}"
        yield LintFinding(
            "NAME_TOO_LONG", tool.name, "", message, "shorten it, or it will be mapped", "warning"
        )
    elif not PORTABLE.fullmatch(tool.name):
        message = "the name has characters that some providers refuse"
        yield LintFinding("NAME_NOT_PORTABLE", tool.name, "", message, "use letters, digits, _ and -", "note")


def _invisible(tool: Tool) -> Iterator[LintFinding]:
    """Characters that a reviewer does not see and a model reads."""
    texts = {
        "": tool.definition.description.text(),
        **{p.name: p.name + p.description for p in tool.parameters},
    }
    for parameter, text in texts.items():
        if hidden := sorted({c for c in tool.name + text if unicodedata.category(c) in {"Cf", "Co", "Cn"}}):
            points = ", ".join(f"U+{ord(character):04X}" for character in hidden)
            message = f"the text holds characters that cannot be seen: {points}"
            yield LintFinding("HIDDEN_CHARACTERS", tool.name, parameter, message, "remove them", "error")


def _unfit(tool: Tool) -> Iterator[LintFinding]:
    """Defaults and examples of parameters that a call could not send, and defaults that are not said."""
    schema = tool.definition.parameters
    properties = {n: p for n, p in schema.get("properties", {}).items() if isinstance(p, dict)}
    # Of a sample that stands alone it must not be said that all the others are missing.
    alone = Validator({keyword: held for keyword, held in schema.items() if keyword != "required"})
    for name, held in properties.items():
        samples = [held["default"]] if "default" in held else []
        for sample in (*samples, *held.get("examples", ())):
            found = alone.findings({name: sample})
            if any(f.where == pointer((name,)) or f.where.startswith(pointer((name, ""))) for f in found):
                message = "a default or an example does not fit the parameter's own schema"
                yield LintFinding(
                    "SAMPLE_UNFIT", tool.name, name, message, "correct the value or the type", "warning"
                )
    for field in tool.insides.model.fields if tool.insides.model else ():
        if field.slot.default is not NOTHING and not field.fills and "default" not in properties[field.name]:
            message = "the default is no JSON value, so the model is not told of it"
            mend = "say in the description what happens when it is left out"
            yield LintFinding("DEFAULT_UNPUBLISHED", tool.name, field.name, message, mend, "note")


def _wrong_modes(tool: Tool) -> Iterator[LintFinding]:
    reach = tool.insides.reach
    modes = {mode for path in reach.paths for mode in path.modes} | {t.mode for t in reach.templates}
    if tool.effect is Effect.READ and Mode.WRITE in modes:
        message = "the tool is said to read only, but declares what it writes"
        yield LintFinding(
            "READ_WRITES", tool.name, "", message, "correct its effect, or say reads(…)", "error"
        )
    # What is sent out may change nothing here.
    changes = tool.effect is Effect.WRITE or (tool.effect is not Effect.READ and not tool.egress)
    if changes and modes == {Mode.READ}:
        message = "the tool changes data but declares only what it reads: writes may run beside it"
        yield LintFinding("WRITES_UNDECLARED", tool.name, "", message, "declare writes(…) too", "warning")


def _unknown_instead(tool: Tool, names: frozenset[str]) -> Iterator[LintFinding]:
    instead = tool.definition.description.instead
    if instead and instead not in names:
        message = f"the tool to use instead, {instead!r}, is not in the set"
        yield LintFinding("INSTEAD_UNKNOWN", tool.name, "", message, "name a tool of the set", "error")


_RULES: Final[tuple[Callable[[Tool], Iterator[LintFinding]], ...]] = (
    _no_description,
    _undescribed,
    _unrecoverable,
    _contradicting,
    _unguarded,
    _unread_docstring,
    _name,
    _invisible,
    _unfit,
    _wrong_modes,
)
