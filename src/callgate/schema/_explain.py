"""From a validator's error to a finding that a model can act on.

In: an error of jsonschema-rs and the schema it came from. Out: findings of the structure layer. Promise: the
pointer names the missing or unknown key itself; expectations come from the schema, never from the value that
was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from callgate.calls import Finding, pointer

from ._nearest import nearest
from ._walk import resolve

_SHOWN: Final = 20
"""Values of an enumeration, or names, that one finding lists."""
_LONGEST: Final = 300
"""Characters of an expectation."""


def explain(error: Any, schema: Any) -> Iterator[Finding]:
    """The findings of one validation error (``schema`` is the document that was compiled)."""
    yield from _EXPLAIN.get(error.kind.name, _mismatch)(error, schema)


def describe(schema: Any, document: Any) -> str:
    """A schema in a few words: what a model is told that a place expects."""
    told = dict.fromkeys(_words(leaf) for leaf in _leaves(schema, document, set()))
    return _short(" or ".join(text for text in told if text))


def _leaves(schema: Any, document: Any, seen: set[int]) -> Iterator[dict[str, Any]]:
    """The schemas that alternatives come down to, each once."""
    here = resolve(document, schema)
    branches = here.get("anyOf", here.get("oneOf"))
    if "const" in here or isinstance(here.get("enum"), list) or not isinstance(branches, list):
        yield here
    elif id(schema) not in seen:
        seen.add(id(schema))
        for branch in branches:
            yield from _leaves(branch, document, seen)


def _words(here: dict[str, Any]) -> str:
    if "const" in here:
        return _json(here["const"])
    if isinstance(here.get("enum"), list):
        return _one_of(here["enum"])
    types = here.get("type", ())
    told = " or ".join([types] if isinstance(types, str) else types)
    return f"{told} ({here['format']})" if isinstance(here.get("format"), str) and told else told


def _schema_at(error: Any, document: Any) -> dict[str, Any]:
    """The schema that holds the failing keyword.

    The validator's ``schema_path`` has references followed already.
    """
    current: Any = document
    for step in list(error.schema_path)[:-1]:
        try:
            current = current[step]
        except (KeyError, IndexError, TypeError):
            return {}
    return resolve(document, current)


def _at(error: Any, *more: str | int) -> str:
    return pointer((*error.instance_path, *more))


def _missing(error: Any, document: Any) -> Iterator[Finding]:
    name = error.kind.property
    properties = _schema_at(error, document).get("properties")
    expected = describe(properties.get(name), document) if isinstance(properties, dict) else ""
    yield Finding("MISSING_PARAMETER", _at(error, name), expected or "a value", f"add {name!r}")


def _unknown(error: Any, document: Any) -> Iterator[Finding]:
    properties = _schema_at(error, document).get("properties")
    known = list(properties) if isinstance(properties, dict) else []
    expected = f"only {_names(known)}" if known else "no parameters"
    for name in error.kind.unexpected:
        near = nearest(name, known)
        mend = f"did you mean {near!r}?" if near else "leave it out"
        yield Finding("UNKNOWN_PARAMETER", _at(error, name), expected, mend)


def _unknown_items(error: Any, _document: Any) -> Iterator[Finding]:
    yield Finding(
        "WRONG_SIZE", _at(error), "no more items than the schema lists", "leave the other items out"
    )


def _wrong_type(error: Any, _document: Any) -> Iterator[Finding]:
    yield Finding("WRONG_TYPE", _at(error), _types(error.kind.types))


def _not_in_enum(error: Any, _document: Any) -> Iterator[Finding]:
    kind = error.kind
    options = kind.options if kind.name == "enum" else [kind.expected_value]
    yield Finding("NOT_IN_ENUM", _at(error), _one_of(options), _nearest_option(error.instance, options))


def _nearest_option(value: Any, options: Iterable[Any]) -> str:
    if not isinstance(value, str):
        return ""
    near = nearest(value, [option for option in options if isinstance(option, str)])
    return f"did you mean {near!r}?" if near else ""


def _bound(words: str, code: str, attribute: str = "limit") -> Callable[[Any, Any], Iterator[Finding]]:
    def told(error: Any, _document: Any) -> Iterator[Finding]:
        yield Finding(code, _at(error), words.format(getattr(error.kind, attribute)))

    return told


def _unique(error: Any, _document: Any) -> Iterator[Finding]:
    yield Finding("SCHEMA_MISMATCH", _at(error), "items that differ from one another")


def _pattern(error: Any, _document: Any) -> Iterator[Finding]:
    """A pattern that was tried for too long refuses too: nobody knows whether it would match."""
    pattern = getattr(error.kind, "pattern", None)
    if pattern is not None:
        yield Finding("WRONG_FORMAT", _at(error), _short(f"text that matches {pattern}"))
    else:
        expected = "text that the declared pattern can be tried on"
        yield Finding("WRONG_FORMAT", _at(error), expected, "write it shorter and plainer")


def _alternatives(error: Any, document: Any) -> Iterator[Finding]:
    """One branch is usually meant: the one that fits furthest.

    Say what it lacks, or what all branches take.
    """
    here = len(error.instance_path)
    branches = [branch for branch in error.kind.context if branch]
    meant = [branch for branch in branches if not _is_other(branch, here)]
    meant = [branch for branch in meant if not _has_other_tag(branch, here)] or meant
    flat = [inner for branch in branches for inner in branch if len(inner.instance_path) == here]
    if len(flat) == len(branches) and all(inner.kind.name in _SCALAR for inner in flat):
        yield from _scalars(error, flat)
    elif len(meant) == 1:
        for inner in meant[0]:
            yield from explain(inner, document)
    elif meant:
        yield Finding("SCHEMA_MISMATCH", _at(error), "one of the declared forms")
    else:
        yield Finding("WRONG_TYPE", _at(error), describe(_schema_at(error, document), document))


_SCALAR: Final = frozenset({"enum", "const", "type"})


def _is_other(branch: list[Any], here: int) -> bool:
    return any(inner.kind.name == "type" and len(inner.instance_path) == here for inner in branch)


def _has_other_tag(branch: list[Any], here: int) -> bool:
    """Whether a member that tells the branches apart (OpenAPI calls it the discriminator) is another one."""
    return any(
        inner.kind.name in {"const", "enum"} and len(inner.instance_path) == here + 1 for inner in branch
    )


def _scalars(error: Any, flat: list[Any]) -> Iterator[Finding]:
    options: list[Any] = []
    types: list[str] = []
    for inner in flat:
        kind = inner.kind
        if kind.name == "type":
            types.extend(kind.types)
        else:
            options.extend(kind.options if kind.name == "enum" else [kind.expected_value])
    words = [_one_of(options)] if options else []
    expected = " or ".join([*words, _types(types)] if types else words)
    code = "NOT_IN_ENUM" if options else "WRONG_TYPE"
    yield Finding(code, _at(error), expected, _nearest_option(error.instance, options))


def _several(error: Any, _document: Any) -> Iterator[Finding]:
    yield Finding("SCHEMA_MISMATCH", _at(error), "exactly one of the declared forms; the value fits several")


def _one_of_error(error: Any, document: Any) -> Iterator[Finding]:
    several = type(error.kind).__name__.endswith("OneOfMultipleValid")
    yield from (_several if several else _alternatives)(error, document)


def _false(error: Any, _document: Any) -> Iterator[Finding]:
    if error.instance_path and isinstance(error.instance_path[-1], str):
        yield Finding("UNKNOWN_PARAMETER", _at(error), "no such parameter", "leave it out")
    else:
        yield Finding("SCHEMA_MISMATCH", _at(error), "no value")


def _bad_name(error: Any, _document: Any) -> Iterator[Finding]:
    inner = error.kind.error
    name = inner.instance if isinstance(inner.instance, str) else ""
    expected = "a name that the schema's propertyNames allows"
    yield Finding("UNKNOWN_PARAMETER", _at(error, name), expected, "leave it out")


def _mismatch(error: Any, _document: Any) -> Iterator[Finding]:
    yield Finding("SCHEMA_MISMATCH", _at(error), f"a value that fits the schema's {error.kind.name!r}")


_EXPLAIN: Final[dict[str, Callable[[Any, Any], Iterator[Finding]]]] = {
    "required": _missing,
    "dependentRequired": _missing,
    "additionalProperties": _unknown,
    "unevaluatedProperties": _unknown,
    "additionalItems": _unknown_items,
    "unevaluatedItems": _unknown_items,
    "type": _wrong_type,
    "enum": _not_in_enum,
    "const": _not_in_enum,
    "minimum": _bound("at least {}", "OUT_OF_RANGE"),
    "maximum": _bound("at most {}", "OUT_OF_RANGE"),
    "exclusiveMinimum": _bound("more than {}", "OUT_OF_RANGE"),
    "exclusiveMaximum": _bound("less than {}", "OUT_OF_RANGE"),
    "multipleOf": _bound("a multiple of {}", "OUT_OF_RANGE", "multiple_of"),
    "minLength": _bound("at least {} characters", "WRONG_SIZE"),
    "maxLength": _bound("at most {} characters", "WRONG_SIZE"),
    "minItems": _bound("at least {} items", "WRONG_SIZE"),
    "maxItems": _bound("at most {} items", "WRONG_SIZE"),
    "minProperties": _bound("at least {} names", "WRONG_SIZE"),
    "maxProperties": _bound("at most {} names", "WRONG_SIZE"),
    "format": _bound("text in the format {}", "WRONG_FORMAT", "format"),
    "pattern": _pattern,
    "contentEncoding": _bound("text encoded as {}", "WRONG_FORMAT", "content_encoding"),
    "contentMediaType": _bound("text that is {}", "WRONG_FORMAT", "content_media_type"),
    "uniqueItems": _unique,
    "anyOf": _alternatives,
    "oneOf": _one_of_error,
    "propertyNames": _bad_name,
    "falseSchema": _false,
}


def _types(types: Iterable[str]) -> str:
    return " or ".join(sorted(dict.fromkeys(types), key="null".__eq__))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _one_of(options: Iterable[Any]) -> str:
    shown = [_json(option) for option in options]
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return _short("one of " + ", ".join(shown[:_SHOWN]) + more) if len(shown) != 1 else _short(shown[0])


def _names(known: list[str]) -> str:
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return _short(", ".join(known[:_SHOWN]) + more)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
