"""From a draft to a ``Tool``: what a Python callable and a raw JSON Schema have in common.

In: a name, an annotated schema, a function, options. Out: a ``Tool``. Promise: the published schema
compiles, the examples fit it, the description's note is the class's own, and nothing of our annotations is
published.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callgate.calls import (
    Description,
    Effect,
    Example,
    FrozenDict,
    ToolDefinition,
    freeze,
    freeze_arguments,
)
from callgate.errors import ToolDeclarationError, UnsupportedSchemaError
from callgate.schema import Docs, Model, Signature, Validator, strip

from ._effects import MODES, NOTES, words
from ._markers import PATH, PREFIX
from ._options import ToolOptions
from ._reach import reach_of
from ._risk import Parameter
from ._rules import make_rules
from ._tool import Insides, Tool


@dataclass(frozen=True, slots=True)
class Draft:
    """A tool between reading and making; ``schema`` still holds our annotations."""

    name: str
    schema: Mapping[str, Any]
    function: Callable[..., Any]
    options: ToolOptions
    signature: Signature
    docs: Docs
    model: Model | None = None


def make(draft: Draft, effect: Effect, parameters: tuple[Parameter, ...]) -> Tool:
    """Make the tool.

    Raises:
        UnsupportedSchemaError: The schema cannot be compiled, or refers to what is not in it.
        ToolDeclarationError: An option, an example, a check or a resource cannot work.
    """
    options = draft.options
    published = _published(draft)
    validator = compiled(published, draft.name)
    names = tuple(published.get("properties", ()))
    known = [slot.name for slot in draft.signature.slots] if draft.model else names
    insides = Insides(
        validator,
        reach_of(draft.schema, MODES[effect], options.accesses, draft.name),
        draft.signature,
        draft.model,
        make_rules(options.check, known, draft.name),
    )
    tool = Tool(
        definition=ToolDefinition.of(
            draft.name, _description(draft, effect), published, _examples(options.examples, draft.name)
        ),
        effect=effect,
        function=draft.function,
        insides=insides,
        egress=_sends_out(draft, parameters),
        idempotent=options.idempotent,
        is_async=_is_any(draft.function, inspect.iscoroutinefunction, inspect.isasyncgenfunction),
        is_generator=_is_any(draft.function, inspect.isgeneratorfunction, inspect.isasyncgenfunction),
        timeout_seconds=options.timeout_seconds,
        reconcile=options.reconcile,
        result_limit=options.result_limit,
        tags=tuple(options.tags),
        phases=tuple(options.phases),
        polling=options.polling,
        parameters=parameters,
        expected_version=_expected_version(options.expected_version, names, draft.name),
        server=options.server,
        docs=draft.docs,
    )
    _refuse_two_spellings(tool)
    _refuse_bad_examples(tool)
    _refuse_bad_reconcile(options.reconcile, draft.name)
    return tool


def _refuse_two_spellings(tool: Tool) -> None:
    """What a call touches is read off the text that was sent: the function must get that very value."""
    model, reach = tool.insides.model, tool.insides.reach
    if model is None:
        return
    named = dict.fromkeys(name for template in reach.templates for name in template.names)
    changed = [name for name in named if not model.keeps(name)]
    changed += (path.name for path in reach.paths if not model.keeps(path.name, PATH))
    if changed:
        message = "the type changes what names a resource, so that two spellings would be two resources"
        mend = "take text, a whole number or a closed set as it is; judge its form by a pattern or check=…"
        raise ToolDeclarationError(message, tool=tool.name, parameter=changed[0], mend=mend)


def _refuse_bad_reconcile(function: Callable[..., Any] | None, tool: str) -> None:
    """It is called after a crash only; that it cannot be called must not be found out then."""
    if function is None:
        return
    try:
        inspect.signature(function).bind(None, None)
    except TypeError as problem:
        message = "reconcile takes the context and the call: reconcile(ctx, call)"
        raise ToolDeclarationError(message, tool=tool, why=str(problem)) from problem


def _published(draft: Draft) -> FrozenDict:
    try:
        frozen: FrozenDict = freeze(strip(draft.schema, PREFIX))
    except TypeError as problem:
        message = "the schema holds what is not JSON"
        raise UnsupportedSchemaError(message, tool=draft.name, why=str(problem)) from problem
    return frozen


def compiled(schema: Any, tool: str) -> Validator:
    """The validator of a schema; raises ``UnsupportedSchemaError`` with the tool named."""
    try:
        return Validator(schema)
    except UnsupportedSchemaError as problem:
        raise UnsupportedSchemaError(problem.message, **{**problem.facts, "tool": tool}) from problem


def _description(draft: Draft, effect: Effect) -> Description:
    options, docs = draft.options, draft.docs
    return Description(
        what=options.what or docs.what,
        when=options.when,
        when_not=options.when_not,
        instead=options.instead,
        returns=options.returns or docs.returns,
        danger=options.danger or docs.danger,
        effect_note=NOTES[effect],
    )


def _examples(examples: Sequence[Example | tuple[str, Mapping[str, Any]]], tool: str) -> tuple[Example, ...]:
    made: list[Example] = []
    for example in examples:
        request, arguments = (example.request, example.arguments) if isinstance(example, Example) else example
        frozen = freeze_arguments(dict(arguments))
        if not isinstance(frozen, FrozenDict):
            message = "the arguments of an example are one JSON object"
            raise ToolDeclarationError(
                message, tool=tool, example=request, where=frozen.where, expected=frozen.expected
            )
        made.append(Example(request, frozen))
    return tuple(made)


def _refuse_bad_examples(tool: Tool) -> None:
    for example in tool.definition.examples:
        for finding in tool.findings(example.arguments):
            message = "an example does not fit the tool's own schema"
            facts = {"example": example.request, "where": finding.where, "expected": finding.expected}
            raise ToolDeclarationError(message, tool=tool.name, why=finding.code, **facts)


def _expected_version(said: str, names: Sequence[str], tool: str) -> str:
    if said and said not in names:
        message = "expected_version names a parameter that the tool does not have"
        raise ToolDeclarationError(message, tool=tool, parameter=said)
    return said or ("expected_version" if "expected_version" in names else "")


def _sends_out(draft: Draft, parameters: Sequence[Parameter]) -> bool:
    if draft.options.egress is not None:
        return draft.options.egress
    hinted = draft.options.hints.get("openWorldHint") is True
    return hinted or words(draft.name)[:1] == ["send"] or any(p.kind == "url" for p in parameters)


def _is_any(function: Any, *tests: Callable[[Any], bool]) -> bool:
    """Whether a callable, what its partials hold, or its ``__call__`` passes one of the tests."""
    current = function
    while isinstance(current, functools.partial):
        current = current.func
    if not inspect.isroutine(current):
        current = type(current).__call__
    return any(test(current) for test in tests)
