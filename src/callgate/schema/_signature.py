"""The signature of anything callable, with its annotations resolved.

In: a function, method, partial, or object with ``__call__``. Out: its parameters in order, those to be
hidden apart. Promise: what cannot be published is refused here, with the parameter named; a name in an
annotation is looked up where the function was written, never where a wrapper was.

PEP 563 (postponed annotations), PEP 612 and ``functools.wraps`` (``__wrapped__``).
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args, get_origin

import typing_extensions

from callgate.errors import ToolDeclarationError

NOTHING: Final = inspect.Parameter.empty
"""Stands for no default and no annotation."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One parameter as Python has it. ``default`` and ``annotation`` may be ``NOTHING``."""

    name: str
    annotation: Any
    default: Any


@dataclass(frozen=True, slots=True)
class Signature:
    """``hidden`` are injected and ``positional`` must go by position (of both sorts, in order).

    ``bound`` names what a partial fixed.

    ``extra`` is the ``T`` of ``**kwargs: T``. ``namespace`` is where the annotations were looked up.
    """

    slots: tuple[Slot, ...]
    hidden: frozenset[str]
    positional: tuple[Slot, ...]
    bound: frozenset[str]
    extra: Any
    doc: str
    name: str
    namespace: Mapping[str, Any]


def read_signature(function: Callable[..., Any], hidden: tuple[type, ...] = (), tool: str = "") -> Signature:
    """Read a callable.

    Raises:
        ToolDeclarationError: It has ``*args``, an untyped ``**kwargs``, an annotation that cannot be
            resolved, or no signature.
    """
    written = innermost(function)
    name = tool or own_name(function)
    try:
        parameters = inspect.signature(function).parameters
    except (ValueError, TypeError) as problem:
        message = "this callable has no signature that can be read"
        raise ToolDeclarationError(
            message, tool=name, mend="wrap it in a function with annotated parameters"
        ) from problem
    _refuse_self(parameters, name)
    bound = _bound(function)
    namespace = _namespace(function, written)
    slots: list[Slot] = []
    injected: set[str] = set()
    positional: list[Slot] = []
    extra: Any = NOTHING
    for parameter in parameters.values():
        if parameter.name in bound:
            continue
        _refuse_variadic(parameter, name)
        annotation = _resolved(parameter, namespace, name)
        slot = Slot(parameter.name, annotation, parameter.default)
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(slot)
        if parameter.kind is parameter.VAR_KEYWORD:
            extra = annotation
        elif _is_hidden(annotation, hidden):
            injected.add(slot.name)
        else:
            slots.append(slot)
    told = (_doc(function), name, namespace)
    return Signature(tuple(slots), frozenset(injected), tuple(positional), bound, extra, *told)


