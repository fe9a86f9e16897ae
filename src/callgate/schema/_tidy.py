"""Any JSON Schema somebody published → a schema of draft 2020-12 that stands on its own.

In: a tool's parameters as they came, of any draft and perhaps not quite a schema. Out: ``Tidy``: the schema,
and what had to be left out. Promise: the output is valid against the 2020-12 meta-schema; it refers to
nothing but its own ``$defs``; it holds no keyword without meaning there; it never says less by accident: each
keyword that goes, and meant something, is reported.

Providers check the tools of a request together, and one schema that is not quite right refuses them all. JSON
Schema 2020-12 (Core and Validation); the older spellings are those of draft-04 and draft-07.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ._walk import Path, find

MAX_DEPTH: Final = 64
"""Levels of sub-schemas; deeper ones are left open."""

Report = Callable[[Path, str], None]


def words(text: str) -> frozenset[str]:
    """A set of words, written as a line of them."""
    return frozenset(text.split())


TYPES: Final = words("null boolean object array number integer string")

ONE: Final = words("items contains additionalProperties propertyNames not if then else") | words(
    "unevaluatedItems unevaluatedProperties"
)
"""Keywords whose value is a schema."""
LIST: Final = words("anyOf oneOf allOf prefixItems")
"""Keywords whose value is a list of schemas."""
TABLE: Final = words("properties patternProperties dependentSchemas")
"""Keywords whose value names schemas."""
ANNOTATIONS: Final = words(
    "title description default examples deprecated readOnly writeOnly contentEncoding contentMediaType"
)
"""Keywords that forbid nothing."""
_BOOLEAN: Final = words("additionalProperties unevaluatedItems unevaluatedProperties")
"""Where providers take ``true`` and ``false`` for a schema; elsewhere some refuse the request."""
_SILENT: Final = words("$schema $id id $comment $anchor $defs definitions $vocabulary")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_type(value: Any) -> bool:
    return (
        value in TYPES
        if isinstance(value, str)
        else _is_names(value) and bool(value) and TYPES.issuperset(value)
    )


_PLAIN: Final[Mapping[str, Callable[[Any], bool]]] = {
    "type": _is_type,
    "enum": lambda value: isinstance(value, list) and bool(value),
    "const": lambda _: True,
    "default": lambda _: True,
    "examples": lambda value: isinstance(value, list),
    "required": _is_names,
    "dependentRequired": lambda value: isinstance(value, dict) and all(map(_is_names, value.values())),
    "multipleOf": lambda value: _is_number(value) and value > 0,
    **dict.fromkeys(words("minimum maximum exclusiveMinimum exclusiveMaximum"), _is_number),
    **dict.fromkeys(words("minLength maxLength minItems maxItems minContains maxContains"), _is_count),
    **dict.fromkeys(words("minProperties maxProperties"), _is_count),
    **dict.fromkeys(words("title description format pattern contentEncoding contentMediaType"), _is_text),
    **dict.fromkeys(
        words("uniqueItems deprecated readOnly writeOnly"), lambda value: isinstance(value, bool)
    ),
}
"""Keyword whose value holds no schema → whether the value is one that 2020-12 allows."""


class Tidy(NamedTuple):
    """A schema and, by name, those its ``$ref`` lead to."""

    schema: dict[str, Any]
    definitions: dict[str, dict[str, Any]]

    def target(self, reference: str) -> dict[str, Any]:
        """What a ``$ref`` of this schema leads to."""
        return self.definitions[reference.removeprefix("#/$defs/")]

    def whole(self) -> dict[str, Any]:
        """One schema, the definitions in it."""
        return {**self.schema, "$defs": self.definitions} if self.definitions else self.schema


def tidy(parameters: Mapping[str, Any], report: Report) -> Tidy:
    """Tidy a tool's parameters; ``report`` is told each thing that had to go."""
    work = _Tidying(parameters, report)
    schema = work.schema(parameters, ())
    while work.waiting:
        reference, name = work.waiting.popitem()
        work.definitions[name] = work.schema(find(parameters, reference), ("$defs", name))
    return Tidy(schema, dict(sorted(work.definitions.items())))


