"""Moves that turn one tidy JSON Schema into another.

In: a schema of ``_tidy``. Out: a new one; the given one is not changed. Promise: what fitted the given schema
fits the new one, or the loss is reported. JSON Schema 2020-12 (Core and Validation).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from ._tidy import ANNOTATIONS, Report, Tidy, words

_FOR: Final[Mapping[str, frozenset[str]]] = {
    "string": words("minLength maxLength pattern format contentEncoding contentMediaType"),
    "number": words("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
    "array": words("items prefixItems contains minContains maxContains minItems maxItems uniqueItems")
    | words("unevaluatedItems"),
    "object": words("properties patternProperties additionalProperties propertyNames unevaluatedProperties")
    | words("required dependentRequired dependentSchemas minProperties maxProperties"),
}
"""Type → the keywords that say something of its values only."""
_OF_A_TYPE: Final = frozenset().union(*_FOR.values())
_MERGED: Final = ("allOf", "anyOf", "oneOf")


def note(schema: dict[str, Any], keyword: str, value: Any) -> None:
    """Tell in a schema's description what a keyword would have said."""
    told = f"({keyword}: {json.dumps(value, ensure_ascii=False)})"
    schema["description"] = f"{schema['description']} {told}" if schema.get("description") else told


def types_of(schema: Mapping[str, Any]) -> list[str]:
    """The types a schema names; none where it does not name any."""
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def concerns(keyword: str, kinds: list[str]) -> bool:
    """Whether a keyword says something of values of these types: ``items`` says nothing of a string."""
    return keyword not in _OF_A_TYPE or any(
        keyword in _FOR.get("number" if kind == "integer" else kind, ()) for kind in kinds
    )


def type_of(value: Any) -> str:
    """The narrowest JSON Schema type of a JSON value."""
    if value is None:
        return "null"
    for kind, name in ((bool, "boolean"), (str, "string"), (dict, "object"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "integer" if isinstance(value, int) or value.is_integer() else "number"


def is_of(value: Any, kinds: list[str]) -> bool:
    """Whether a JSON value is of one of the types; an integer is a number too."""
    kind = type_of(value)
    return kind in kinds or (kind == "integer" and "number" in kinds)


def by_type(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A list of types as alternatives, each with the keywords that concern it: some providers take no list.

    Every branch is a schema of one type; copying all keywords into all branches would make each of them
    invalid there.
    """
    out = {keyword: value for keyword, value in schema.items() if keyword in ANNOTATIONS}
    shared = {
        keyword: value
        for keyword, value in schema.items()
        if keyword not in out and keyword not in _OF_A_TYPE and keyword not in ("type", "enum", "const")
    }
    branches = []
    for kind in types_of(schema):
        held = [value for value in _listed(schema) if is_of(value, [kind])]
        if held or not ("enum" in schema or "const" in schema):
            own = _OF_A_TYPE & schema.keys()
            branch = {
                keyword: schema[keyword] for keyword in schema if keyword in own and concerns(keyword, [kind])
            }
            branches.append({"type": kind, **branch, **({"enum": held} if held else {}), **shared})
    return {**out, "anyOf": branches or [{"type": kind} for kind in types_of(schema)]}


def _listed(schema: Mapping[str, Any]) -> list[Any]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def allows_null(schema: Mapping[str, Any], tidied: Tidy, seen: frozenset[str] = frozenset()) -> bool:
    """Whether ``null`` fits, as far as types, listed values, alternatives and references say."""
    kinds = types_of(schema)
    if (kinds and "null" not in kinds) or ("const" in schema and schema["const"] is not None):
        return False
    if "enum" in schema and None not in schema["enum"]:
        return False
    if "anyOf" in schema and not any(allows_null(branch, tidied, seen) for branch in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(allows_null(branch, tidied, seen) for branch in schema["oneOf"]) != 1:
        return False
    if not all(allows_null(branch, tidied, seen) for branch in schema.get("allOf", ())):
        return False
    reference = schema.get("$ref")
    if reference is None or reference in seen:
        return True
    return allows_null(tidied.target(reference), tidied, seen | {reference})


def plain_top(tidied: Tidy, report: Report) -> Tidy:
    """The parameters as one object with named properties, without reference or alternatives at the top.

    Alternatives are merged: a parameter of any of them may be given, one that all of them require stays
    required. OpenAI and Anthropic refuse a request in which one tool is otherwise.
    """
    top = _merged(tidied.schema, tidied, report, ())
    for keyword in ("enum", "const", "not"):
        if keyword in top:
            report((keyword,), "not taken at the top level; dropped")
            del top[keyword]
    if types_of(top) not in ([], ["object"]):
        report(("type",), "arguments are always an object")
    return Tidy({**top, "type": "object", "properties": top.get("properties", {})}, tidied.definitions)


def _merged(given: Mapping[str, Any], tidied: Tidy, report: Report, seen: tuple[str, ...]) -> dict[str, Any]:
    out = dict(given)
    if (reference := out.pop("$ref", None)) is not None and reference not in seen:
        target = _merged(tidied.target(reference), tidied, report, (*seen, reference))
        out = _joined({key: value for key, value in target.items() if key not in ANNOTATIONS}, out)
        for keyword, value in target.items():
            if keyword in ANNOTATIONS:
                out.setdefault(keyword, value)
    for keyword in _MERGED:
        if keyword not in out:
            continue
        branches = [_merged(branch, tidied, report, seen) for branch in out.pop(keyword)]
        if keyword == "allOf":
            for branch in branches:
                out = _joined(out, branch)
        else:
            report((keyword,), "alternatives are not taken at the top level; merged into one object")
            out = _either(out, branches)
    return out


def _joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """An object that both describe; closed where one of them is."""
    out = {**one, **other}
    properties = dict(one.get("properties", {}))
    for name, schema in other.get("properties", {}).items():
        held = properties.get(name, schema)
        properties[name] = held if held == schema else {"allOf": [held, schema]}
    out["properties"] = properties
    out["required"] = list(dict.fromkeys([*one.get("required", ()), *other.get("required", ())]))
    if "patternProperties" in out:
        out["patternProperties"] = {**one.get("patternProperties", {}), **other.get("patternProperties", {})}
    if _is_closed(one):
        out["additionalProperties"] = False
    return out


def _either(base: dict[str, Any], branches: list[dict[str, Any]]) -> dict[str, Any]:
    """An object that any of the branches describes; closed where all of them are."""
    found: dict[str, list[Any]] = {}
    for branch in branches:
        for name, schema in branch.get("properties", {}).items():
            schemas = found.setdefault(name, [])
            if schema not in schemas:
                schemas.append(schema)
    # What the object itself says of a parameter holds in every branch.
    properties = {name: held[0] if len(held) == 1 else {"anyOf": held} for name, held in found.items()}
    required = [branch.get("required", ()) for branch in branches]
    always = [name for name in required[0] if all(name in names for names in required)]
    out = {
        **base,
        "properties": {**properties, **base.get("properties", {})},
        "required": list(dict.fromkeys([*base.get("required", ()), *always])),
    }
    if all(_is_closed(branch) and "patternProperties" not in branch for branch in branches):
        out["additionalProperties"] = False
    if len(branches) > 1 and all(required):
        note(out, "give all of one of these", required)
    return out


def _is_closed(schema: Mapping[str, Any]) -> bool:
    return schema.get("additionalProperties") is False
