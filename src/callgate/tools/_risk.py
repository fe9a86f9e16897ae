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
from callgate.schema import Path, children, resolve

from ._effects import words
from ._markers import SOURCE, UNGUARDED
from ._paths import WORKSPACE_PATH_FORMAT

Risk = Literal["value", "structured", "free_text", "path", "command", "url"]
FOLLOWED: Final = frozenset({"path", "command", "url"})
"""The classes that need a guard."""

_BY_FORMAT: Final[dict[str, Risk]] = {
    WORKSPACE_PATH_FORMAT: "path",
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
        ("command", "commands", "cmd", "shell", "script", "argv", "bash", "javascript"), "command"
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
    """Every parameter of a tool's schema, and each path, command or URL nested in one."""
    required = schema.get("required") or ()
    found: list[Parameter] = []
    for name, subschema in (schema.get("properties") or {}).items():
        here = _Place(schema, name, (name,), name in required)
        found.append(_parameter(here, subschema))
        found.extend(_nested(here, subschema, ()))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Place:
    document: Mapping[str, Any]
    name: str
    path: Path
    required: bool = False

    def below(self, name: str) -> _Place:
        return _Place(self.document, f"{self.name}.{name}", (*self.path, name))


def _parameter(place: _Place, schema: Any) -> Parameter:
    here = resolve(place.document, schema)
    description = str(here.get("description") or "")
    kind = _kind(place.document, schema, place.name.rpartition(".")[2], description)
    reasons = _said(place.document, schema, UNGUARDED)
    sources = _said(place.document, schema, SOURCE)
    return Parameter(
        place.name,
        kind,
        kind not in FOLLOWED or bool(reasons) or _is_guarded(place.document, schema),
        place.required,
        description,
        sources[0] if sources else "",
        pointer(place.path),
        "; ".join(reasons),
    )


def _nested(place: _Place, schema: Any, seen: tuple[int, ...]) -> Iterator[Parameter]:
    """Paths, commands and URLs in the properties of objects, through arrays, maps and alternatives."""
    here = resolve(place.document, schema)
    if id(here) in seen or len(seen) > _DEEPEST:
        return
    for steps, child in children(here):
        if steps[0] == "properties":
            below = place.below(str(steps[1]))
            parameter = _parameter(below, child)
            if parameter.kind in FOLLOWED or parameter.source != "any":
                yield parameter
            yield from _nested(below, child, (*seen, id(here)))
        elif steps[0] in _THROUGH:
            beside = place if steps[0] in _SAME else _Place(place.document, place.name, (*place.path, "*"))
            yield from _nested(beside, child, (*seen, id(here)))


_DEEPEST: Final = 32
_SAME: Final = frozenset({"anyOf", "oneOf", "allOf", "if", "then", "else"})
_THROUGH: Final = _SAME | {
    "items",
    "prefixItems",
    "additionalProperties",
    "patternProperties",
    "additionalItems",
}


def _leaves(document: Any, schema: Any, seen: tuple[int, ...] = ()) -> Iterator[dict[str, Any]]:
    """The schemas a value itself, or an item of it, may be judged by: references, alternatives and arrays opened."""
    here = resolve(document, schema)
    if id(schema) in seen or len(seen) > _DEEPEST:
        return
    inner = [
        child
        for steps, child in children(here)
        if steps[0] in {"anyOf", "oneOf", "allOf", "items", "prefixItems"}
    ]
    yield from (leaf for child in inner for leaf in _leaves(document, child, (*seen, id(schema))))
    if not inner or "format" in here or "enum" in here:
        yield here


def _said(document: Any, schema: Any, key: str) -> list[str]:
    here = resolve(document, schema)
    said = list(here.get(key, ()))
    for leaf in _leaves(document, schema):
        said.extend(text for text in leaf.get(key, ()) if text not in said)
    return said


def _is_guarded(document: Any, schema: Any) -> bool:
    open_text = [leaf for leaf in _leaves(document, schema) if _is_text(leaf)]
    return bool(open_text) and all(leaf.get("format") == WORKSPACE_PATH_FORMAT for leaf in open_text)


def _types(schema: Mapping[str, Any]) -> set[str]:
    types = schema.get("type", ())
    return {types} if isinstance(types, str) else set(types)


def _is_text(leaf: Mapping[str, Any]) -> bool:
    """Whether any text may stand there: not a closed set, not another type."""
    types = _types(leaf)
    return "enum" not in leaf and "const" not in leaf and (not types or "string" in types)


def _kind(document: Any, schema: Any, name: str, description: str) -> Risk:
    here = resolve(document, schema)
    if any("properties" in leaf or "object" in _types(leaf) for leaf in _leaves(document, schema)):
        is_structured = True
    else:
        is_structured = "array" in _types(here)
    texts = [leaf for leaf in _leaves(document, schema) if _is_text(leaf) and "object" not in _types(leaf)]
    for leaf in texts:
        kind = _text_kind(leaf, name, description)
        if kind in FOLLOWED:
            return kind
    if is_structured:
        return "structured"
    return (
        "free_text" if any(_text_kind(leaf, name, description) == "free_text" for leaf in texts) else "value"
    )


def _text_kind(leaf: Mapping[str, Any], name: str, description: str) -> Risk:
    by_format = _BY_FORMAT.get(str(leaf.get("format", "")))
    kind = (
        by_format
        or _by_name(name)
        or _by_description(str(leaf.get("description") or description))
        or "free_text"
    )
    if kind in FOLLOWED and not by_format and _is_narrow(leaf, kind):
        return "value"
    return kind


_NEUTRAL: Final = frozenset(
    {"name", "names", "list", "glob", "globs", "pattern", "patterns", "prefix", "string", "str", "to"}
)


def _by_name(name: str) -> Risk | None:
    for word in reversed(words(name)):
        if word in _BY_WORD:
            return _BY_WORD[word]
        if word not in _NEUTRAL and not word.isdigit():
            return None
    return None


_NO_FILE: Final = re.compile(
    r"(?i)json ?path|xpath|dot[- ](separated )?path|key path|url path|path parameter|learning path"
)
_DESCRIBED: Final[tuple[tuple[Risk, re.Pattern[str]], ...]] = (
    (
        "path",
        re.compile(
            r"(?i)\b(file|directory|folder|local|absolute|relative|full|output|input|destination|source) ?paths?\b"
            r"|\bpaths? (to|of|for|where)\b|^\W*(the |a |an )?(file|directory|folder) (to|in which|where)\b"
        ),
    ),
    (
        "command",
        re.compile(
            r"(?i)\b(shell|bash|terminal|cli|command[- ]line) (command|script)|\bcommand (to|that)\b.{0,20}\b(run|exec)"
            r"|\b(javascript|python|sql|code|script|expression|statement|function)\b[^.]{0,30}\bto (be )?(run|exec|evaluat)"
            r"|^\W*(the |a |an )?(javascript|sql|python) (code|function|query|statement|expression|script)"
        ),
    ),
    ("url", re.compile(r"(?i)^\W*([\w-]+\W+){0,5}(url|uri)s?\b|\bhttps?://")),
)


def _by_description(description: str) -> Risk | None:
    first = description.partition("\n")[0][:200]
    for kind, form in _DESCRIBED:
        if form.search(first) and not (kind == "path" and _NO_FILE.search(first)):
            return kind
    return None


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