class _Tidying:
    """One run over one schema. References become definitions; each target is visited once, so cycles end."""

    def __init__(self, root: Mapping[str, Any], report: Report) -> None:
        self.root = root
        self.report = report
        self.names: dict[str, str] = {}
        self.waiting: dict[str, str] = {}
        self.definitions: dict[str, dict[str, Any]] = {}

    def schema(self, value: Any, path: Path) -> dict[str, Any]:
        """A schema in place of any value that should be one."""
        if value is True:
            return {}
        if not isinstance(value, dict):
            what = "nothing fits here; left open" if value is False else "not a schema; left open"
            self.report(path, what)
            return {}
        if len(path) > 2 * MAX_DEPTH:
            self.report(path, f"deeper than {MAX_DEPTH} levels; left open")
            return {}
        out: dict[str, Any] = {}
        for keyword, held in _renewed(value).items():
            self._keyword(out, keyword, held, (*path, keyword))
        if "$ref" in value:
            self._reference(out, value["$ref"], (*path, "$ref"))
        return out

    def _keyword(self, out: dict[str, Any], keyword: str, value: Any, path: Path) -> None:
        if keyword in _PLAIN:
            if _PLAIN[keyword](value):
                out[keyword] = value
            else:
                self.report(path, "not a value this keyword takes; dropped")
        elif keyword in ONE:
            out[keyword] = (
                value if isinstance(value, bool) and keyword in _BOOLEAN else self.schema(value, path)
            )
        elif keyword in LIST:
            self._list(out, keyword, value, path)
        elif keyword in TABLE:
            self._table(out, keyword, value, path)
        elif keyword.startswith("$") and keyword not in _SILENT and keyword != "$ref":
            self.report(path, "not a keyword that can be sent; dropped")

    def _list(self, out: dict[str, Any], keyword: str, value: Any, path: Path) -> None:
        if not isinstance(value, list) or not value:
            self.report(path, "not a list of schemas; dropped")
            return
        branches = [
            (place, branch) for place, branch in enumerate(value) if branch is not False or keyword != "anyOf"
        ]
        out[keyword] = [self.schema(branch, (*path, place)) for place, branch in branches] or [{}]

    def _table(self, out: dict[str, Any], keyword: str, value: Any, path: Path) -> None:
        if not isinstance(value, dict):
            self.report(path, "not a table of schemas; dropped")
            return
        out[keyword] = {}
        for name, held in value.items():
            if held is False and keyword == "properties":
                self.report((*path, name), "nothing fits here; dropped")
            else:
                out[keyword][name] = self.schema(held, (*path, name))

    def _reference(self, out: dict[str, Any], reference: Any, path: Path) -> None:
        is_local = isinstance(reference, str) and reference.startswith("#")
        if not is_local or not isinstance(find(self.root, reference), dict | bool):
            self.report(path, "leads out of the schema, or nowhere; left open")
            return
        if reference not in self.names:
            name = _definition_name(reference, set(self.names.values()))
            self.names[reference] = self.waiting[reference] = name
        out["$ref"] = f"#/$defs/{self.names[reference]}"


def _renewed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The spellings of older drafts in those of 2020-12."""
    out = dict(schema)
    if isinstance(out.get("items"), list):
        out["prefixItems"] = out.pop("items")
        if "additionalItems" in out:
            out["items"] = out.pop("additionalItems")
    for bound, keyword in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(out.get(keyword), bool):
            exclusive = out.pop(keyword)
            if exclusive and bound in out:
                out[keyword] = out.pop(bound)
    if isinstance(dependencies := out.pop("dependencies", None), dict):
        for name, held in dependencies.items():
            keyword = "dependentRequired" if isinstance(held, list) else "dependentSchemas"
            out[keyword] = {**out.get(keyword, {}), name: held}
    if isinstance(out.get("required"), bool):
        del out["required"]
    return out


def _definition_name(reference: str, taken: set[str]) -> str:
    """The last step of the reference as a plain name, numbered where another definition has it."""
    stem = re.sub(r"[^a-zA-Z0-9_.-]+", "_", reference.lstrip("#").rpartition("/")[2]) or "root"
    name, number = stem, 2
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    return name
