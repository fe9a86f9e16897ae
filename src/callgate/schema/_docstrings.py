"""Docstrings in Google, NumPy and Sphinx form, read for what a model needs to know.

In: a docstring. Out: ``Docs``: what the function does, what it returns, a warning, and the words for each
parameter. Promise: a section is never part of the description, wherever blank lines stand; a parameter
section of which nothing could be read is named in ``unread``. Other sections (errors, examples, references)
are for the reader of the code and are left out.

Forms: the Google Python style guide section 3.8.3, numpydoc's format page, and the field lists of Sphinx's
Python domain.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_KINDS: Final = {
    "parameters": ("args", "arguments", "parameters", "params", "keyword args", "keyword arguments"),
    "more parameters": ("other parameters",),
    "returns": ("return", "returns", "yield", "yields"),
    "danger": ("warning", "warnings", "danger", "caution"),
    "note": ("note", "notes", "important"),
    "other": (
        *("raise", "raises", "throws", "except", "exceptions", "warns", "receives"),
        *("example", "examples", "usage", "references", "see also", "todo", "todos"),
        *("attributes", "methods", "version", "deprecated", "authors"),
    ),
}
_KIND: Final = {title: kind for kind, titles in _KINDS.items() for title in titles}
_PARAMETERS: Final = frozenset({"parameters", "more parameters"})

_TITLE: Final = re.compile(r"([A-Z][A-Za-z ]*?)[ ]*:[ ]*")
_INLINE: Final = re.compile(r"(Args|Arguments|Parameters|Params):[ ]+(\S.*)")
_RULE: Final = re.compile(r"-{3,}[ ]*|={3,}[ ]*")
_GOOGLE_ITEM: Final = re.compile(
    r"(?:[-*•][ ]+)?((?:\*{0,2}\w+)(?:,[ ]*\*{0,2}\w+)*)[ ]*(?:\((?:.*?)\))?[ ]*:(?:[ ]+(.*))?$"
)
_NUMPY_ITEM: Final = re.compile(r"((?:\*{0,2}\w+)(?:,[ ]*\*{0,2}\w+)*)[ ]*(?::.*)?$")
_FIELD: Final = re.compile(r":(\w+)(?:[ ]+([^:]*?))?[ ]*:(?:[ ]+(.*))?$")
_FIELD_KIND: Final = {
    **dict.fromkeys(("param", "parameter", "arg", "argument", "key", "keyword"), "parameters"),
    **dict.fromkeys(("return", "returns", "yield", "yields"), "returns"),
    **dict.fromkeys(
        ("raise", "raises", "except", "exception", "type", "rtype", "vartype", "var", "ivar", "cvar"), "other"
    ),
    **dict.fromkeys(("meta", "deprecated", "versionadded", "versionchanged"), "other"),
}


@dataclass(frozen=True, slots=True)
class Docs:
    """What a docstring says. ``unread`` names parameter sections that were seen but could not be read."""

    what: str = ""
    returns: str = ""
    danger: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


@dataclass(slots=True)
class _Section:
    kind: str
    title: str
    style: str
    lines: list[str] = field(default_factory=list)


def read_docstring(text: str | None) -> Docs:
    """Read a docstring in any of the three forms, mixed or not. None is an empty one."""
    if not text or not text.strip():
        return Docs()
    found = list(_sections(_lines(text)))
    parameters: dict[str, str] = {}
    unread: list[str] = []
    for section in found:
        if section.kind in _PARAMETERS:
            items = _ITEMS[section.style](section)
            parameters.update(items)
            if not items and not _says_none(section):
                unread.append(section.title)
    return Docs(
        _told(found, "what", "note"),
        _told(found, "returns"),
        _told(found, "danger"),
        parameters,
        tuple(unread),
    )


def _lines(text: str) -> list[str]:
    first, *rest = inspect.cleandoc(text).expandtabs().split("\n")
    if (title := _TITLE.fullmatch(first)) and title[1].lower() in _KIND and not _is_indented(rest, 0):
        # cleandoc measures the margin from the second line on: it takes away that of a section.
        rest = [f"    {line}" for line in rest]
    return [first, *rest]


def _says_none(section: _Section) -> bool:
    return "".join(section.lines).strip(" .").lower() in {"none", "no parameters", "no arguments", "n/a", "-"}


def _told(sections: list[_Section], *kinds: str) -> str:
    texts = (_RETURNS.get(s.style, _paragraphs)(s.lines) for s in sections if s.kind in kinds)
    return "\n\n".join(text for text in texts if text)


def _sections(lines: list[str]) -> Iterator[_Section]:
    current = _Section("what", "", "plain")
    place = 0
    while place < len(lines):
        opened, taken = _opening(lines, place, current)
        if opened:
            yield current
            current = opened
        else:
            current.lines.append(lines[place])
        place += taken
    yield current


def _opening(lines: list[str], place: int, current: _Section) -> tuple[_Section | None, int]:
    """The section that begins at a line, and how many lines its title takes."""
    line = lines[place]
    if not line or line[0] == " ":
        return None, 1
    following = lines[place + 1] if place + 1 < len(lines) else ""
    if (kind := _KIND.get(line.strip().lower())) and _RULE.fullmatch(following):
        return _Section(kind, line.strip(), "numpy"), 2
    if (
        (found := _TITLE.fullmatch(line))
        and (kind := _KIND.get(found[1].lower()))
        and _is_indented(lines, place + 1)
    ):
        return _Section(kind, found[1], "google"), 1
    if found := _INLINE.fullmatch(line):
        return _Section("parameters", found[1], "google", ["    " + found[2]]), 1
    if (found := _FIELD.match(line)) and (kind := _FIELD_KIND.get(found[1])):
        return _Section(kind, found[2] or found[1], "sphinx", [found[3] or ""]), 1
    if current.style in {"google", "sphinx"} and (
        current.style == "google" or not (current.lines or [""])[-1].strip()
    ):
        # Text at the margin ends a Google section at once, and a field after a blank line.
        return _Section("what", "", "plain", [line]), 1
    return None, 1


def _is_indented(lines: list[str], place: int) -> bool:
    following = next((line for line in lines[place:] if line.strip()), "")
    return following.startswith(" ")


def _google(section: _Section) -> dict[str, str]:
    body = _dedented(section.lines)
    return _items(body, _GOOGLE_ITEM)


def _numpy(section: _Section) -> dict[str, str]:
    return _items(section.lines, _NUMPY_ITEM)


def _sphinx(section: _Section) -> dict[str, str]:
    # `:param str city: …`: the name is the last word.
    name = section.title.split(" ")[-1].lstrip("*")
    return {name: _paragraphs(section.lines)} if name.isidentifier() else {}


_ITEMS: Final = {"google": _google, "numpy": _numpy, "sphinx": _sphinx}


def _items(lines: list[str], form: re.Pattern[str]) -> dict[str, str]:
    """Lines at the margin that have the form of an item begin one; everything else goes on with it."""
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines:
        found = form.match(line) if line[:1] not in {"", " "} else None
        if found:
            names = [name.strip().lstrip("*") for name in found[1].split(",")]
            first = (found[2] or "") if form is _GOOGLE_ITEM else ""
            texts.update({name: [first] for name in names})
        else:
            for name in names:
                texts[name].append(line)
    return {name: _paragraphs(said) for name, said in texts.items()}


def _dedented(lines: list[str]) -> list[str]:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[margin:] for line in lines]


def _paragraphs(lines: list[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.strip() for line in lines)).strip()


def _plain(lines: list[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip()


def _numpy_returns(lines: list[str]) -> str:
    """A type alone on its line says nothing to a model that the words below it do not."""
    indented = [line for line in lines if line.startswith(" ")]
    return _paragraphs(indented or lines)


_RETURNS: Final = {"plain": _plain, "numpy": _numpy_returns}
