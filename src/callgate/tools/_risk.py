"""The risk class of a parameter: what a model could reach through it.

In: a schema, of ours or from outside. Out: for each parameter a class, by type first, then by name, then by description. Promise: a guard type or a
closed set of values is never called a risk; everything that is open text and speaks of a path, a command or an address is.

``value`` numbers, booleans, closed sets, ids and dates; ``structured`` objects and lists of such; ``free_text`` any other text; ``path``,
``command`` and ``url`` text that some system will follow. How often that is right stands in docs/explanation/risk_classes.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from callgate.calls import pointer
from callgate.schema import Path, children, resolve, target

from ._effects import words
from ._markers import PATH, SOURCE, UNGUARDED

Risk = Literal["value", "structured", "free_text", "path", "command", "url"]
FOLLOWED: Final = frozenset({"path", "command", "url"})
"""The classes that need a guard."""

_BY_FORMAT: Final[dict[str, Risk]] = {
    **dict.fromkeys(("path", "file-path", "directory-path"), "path"),
    **dict.fromkeys(("uri", "url", "uri-reference", "iri", "iri-reference", "uri-template"), "url"),
    **dict.fromkeys(
        ("date", "time", "date-time", "duration", "uuid", "email", "ipv4", "ipv6", "regex"), "value"
    ),
    **dict.fromkeys(("binary", "byte", "base64", "base64url"), "free_text"),
}
_BY_WORD: Final[dict[str, Risk]] = {
    **dict.fromkeys(
        (
            "path",
            "paths",
            "filepath",
            "filepaths",
            "filename",
            "filenames",
            "file",
            "files",
            "folder",
            "folders",
        ),
        "path",
    ),
    **dict.fromkeys(
        ("dir", "dirs", "directory", "directories", "cwd", "pathname", "basedir", "workdir"), "path"
    ),
    **dict.fromkeys(
        ("command", "commands", "cmd", "shell", "script", "argv", "bash", "javascript", "sql"), "command"
    ),
    **dict.fromkeys(("url", "urls", "uri", "uris", "href", "link", "links", "webhook", "endpoint"), "url"),
}
"""Last telling word of a name → class."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool, for checks and lint: ``where`` is its JSON Pointer, with ``*`` for any item or name.

    ``guarded`` says that a path, command or URL cannot escape, or was let through; ``unguarded_reason`` is why it was.
    """

    name: str
    kind: Risk = "value"
    guarded: bool = True
    required: bool = False
    description: str = ""
    source: str = ""
    where: str = ""
    unguarded_reason: str = ""


def classify(schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Every parameter of a tool's schema, then each path, command or URL nested in one."""
    required = schema.get("required") or ()
    found: list[Parameter] = []
    for name, subschema in (schema.get("properties") or {}).items():
        place = _Place(schema, (name,), (name,))
        found.append(_parameter(place, subschema, name in required))
        found.extend(_nested(place, subschema, set()))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a schema stands: ``names`` are the properties on the way, ``path`` has ``*`` for items and free names."""

    document: Mapping[str, Any]
    names: tuple[str, ...]
    path: Path

    def below(self, step: str | None) -> _Place:
        if step is None:
            return _Place(self.document, self.names, (*self.path, "*"))
        return _Place(self.document, (*self.names, step), (*self.path, step))


_SAME: Final = frozenset({"anyOf", "oneOf", "allOf", "if", "then", "else"})
_MEMBERS: Final = frozenset(
    {"items", "prefixItems", "additionalItems", "additionalProperties", "patternProperties"}
)


def _nested(place: _Place, schema: Any, seen: set[int]) -> Iterator[Parameter]:
    """What is followed, or has a source, in the properties of objects: through arrays, maps and alternatives, each schema once."""
    if not isinstance(schema, dict) or id(schema) in seen:
        return
    seen.add(id(schema))
    yield from _nested(place, target(place.document, schema), seen)
    for steps, child in children(schema):
        if steps[0] == "properties":
            below = place.below(str(steps[1]))
            parameter = _parameter(below, child)
            if parameter.kind in FOLLOWED or parameter.source:
                yield parameter
            yield from _nested(below, child, seen)
        elif steps[0] in _SAME or steps[0] in _MEMBERS:
            yield from _nested(place if steps[0] in _SAME else place.below(None), child, seen)


def _parameter(place: _Place, schema: Any, required: bool = False) -> Parameter:  # noqa: FBT001, FBT002 - a fact of the row
    leaves = tuple(_leaves(place.document, schema, set()))
    description = str(resolve(place.document, schema).get("description") or "")
    reasons, sources = _said(leaves, UNGUARDED), _said(leaves, SOURCE)
    kind = _kind(leaves, place.names[-1], description)
    texts = [leaf for leaf in leaves if _is_text(leaf)]
    is_guarded = kind not in FOLLOWED or bool(reasons) or all(PATH in leaf for leaf in texts)
    told = ("; ".join(reasons), sources[0] if sources else "")
    return Parameter(
        ".".join(place.names), kind, is_guarded, required, description, told[1], pointer(place.path), told[0]
    )


def _leaves(document: Any, schema: Any, seen: set[int]) -> Iterator[dict[str, Any]]:
    """The schemas that judge the value itself, or an item of it: references, alternatives and arrays opened."""
    if not isinstance(schema, dict) or id(schema) in seen:
        return
    seen.add(id(schema))
    yield schema
    yield from _leaves(document, target(document, schema), seen)
    for steps, child in children(schema):
        if steps[0] in {*_SAME, "items", "prefixItems"}:
            yield from _leaves(document, child, seen)


def _said(leaves: tuple[dict[str, Any], ...], key: str) -> list[str]:
    return list(dict.fromkeys(text for leaf in leaves for text in leaf.get(key, ())))


def _types(schema: Mapping[str, Any]) -> set[str]:
    types = schema.get("type", ())
    return {types} if isinstance(types, str) else set(types)


_NOT_TEXT: Final = frozenset(
    {
        "enum",
        "const",
        "$ref",
        "anyOf",
        "oneOf",
        "allOf",
        "items",
        "prefixItems",
        "properties",
        "additionalProperties",
    }
)


def _is_text(leaf: Mapping[str, Any]) -> bool:
    """Whether any text may stand there: not a closed set, not another type, not only a way to other schemas."""
    types = _types(leaf)
    return (
        "string" in types and not {"enum", "const"}.intersection(leaf)
        if types
        else not _NOT_TEXT.intersection(leaf)
    )


def _kind(leaves: tuple[dict[str, Any], ...], name: str, description: str) -> Risk:
    kinds = [_text_kind(leaf, name, description) for leaf in leaves if _is_text(leaf)]
    for kind in kinds:
        if kind in FOLLOWED:
            return kind
    if any(_types(leaf) & {"object", "array"} or "properties" in leaf for leaf in leaves):
        return "structured"
    return "free_text" if "free_text" in kinds else "value"


def _text_kind(leaf: Mapping[str, Any], name: str, description: str) -> Risk:
    if PATH in leaf:
        return "path"
    if by_format := _BY_FORMAT.get(str(leaf.get("format", ""))):
        return by_format
    kind = _by_words(name, str(leaf.get("description") or description))
    return "value" if kind in FOLLOWED and _is_narrow(leaf, kind) else kind


_NEUTRAL: Final = frozenset(
    {
        "name",
        "names",
        "list",
        "glob",
        "globs",
        "pattern",
        "patterns",
        "prefix",
        "filter",
        "string",
        "str",
        "to",
    }
)
"""Last words that leave it to the word before: ``file_name``."""
_DECIDED: Final = frozenset(
    {
        *(
            "id",
            "ids",
            "iid",
            "gid",
            "uid",
            "uuid",
            "key",
            "keys",
            "sha",
            "hash",
            "token",
            "slug",
            "tag",
            "tags",
        ),
        *(
            "type",
            "types",
            "mode",
            "level",
            "status",
            "kind",
            "format",
            "name",
            "names",
            "title",
            "description",
        ),
        *("port", "timezone", "language", "color", "version", "ref", "branch", "base64", "namespace", "team"),
    }
)
"""Last words of names of other things, whatever the description goes on to mention."""


def _by_name(name: str) -> Risk | None:
    said = words(name)
    for word, before in zip(reversed(said), (*reversed(said[:-1]), ""), strict=True):
        if word in _BY_WORD:
            return None if word == "dir" and before in {"sort", "order"} else _BY_WORD[word]
        if word not in _NEUTRAL and not word.isdecimal():
            return None
    return None


_CODE: Final = r"javascript|python|sql|bash|shell|code|script|expression|statement|source|function|program"
_DESCRIBED: Final[tuple[tuple[Risk, re.Pattern[str]], ...]] = (
    (
        "command",
        re.compile(
            r"\b(shell|bash|terminal|cli|command[- ]line) (command|script)\b|\bcommands? (to|that|argument)"
            rf"|\b({_CODE})\b[^.]{{0,30}}\b(to|will|should) (be )?(run|execut|evaluat)"
            r"|^\W*(the |a |an |raw )?(javascript|sql|python) (code|function|query|statement|expression|script)"
        ),
    ),
    (
        "path",
        re.compile(
            r"\b(file|directory|folder|local|absolute|relative|output|input|destination|source) ?paths?\b"
            r"|\bpaths? (to|of|where)\b|^\W*(the |a |an |output |local )*(file|directory|folder) (to|in which|where)\b"
        ),
    ),
    (
        "url",
        re.compile(
            r"^\W*([\w'-]+\W+){0,4}ur[li]s?\b(?! (pattern|match|port|number|type|encoded))|^\W*https?://"
        ),
    ),
)
_OTHER: Final = re.compile(
    r"^\W*(the |a |an )?(unique )?(ids?|identifiers?|contents?) (of|for)\b|\b(folder|file)('s)? ids?\b|\bnavigation property\b|\bread-only\b"
    r"|\b(regex|regexp|regular expression)|\burl patterns?\b|\burl'?s? path\b|\burl[- ]encoded\b|\bbase64\b"
    r"|\bjson ?(path|pointer)|\bxpath\b|\bdot[- ]|\bkey path|\bmodule'?s? path|^\W*[\w ]{0,20}\bnames? for\b"
)
"""What a description says of a name that only looks like a path or an address."""
_ASIDE: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)|`[^`]*`")
_HEAD: Final = 200
"""Characters of a description that say what the parameter is; what follows says what else there is to know."""


def _by_words(name: str, description: str) -> Risk:
    head = _ASIDE.sub(r"\1", description.lower()).partition("\n")[0][:_HEAD]
    if _OTHER.search(head):
        return "free_text"
    if named := _by_name(name):
        return named
    if words(name)[-1:] and words(name)[-1] in _DECIDED:
        return "free_text"
    return next((kind for kind, form in _DESCRIBED if form.search(head)), "free_text")


_PROBES: Final[dict[str, tuple[str, ...]]] = {
    "path": ("a", "a.txt", "a/b.txt", "/a/b", "../a", "a\\b"),
    "command": ("ls", "ls -l", "a();", "select 1"),
    "url": ("http://a", "https://a.example/b?c=d", "//a/b", "file:///a"),
}


def _is_narrow(leaf: Mapping[str, Any], kind: str) -> bool:
    """Whether a pattern lets through nothing of the kind, as that of an identifier does not."""
    pattern = leaf.get("pattern")
    if not isinstance(pattern, str):
        return False
    try:
        form = re.compile(pattern)
    except re.error:
        return False
    return not any(form.search(probe) for probe in _PROBES[kind])
