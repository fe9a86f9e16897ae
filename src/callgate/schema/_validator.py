"""A compiled JSON Schema and what it finds in a value.

In: a schema; then values. Out: findings of the structure layer, none for a valid value. Promise: nothing is
fetched, formats are asserted, no finding repeats a value; a schema that cannot be compiled, or refers to
what is not in it, is refused at once.

JSON Schema 2020-12 (default), and the drafts 2019-09, 07, 06 and 04 where ``$schema`` names them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import jsonschema_rs

from callgate.calls import Finding, thaw
from callgate.errors import UnsupportedSchemaError

from ._alternatives import by_tag, is_endless
from ._explain import explain
from ._walk import find, place, subschemas

MAX_FINDINGS: Final = 8
"""Of one value; more would not help anyone to mend it."""
_MAX_ERRORS: Final = 64
"""Errors looked at for them: some are merged or say the same twice."""
_SOMEHOW: Final = (Finding("SCHEMA_MISMATCH", "", "a value that fits the schema's forms, inside as well"),)
"""For a value in which alternatives lie so deep in one another that naming the fault would take for ever."""
_DRAFTS: Final = {
    "2020-12": jsonschema_rs.Draft202012,
    "2019-09": jsonschema_rs.Draft201909,
    "draft-07": jsonschema_rs.Draft7,
    "draft-06": jsonschema_rs.Draft6,
    "draft-04": jsonschema_rs.Draft4,
}


class Validator:
    """A schema, compiled.

    Args:
        schema: The schema as data; ``$schema`` chooses the draft.
        resources: Other documents it may refer to, by absolute URI.

    Raises:
        UnsupportedSchemaError: It is no valid schema, names an unknown draft, or refers to what is not there.
    """

    __slots__ = ("_compiled", "_telling", "_told", "schema")

    def __init__(self, schema: Any, resources: Mapping[str, Any] | None = None) -> None:
        self.schema = schema
        self._compiled = _compile(schema, resources)
        # What is valid is asked of the schema itself; what is wrong, of one that can say it in a few words.
        self._told = by_tag(schema)
        self._telling = self._compiled if self._told == schema else _compile(self._told, resources)

    def is_valid(self, value: Any) -> bool:
        """Whether the value fits the schema."""
        return bool(self._compiled.is_valid(value))

    def findings(self, value: Any) -> tuple[Finding, ...]:
        """What is wrong with a JSON value: at most 8 findings, each place and code once.

        ``()`` when it fits.
        """
        if self._compiled.is_valid(value):
            return ()
        found: dict[tuple[str, str], Finding] = {}
        if not is_endless(self._told, value):
            for count, error in enumerate(self._telling.iter_errors(value)):
                for finding in explain(error, self._told):
                    found.setdefault((finding.code, finding.where), finding)
                if len(found) >= MAX_FINDINGS or count >= _MAX_ERRORS:
                    break
        return tuple(found.values())[:MAX_FINDINGS] or _SOMEHOW


def _compile(schema: Any, resources: Mapping[str, Any] | None) -> Any:
    if not resources:
        _refuse_foreign(schema)
    try:
        # The compiler takes dicts and lists, but no subclass of list.
        return jsonschema_rs.validator_for(
            thaw(schema), offline=True, validate_formats=True, registry=_registry(schema, resources)
        )
    except jsonschema_rs.ValidationError as problem:
        raise UnsupportedSchemaError(_reason(problem), where=place(tuple(problem.instance_path))) from problem
    except (ValueError, TypeError) as problem:
        message = "this is no JSON Schema that can be compiled"
        raise UnsupportedSchemaError(message, why=str(problem).partition("\n")[0]) from problem


def _registry(schema: Any, resources: Mapping[str, Any] | None) -> jsonschema_rs.Registry | None:
    """The other documents; one without ``$schema`` is of the same draft.

    It never fetches what it does not hold.
    """
    if not resources:
        return None
    named = str(schema.get("$schema", "")) if isinstance(schema, dict) else ""
    draft = next((draft for name, draft in _DRAFTS.items() if name in named), jsonschema_rs.Draft202012)
    return jsonschema_rs.Registry(list(resources.items()), draft=draft)


def _refuse_foreign(schema: Any) -> None:
    """Name the place of a reference that leads out of the document or to nothing: the compiler names none."""
    if any(isinstance(s, dict) and isinstance(s.get("$id"), str) for _, s in subschemas(schema)):
        return  # references are relative to the ids; the compiler resolves them, offline
    for path, current in subschemas(schema):
        reference = current.get("$ref") if isinstance(current, dict) else None
        if isinstance(reference, str) and _is_missing(schema, reference):
            message = "the schema refers to what is not in it; put the definition into $defs"
            raise UnsupportedSchemaError(message, where=place((*path, "$ref")), reference=reference)


def _is_missing(schema: Any, reference: str) -> bool:
    if reference.startswith("#"):
        return find(schema, reference) is None
    # The published metaschemas come with the compiler.
    return not reference.startswith(("http://json-schema.org/draft-", "https://json-schema.org/draft/"))


def _reason(problem: jsonschema_rs.ValidationError) -> str:
    if problem.kind.name == "$ref":
        return f"the schema refers to what is not in it: {problem.message}"
    known = ", ".join(_DRAFTS)
    return f"not a valid JSON Schema ({known} are known): the keyword here breaks {problem.kind.name!r}"
