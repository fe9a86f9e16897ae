"""What one concrete call reaches for: its paths, at any depth, and its named resources.

In: a tool's annotated schema and templates, fixed at declaration; then arguments. Out: touches with their places. Promise: every text that the
schema calls a workspace path is found, in whatever branch; a default counts as if it had been written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from callgate.calls import EMPTY, FrozenDict, Mode, freeze, pointer
from callgate.errors import ToolDeclarationError
from callgate.schema import Path, reachable, resolve, subschemas

from ._facts import Touch
from ._markers import PATH, READS, WRITES, Marker
from ._templates import Template, read_template


@dataclass(frozen=True, slots=True)
class Reach:
    """``paths`` are the top-level parameters that are or hold paths; ``mode`` is that of the tool's class."""

    schema: FrozenDict
    mode: Mode
    paths: tuple[str, ...] = ()
    templates: tuple[Template, ...] = ()
    defaults: FrozenDict = EMPTY

    @property
    def is_declared(self) -> bool:
        """Whether the tool said at all what it touches."""
        return bool(self.paths or self.templates)

    def touches(self, arguments: Mapping[str, Any]) -> tuple[Touch, ...]:
        """Each once, a write before a read of the same; ``*`` for what cannot be named, such as a path that was left out."""
        values = {**self.defaults, **arguments} if self.defaults else arguments
        found: dict[tuple[str, str], Touch] = {}
        for touch in self._all(values):
            known = found.get((touch.where, touch.text))
            if known is None or known.mode is Mode.READ:
                found[touch.where, touch.text] = touch
        return tuple(found.values())

    def _all(self, values: Mapping[str, Any]) -> Iterator[Touch]:
        for name in self.paths:
            if values.get(name) is None:
                yield Touch(pointer((name,)), "*", self.mode, "resource")
            else:
                yield from self._paths(self.schema["properties"][name], values[name], (name,))
        for template in self.templates:
            for resource in template.resources(values):
                yield Touch(template.where, resource, template.mode, "resource")

    def _paths(self, schema: Any, value: Any, path: Path, said: tuple[Mode, ...] = ()) -> Iterator[Touch]:
        here = resolve(self.schema, schema)
        said = _modes(here) or said
        if isinstance(value, str):
            if PATH in here:
                yield from (Touch(pointer(path), value, mode, "path") for mode in said or (self.mode,))
        elif isinstance(value, dict):
            for name, item in value.items():
                for below in _members(here, name):
                    yield from self._paths(below, item, (*path, name), said)
                yield from self._paths(here.get("propertyNames"), name, (*path, name), said)
        elif isinstance(value, list):
            leading = here.get("prefixItems", ())
            for place, item in enumerate(value):
                below = leading[place] if place < len(leading) else here.get("items")
                yield from self._paths(below, item, (*path, place), said)
        for keyword in ("anyOf", "oneOf", "allOf"):
            for branch in here.get(keyword, ()):
                yield from self._paths(branch, value, path, said)


_MODES: Final = {READS: Mode.READ, WRITES: Mode.WRITE}


def _modes(schema: Mapping[str, Any]) -> tuple[Mode, ...]:
    """The modes that bare ``reads()`` and ``writes()`` give the paths below."""
    return tuple(mode for key, mode in _MODES.items() if "" in schema.get(key, ()))


def _members(schema: Mapping[str, Any], name: str) -> Iterator[Any]:
    properties = schema.get("properties", {})
    if name in properties:
        yield properties[name]
    else:
        yield schema.get("additionalProperties")
    yield from schema.get("patternProperties", {}).values()


def reach_of(schema: Mapping[str, Any], mode: Mode, accesses: Iterable[Marker], tool: str) -> Reach:
    """Read off an annotated schema, and the tool's own accesses, what its calls reach for.

    Raises:
        ToolDeclarationError: A template cannot work, or a bare ``reads()`` stands beside no path.
    """
    properties: Mapping[str, Any] = schema.get("properties", {})
    paths = tuple(name for name, below in properties.items() if _holds_path(schema, below))
    defaults = {
        n: below["default"]
        for n, below in properties.items()
        if isinstance(below, dict) and "default" in below
    }
    templates: list[Template] = []
    for where, marker, is_beside_path in _said(schema, accesses):
        if marker.value:
            templates.append(read_template(marker.value, _MODES[marker.key], properties, where))
        elif not is_beside_path:
            message = "reads() and writes() without a resource belong beside a WorkspacePath parameter"
            raise ToolDeclarationError(message, tool=tool, where=where)
    return Reach(freeze(dict(schema)), mode, paths, tuple(dict.fromkeys(templates)), freeze(defaults))


def _said(schema: Mapping[str, Any], accesses: Iterable[Marker]) -> Iterator[tuple[str, Marker, bool]]:
    """Each marker with the pointer of its parameter and whether a path is there."""
    yield from (("", marker, False) for marker in accesses)
    for path, below in subschemas(schema):
        for key in _MODES:
            for value in below.get(key, ()) if isinstance(below, dict) else ():
                where = pointer(path[1:2]) if path[0] == "properties" else ""
                yield where, Marker(key, value), _holds_path(schema, below)


def _holds_path(document: Any, schema: Any) -> bool:
    return any(PATH in below for below in reachable(document, schema))
