"""From a Python callable, or a raw JSON Schema, to a ``Tool``: everything is decided here, once.

In: a callable with its options; or name, schema and what an MCP server says. Out: a ``Tool``. Promise: what
could not work in a run is refused now, with the tool and the parameter named and how to mend it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from callgate.calls import Description, Effect, Example, FrozenDict, ToolDefinition, freeze, freeze_arguments
from callgate.errors import ToolDeclarationError, UnsupportedSchemaError
from callgate.schema import (
    Docs,
    Model,
    Signature,
    Validator,
    build_model,
    close_objects,
    read_docstring,
    read_signature,
    strip,
)

from ._context import Context
from ._effects import MODES, NOTES, raised_by_hints, said_by_name, words
from ._markers import PREFIX, SOURCE, UNGUARDED
from ._options import ToolOptions
from ._reach import reach_of
from ._risk import Parameter, classify
from ._rules import make_rules
from ._tool import Insides, Tool

_PLAIN: Final = ToolOptions()
_MENDS: Final = {
    "path": "type it WorkspacePath",
    "command": "take a Literal of the commands that are meant",
    "url": "take a Literal or an id of what is meant",
}


@dataclass(frozen=True, slots=True)
class _Draft:
    """A tool between reading and making; ``schema`` still holds our annotations."""

    name: str
    schema: Mapping[str, Any]
    function: Callable[..., Any]
    options: ToolOptions
    signature: Signature
    docs: Docs
    model: Model | None = None


def declare(function: Callable[..., Any], options: ToolOptions = _PLAIN) -> Tool:
    """Make a tool of a Python callable.

    Raises:
        ToolDeclarationError: It cannot be published, or not safely; the facts name the parameter and the
            mend.
    """
    if isinstance(function, type) or not callable(function):
        message = "a tool is a function or an object with __call__"
        raise ToolDeclarationError(message, got=repr(function), mend="register an instance, or a function")
    signature = read_signature(function, (Context,), options.name)
    if not signature.name:
        message = "a lambda has no name of its own"
        raise ToolDeclarationError(message, mend="give name=…")
    effect = options.effect or said_by_name(signature.name)
    if effect is None:
        message = (
            "nobody said what this tool does to the world, and its name does not begin with a known verb"
        )
        mend = "declare effect=Effect.READ, WRITE, IRREVERSIBLE or EXECUTE"
        raise ToolDeclarationError(message, tool=signature.name, mend=mend)
    model, docs = build_model(signature), read_docstring(signature.doc)
    schema = _with_descriptions(model, docs)
    draft = _Draft(signature.name, schema, function, options, signature, docs, model)
    parameters = classify(schema)
    for parameter in parameters:
        _refuse_unguarded(parameter, draft)
    return _made(draft, effect, parameters)


def declare_schema(
    name: str,
    description: str,
    schema: Mapping[str, Any],
    function: Callable[..., Any],
    options: ToolOptions = _PLAIN,
) -> Tool:
    """Make a tool of a raw JSON Schema, as an MCP server publishes it.

    ``function`` takes the arguments as one dict; a second parameter annotated ``Context`` is injected.
    Objects that list their properties and do not speak of others are closed, so that a misspelled name is
    refused and not dropped.

    Raises:
        UnsupportedSchemaError: The schema cannot be compiled, refers to what is not in it, or is not one of
            an object.
        ToolDeclarationError: The name or an option cannot work.
    """
    if options.name and options.name != name:
        message = "the tool has two names"
        raise ToolDeclarationError(message, tool=name, name=options.name)
    signature = read_signature(function, (Context,), name)
    if len(signature.slots) != 1:
        message = "the function of a raw-schema tool takes the arguments as one dict"
        raise ToolDeclarationError(message, tool=name, mend="def call(arguments: dict[str, Any]) -> …")
    closed = _annotated(_object_schema(schema, name), options, name)
    effect = raised_by_hints(options.effect or said_by_name(name) or Effect.IRREVERSIBLE, options.hints)
    draft = _Draft(name, closed, function, options, signature, Docs(what=description))
    parameters = classify(closed)
    open_ones = [f"{p.name!r} is an unguarded {p.kind}" for p in parameters if not p.guarded]
    return replace(_made(draft, effect, parameters), always_ask="; ".join(open_ones))


def _object_schema(schema: Mapping[str, Any], tool: str) -> dict[str, Any]:
    """Arguments are always an object: a missing ``type`` says so, another one cannot be called."""
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        message = "the schema of a tool's parameters describes an object"
        raise UnsupportedSchemaError(message, tool=tool, where="#/type")
    closed: dict[str, Any] = close_objects({"type": "object", "properties": {}, **schema})
    return closed


def _annotated(schema: dict[str, Any], options: ToolOptions, tool: str) -> dict[str, Any]:
    """The schema with what the options say of its parameters; theirs is the only word that is believed."""
    schema = strip(schema, PREFIX)
    properties = dict(schema["properties"])
    for key, said in ((UNGUARDED, options.unguarded), (SOURCE, options.sources)):
        for name, value in said.items():
            if not isinstance(properties.get(name), Mapping):
                message = "an option names a parameter that the schema does not list"
                raise ToolDeclarationError(
                    message, tool=tool, parameter=name, option=key.removeprefix(PREFIX)
                )
            properties[name] = {**properties[name], key: [value]}
    return {**schema, "properties": properties}


def _with_descriptions(model: Model, docs: Docs) -> dict[str, Any]:
    """Words from the docstring where the annotation has none of its own."""
    properties = dict(model.schema["properties"])
    for field in model.fields:
        said = docs.parameters.get(field.slot.name) or docs.parameters.get(field.name)
        if said and not field.described:
            properties[field.name] = {**properties[field.name], "description": said}
    return {**model.schema, "properties": properties}


def _refuse_unguarded(parameter: Parameter, draft: _Draft) -> None:
    if parameter.guarded:
        return
    message = f"a {parameter.kind} that is plain text reaches whatever it names"
    mend = f"{_MENDS[parameter.kind]}, or let it through visibly: Annotated[str, unguarded('reason')]"
    raise ToolDeclarationError(message, tool=draft.name, parameter=parameter.name, mend=mend)


def _made(draft: _Draft, effect: Effect, parameters: tuple[Parameter, ...]) -> Tool:
    options = draft.options
    published = _published(draft)
    validator = _compiled(published, draft.name)
    names = tuple(published["properties"])
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
        choices=options.choices,
        result_limit=options.result_limit,
        tags=tuple(options.tags),
        phases=tuple(options.phases),
        polling=options.polling,
        parameters=parameters,
        expected_version=_expected_version(options.expected_version, names, draft.name),
        server=options.server,
        docs=draft.docs,
    )
    _refuse_bad_examples(tool)
    return tool


def _published(draft: _Draft) -> FrozenDict:
    try:
        frozen: FrozenDict = freeze(strip(draft.schema, PREFIX))
    except TypeError as problem:
        message = "the schema holds what is not JSON"
        raise UnsupportedSchemaError(message, tool=draft.name, why=str(problem)) from problem
    return frozen


def _compiled(schema: FrozenDict, tool: str) -> Validator:
    try:
        return Validator(schema)
    except UnsupportedSchemaError as problem:
        raise UnsupportedSchemaError(problem.message, **{**problem.facts, "tool": tool}) from problem


def _description(draft: _Draft, effect: Effect) -> Description:
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


def _sends_out(draft: _Draft, parameters: Sequence[Parameter]) -> bool:
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
