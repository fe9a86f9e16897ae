"""``typing.TypedDict`` rebuilt as that of typing_extensions: before Python 3.12 pydantic takes no other.

In: an annotation. Out: the same, with each such class in it replaced by an equal one. Promise: what keys are
required, and every annotation, stay as they were; a class that refers to itself is left as it is.

PEP 589, PEP 655.
"""

from __future__ import annotations

import functools
import types
from typing import Annotated, Any, Literal, get_args, get_origin

import typing_extensions


def with_typed_dicts(annotation: Any, within: frozenset[Any] = frozenset()) -> Any:
    """Replace every ``typing.TypedDict`` that an annotation names, at any depth."""
    if typing_extensions.is_typeddict(annotation):
        return _rebuilt(annotation, within)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is None or origin is Literal or not arguments:
        return annotation
    if origin is Annotated:
        inner = with_typed_dicts(arguments[0], within)
        return annotation if inner is arguments[0] else Annotated[(inner, *annotation.__metadata__)]
    changed = tuple(with_typed_dicts(one, within) for one in arguments)
    if all(new is old for new, old in zip(changed, arguments, strict=True)):
        return annotation
    if origin is types.UnionType:
        return functools.reduce(lambda one, other: one | other, changed)
    return annotation.copy_with(changed) if hasattr(annotation, "copy_with") else origin[changed]


def _rebuilt(kind: Any, within: frozenset[Any]) -> Any:
    if kind in within:
        return kind
    hints = typing_extensions.get_type_hints(kind, include_extras=True)
    fields = {name: with_typed_dicts(hint, within | {kind}) for name, hint in hints.items()}
    if type(kind).__module__ != "typing" and all(fields[name] is hint for name, hint in hints.items()):
        return kind
    optional: frozenset[str] = getattr(kind, "__optional_keys__", frozenset())
    marked = {
        name: typing_extensions.NotRequired[hint] if name in optional and not _is_marked(hint) else hint
        for name, hint in fields.items()
    }
    functional: Any = typing_extensions.TypedDict
    made = functional(kind.__name__, marked)
    made.__doc__, made.__module__, made.__qualname__ = kind.__doc__, kind.__module__, kind.__qualname__
    return made


def _is_marked(hint: Any) -> bool:
    return get_origin(hint) in {typing_extensions.NotRequired, typing_extensions.Required}
