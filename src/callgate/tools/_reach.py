"""What one concrete call reaches for: its paths, at any depth, and its named resources.

In: a tool's annotated schema and templates, fixed at declaration; then arguments. Out: touches with their
places. Promise: every text that the schema calls a workspace path is found, in whatever alternative; a
default counts as if it had been written; what cannot be named is everything.
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

_UNNAMED: Final = frozenset({"additionalProperties", "patternProperties", "propertyNames"})
_MODES: Final = {READS: Mode.READ, WRITES: Mode.WRITE}


@dataclass(frozen=True, slots=True)
class PathParameter:
    """A top-level parameter that is or holds paths.

    ``modes`` are those of the parameter's own text, ``()`` where only what is inside it can be a path.
    """

    name: str
    where: str
    modes: tuple[Mode, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """``mode`` is that of the tool's class: for paths that do not say how, and for what cannot be named."""

    schema: FrozenDict
    mode: Mode
    paths: tuple[PathParameter, ...] = ()
    templates: tuple[Template, ...] = ()
    defaults: FrozenDict = EMPTY

    @property
    def is_declared(self) -> bool:
        """Whether the tool said at all what it touches."""
        return bool(self.paths or self.templates)

    def touches(self, arguments: Mapping[str, Any]) -> tuple[Touch, ...]:
        """Each place and text once, a write before a read of the same."""
        if not self.is_declared:
            return ()
        found: dict[tuple[str, str], Touch] = {}
        for touch in self._all(arguments):
            known = found.get((touch.where, touch.text))
            if known is None or known.mode is Mode.READ:
                found[touch.where, touch.text] = touch
        return tuple(found.values())

    def _all(self, arguments: Mapping[str, Any]) -> Iterator[Touch]:
        for parameter in self.paths:
            name = parameter.name
            value = arguments.get(name, self.defaults.get(name))
            if isinstance(value, str):
                yield from (Touch(parameter.where, value, mode, "path") for mode in parameter.modes)
            elif value is None:
                yield Touch(parameter.where, "*", self.mode, "resource")
            else:
                yield from find_paths(self.schema, value, name, self.mode)
        for template in self.templates:
            for resource in template.resources({**self.defaults, **arguments}):
                yield Touch(template.where, resource, template.mode, "resource")


def find_paths(document: Mapping[str, Any], value: Any, name: str, mode: Mode) -> Iterator[Touch]:
    """The paths in one parameter's value.

    ``mode`` is for those whose schema does not say how they are touched.
    """
    yield from _Search(document, mode).below(document["properties"][name], value, (name,))


@dataclass(frozen=True, slots=True)
class _Search:
    document: Mapping[str, Any]
    mode: Mode

    def below(self, schema: Any, value: Any, path: Path, said: tuple[Mode, ...] = ()) -> Iterator[Touch]:
        here = resolve(self.document, schema)
        said = _modes(here) or said
        if isinstance(value, str):
            if PATH in here:
                yield from (Touch(pointer(path), value, mode, "path") for mode in said or (self.mode,))
        else:
            for step, item, inner in _inside(here, value):
                yield from self.below(inner, item, (*path, step), said)
        for keyword in ("anyOf", "oneOf", "allOf"):
            for branch in here.get(keyword, ()):
                yield from self.below(branch, value, path, said)


def _inside(schema: Mapping[str, Any], value: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """Each member of an array or object, and each name of an object, with the schemas that judge it."""
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name, item in value.items():
            yield name, item, properties.get(name, schema.get("additionalProperties"))
            yield name, name, schema.get("propertyNames")
            yield from ((name, item, below) for below in schema.get("patternProperties", {}).values())
    elif isinstance(value, list):
        leading = schema.get("prefixItems", ())
        for position, item in enumerate(value):
            yield position, item, leading[position] if position < len(leading) else schema.get("items")


def _modes(schema: Mapping[str, Any]) -> tuple[Mode, ...]:
    """The modes that bare ``reads()`` and ``writes()`` give the paths below."""
    return tuple(mode for key, mode in _MODES.items() if "" in schema.get(key, ()))


def reach_of(schema: Mapping[str, Any], mode: Mode, accesses: Iterable[Marker], tool: str) -> Reach:
    """Read off an annotated schema, and the tool's own accesses, what its calls reach for.

    Raises:
        ToolDeclarationError: A template cannot work, a bare ``reads()`` stands beside no path, a path inside
            an object has a default, which would reach the tool unjudged, or one has no parameter's name.
    """
    properties: Mapping[str, Any] = schema.get("properties", {})
    frozen: FrozenDict = freeze(dict(schema))
    paths = []
    for name, below in properties.items():
        if _holds_path(schema, below):
            modes = tuple(touch.mode for touch in find_paths(schema, "text", name, mode))
            paths.append(PathParameter(name, pointer((name,)), tuple(dict.fromkeys(modes))))
    if _holds_path(schema, {keyword: held for keyword, held in schema.items() if keyword in _UNNAMED}):
        message = "a path needs a parameter of its own: under any other name nothing would judge it"
        raise ToolDeclarationError(message, tool=tool, mend="take a dict[str, WorkspacePath]")
    _refuse_hidden_defaults(schema, tool)
    templates: list[Template] = []
    for where, marker, is_beside_path in _said(schema, accesses):
        if marker.value:
            templates.append(read_template(marker.value, _MODES[marker.key], properties, where))
        elif not is_beside_path:
            message = "reads() and writes() without a resource belong beside a WorkspacePath parameter"
            raise ToolDeclarationError(message, tool=tool, where=where)
    defaults = {n: p["default"] for n, p in properties.items() if isinstance(p, dict) and "default" in p}
    return Reach(frozen, mode, tuple(paths), tuple(dict.fromkeys(templates)), freeze(defaults))


def _refuse_hidden_defaults(schema: Mapping[str, Any], tool: str) -> None:
    for path, below in subschemas(schema):
        is_inside = isinstance(below, dict) and (path[:1] != ("properties",) or len(path) > 2)
        if is_inside and below.get("default") is not None and _holds_path(schema, below):
            message = "a path inside an object cannot have a default: nothing in the call would be judged"
            mend = "make it required, or let None stand for the default"
            raise ToolDeclarationError(message, tool=tool, parameter=str(path[-1]), mend=mend)


def _said(schema: Mapping[str, Any], accesses: Iterable[Marker]) -> Iterator[tuple[str, Marker, bool]]:
    """Each marker with the pointer of its parameter and whether a path is there."""
    yield from (("", marker, False) for marker in accesses)
    for path, below in subschemas(schema):
        for key in _MODES if isinstance(below, dict) else ():
            for value in below.get(key, ()):
                where = pointer(path[1:2]) if path[0] == "properties" else ""
                yield where, Marker(key, value), _holds_path(schema, below)


def _holds_path(document: Any, schema: Any) -> bool:
    return any(PATH in below for below in reachable(document, schema))
