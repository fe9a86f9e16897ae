"""From a Python callable, or a raw JSON Schema, to a ``Tool``: everything is decided here, once.

In: a callable with its options; or name, schema and what an MCP server says. Out: a ``Tool``. Promise: what
could not work in a run is refused now, with the tool and the parameter named and how to mend it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from callgate.calls import Effect, pointer
from callgate.errors import ToolDeclarationError, UnsupportedSchemaError
from callgate.schema import Docs, Model, build_model, close_objects, read_docstring, read_signature, strip

from ._context import Context
from ._effects import raised_by_hints, said_by_name
from ._making import Draft, compiled, make
from ._markers import PREFIX, UNGUARDED, Marker, source, unguarded
from ._options import ToolOptions
from ._risk import Parameter, classify
from ._tool import Tool

_PLAIN: Final = ToolOptions()
_MARKS: Final[dict[str, Callable[[Any], Marker]]] = {"unguarded": unguarded, "sources": source}
_MENDS: Final = {
    "path": "type it WorkspacePath",
    "command": "take a Literal of the commands that are meant",
    "url": "take a Literal or an id of what is meant",
}


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
    draft = Draft(signature.name, schema, function, options, signature, docs, model)
    parameters = _with_options(classify(schema), options, signature.name)
    for parameter in parameters:
        _refuse_unguarded(parameter, draft)
    return make(draft, raised_by_hints(effect, options.hints), parameters)


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
    # What a server says of its own parameters is not believed; the options are the host's word.
    closed = strip(_object_schema(schema, name), PREFIX)
    effect = raised_by_hints(options.effect or said_by_name(name) or Effect.IRREVERSIBLE, options.hints)
    draft = Draft(name, closed, function, options, signature, Docs(what=description))
    parameters = _with_options(classify(closed), options, name)
    open_ones = (f"{p.name!r} is an unguarded {p.kind}" for p in parameters if not p.guarded)
    return replace(make(draft, effect, parameters), always_ask="; ".join(dict.fromkeys(open_ones)))


def _object_schema(schema: Mapping[str, Any], tool: str) -> dict[str, Any]:
    """Arguments are always an object: a missing ``type`` says so, another one cannot be called."""
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        message = "the schema of a tool's parameters describes an object"
        raise UnsupportedSchemaError(message, tool=tool, where="#/type")
    compiled(schema, tool)
    closed: dict[str, Any] = close_objects({"type": "object", **schema})
    return closed


def _with_options(
    parameters: tuple[Parameter, ...], options: ToolOptions, tool: str
) -> tuple[Parameter, ...]:
    """The parameters with what the options say of them, by name or by place."""
    for option, mark in _MARKS.items():
        for name, value in getattr(options, option).items():
            facts = {"tool": tool, "parameter": name, "option": option}
            try:
                marked = mark(value)
            except ToolDeclarationError as problem:
                raise ToolDeclarationError(problem.message, **{**problem.facts, **facts}) from problem
            meant = {name, pointer((name,))}.intersection(parameter.where for parameter in parameters)
            if not meant:
                message = "an option names a parameter that the schema does not list"
                raise ToolDeclarationError(message, **facts)
            parameters = tuple(_marked(p, marked) if p.where in meant else p for p in parameters)
    return parameters


def _marked(parameter: Parameter, marker: Marker) -> Parameter:
    if marker.key == UNGUARDED:
        return replace(parameter, guarded=True, unguarded_reason=marker.value)
    return replace(parameter, source=marker.value)


def _with_descriptions(model: Model, docs: Docs) -> dict[str, Any]:
    """Words from the docstring where the annotation has none of its own."""
    properties = dict(model.schema["properties"])
    for field in model.fields:
        said = docs.parameters.get(field.slot.name) or docs.parameters.get(field.name)
        if said and not field.described:
            properties[field.name] = {**properties[field.name], "description": said}
    return {**model.schema, "properties": properties}


def _refuse_unguarded(parameter: Parameter, draft: Draft) -> None:
    if parameter.guarded:
        return
    message = f"a {parameter.kind} that is plain text reaches whatever it names"
    mend = f"{_MENDS[parameter.kind]}, or let it through visibly: Annotated[str, unguarded('reason')]"
    raise ToolDeclarationError(message, tool=draft.name, parameter=parameter.name, mend=mend)