def innermost(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function whose source holds the annotations.

    It is reached through partials, methods, ``__wrapped__`` and ``__call__``.
    """
    current: Any = function
    while True:
        if isinstance(current, functools.partial):
            current = current.func
        elif inspect.ismethod(current):
            current = current.__func__
        elif hasattr(current, "__wrapped__"):
            current = current.__wrapped__
        elif (written := _written_call(current)) is not None:
            current = written
        else:
            return typing.cast("Callable[..., Any]", current)


def _written_call(value: Any) -> Any:
    """The ``__call__`` of an object, if it is written in Python; None for functions, classes, builtins."""
    if inspect.isroutine(value) or isinstance(value, type):
        return None
    call = inspect.getattr_static(type(value), "__call__", None)
    return call if inspect.isfunction(call) or hasattr(call, "__wrapped__") else None


def own_name(function: Callable[..., Any]) -> str:
    """The name a callable has of itself: of the function, of what a partial holds, or of its class.

    ``""`` for a lambda.
    """
    held = _held(function)
    name = getattr(held, "__name__", "") or type(held).__name__
    return "" if name == "<lambda>" else str(name)


def _doc(function: Callable[..., Any]) -> str:
    """Its own docstring; an object's ``__call__`` speaks before its class, and a partial not at all."""
    held = _held(function)
    if inspect.isroutine(held) or isinstance(held, type):
        return inspect.getdoc(held) or ""
    # getdoc would give an undocumented __call__ the words of `object`.
    return innermost(held).__doc__ or inspect.getdoc(type(held)) or ""


def _bound(function: Any) -> frozenset[str]:
    """What partials fixed. By name: Python leaves it in the signature, with a new default. By position.

    It is gone from there.
    """
    if not isinstance(function, functools.partial):
        return frozenset()
    inner = inspect.signature(function.func).parameters
    gone = inner.keys() - inspect.signature(function).parameters.keys()
    return _bound(function.func) | gone | function.keywords.keys()


def _namespace(function: Any, written: Any) -> dict[str, Any]:
    """Where names in annotations are looked up; later ones hide earlier ones, as in Python."""
    names = dict(getattr(written, "__globals__", {}))
    held = _held(function)
    owner = getattr(held, "__self__", None) if inspect.isroutine(held) else held
    kind = owner if isinstance(owner, type) else type(owner)
    for base in reversed(kind.__mro__[:-1]):
        names.update(vars(base))
    names.update(_enclosing(written))
    names.update(_closure(written))
    names.update({parameter.__name__: parameter for parameter in getattr(written, "__type_params__", ())})
    return names


def _held(function: Any) -> Any:
    """What partials hold."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _closure(written: Any) -> dict[str, Any]:
    names: dict[str, Any] = {}
    free = getattr(getattr(written, "__code__", None), "co_freevars", ())
    for name, cell in zip(free, getattr(written, "__closure__", None) or (), strict=False):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return names


def _enclosing(written: Any) -> dict[str, Any]:
    """The local names of the functions that enclose the definition, while they still run.

    A postponed annotation is text, so it makes no closure; a class defined beside the tool is found in the
    running frame only.
    """
    code: Any = getattr(written, "__code__", None)
    name = getattr(written, "__qualname__", "")
    found: list[Mapping[str, Any]] = []
    frame = inspect.currentframe() if code is not None and "<locals>" in name else None
    while frame is not None:
        here = frame.f_code
        if here.co_filename == code.co_filename and name.startswith(f"{here.co_qualname}.<locals>."):
            found.append(frame.f_locals)
        frame = frame.f_back
    return {name: value for names in reversed(found) for name, value in names.items()}


def _refuse_variadic(parameter: inspect.Parameter, tool: str) -> None:
    if parameter.kind is parameter.VAR_POSITIONAL:
        message = "a tool cannot take *args: a model names every value it gives"
        mend = f"replace *{parameter.name} with a list parameter"
        raise ToolDeclarationError(message, tool=tool, parameter=parameter.name, mend=mend)
    if parameter.kind is parameter.VAR_KEYWORD and parameter.annotation is NOTHING:
        message = "**kwargs without a type cannot be published"
        mend = f"name the parameters, or annotate **{parameter.name} with the type of its values"
        raise ToolDeclarationError(message, tool=tool, parameter=parameter.name, mend=mend)


def _refuse_self(parameters: Mapping[str, inspect.Parameter], tool: str) -> None:
    first = next(iter(parameters.values()), None)
    if first is not None and first.name in {"self", "cls"} and first.annotation is NOTHING:
        message = "a method without its object cannot be called"
        mend = "register the method of an instance: toolset.tool(instance.method)"
        raise ToolDeclarationError(message, tool=tool, parameter=first.name, mend=mend)


def _resolved(parameter: inspect.Parameter, namespace: Mapping[str, Any], tool: str) -> Any:
    if parameter.annotation is NOTHING:
        return NOTHING
    holder = types.SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    try:
        hints = typing_extensions.get_type_hints(holder, dict(namespace), None, include_extras=True)
    except NameError as problem:
        message = "the annotation names something that cannot be found where the function was written"
        mend = "define it at module level, or do not postpone the annotations of this module"
        raise ToolDeclarationError(
            message, tool=tool, parameter=parameter.name, name=problem.name, mend=mend
        ) from problem
    except (SyntaxError, TypeError, AttributeError) as problem:
        message = "the annotation cannot be evaluated"
        raise ToolDeclarationError(
            message, tool=tool, parameter=parameter.name, why=str(problem)
        ) from problem
    return hints[parameter.name]


def _is_hidden(annotation: Any, hidden: tuple[type, ...]) -> bool:
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return issubclass(annotation, hidden)
    origin = get_origin(annotation)
    if origin in {typing.Annotated, typing.Union, types.UnionType}:
        inner = get_args(annotation)[:1] if origin is typing.Annotated else get_args(annotation)
        return any(_is_hidden(one, hidden) for one in inner)
    return False
