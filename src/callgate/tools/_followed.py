"""Which words speak of a path, a command or an address.

In: the name of a parameter, its description, its pattern. Out: a risk class by what they say. Promise: names
decide before descriptions; of a description only the beginning is heard, where it says what the parameter
is.

The tables were made by reading the parameters of 1,857 published MCP tools; how often they are right stands
in docs/explanation/risk_classes.md.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from ._effects import words

Risk = Literal["value", "structured", "free_text", "path", "command", "url"]
FOLLOWED: Final = frozenset({"path", "command", "url"})
"""The classes that need a guard: some system will follow what the text says."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


BY_FORMAT: Final[dict[str, Risk]] = {
    **dict.fromkeys(_set("path file-path directory-path"), "path"),
    **dict.fromkeys(_set("uri url uri-reference iri iri-reference uri-template"), "url"),
    **dict.fromkeys(_set("date time date-time duration uuid email ipv4 ipv6 regex"), "value"),
    **dict.fromkeys(_set("binary byte base64 base64url"), "free_text"),
}
_FILES: Final = _set(
    "path paths pathname filepath filepaths file files filename filenames folder folders cwd"
)
_BY_WORD: Final[dict[str, Risk]] = {
    **dict.fromkeys(_FILES | _set("dir dirs directory directories basedir workdir"), "path"),
    **dict.fromkeys(_set("command commands cmd shell script argv bash javascript sql"), "command"),
    **dict.fromkeys(_set("url urls uri uris href link links webhook endpoint"), "url"),
}
"""Last telling word of a name → class."""
_NEUTRAL: Final = _set("name names list glob globs pattern patterns prefix filter string str to")
"""Last words that leave it to the word before: ``file_name``."""
_DECIDED: Final = _set(
    "id ids iid gid uid uuid key keys sha hash token slug tag tags type types mode level status kind format"
    " name names title description port timezone language color version ref branch namespace team"
)
"""Last words of names of other things, whatever the description goes on to mention."""

_CODE: Final = r"javascript|python|sql|bash|shell|code|script|expression|statement|source|function|program"
_ROLE: Final = r"file|directory|folder|local|absolute|relative|output|input|destination|source"
_DESCRIBED: Final[tuple[tuple[Risk, re.Pattern[str]], ...]] = (
    (
        "command",
        re.compile(
            r"\b(shell|bash|terminal|cli|command[- ]line) (command|script)\b|\bcommands? (to|that|argument)"
            rf"|\b({_CODE})\b[^.]{{0,30}}\b(to|will|should) (be )?(run|execut|evaluat)"
            r"|^\W*(the |a |an |raw )?(javascript|sql|python) (code|function|query|statement|script)"
        ),
    ),
    (
        "path",
        re.compile(
            rf"\b({_ROLE}) ?paths?\b|\bpaths? (to|of|where)\b"
            r"|^\W*(the |a |an |output |local )*(file|directory|folder) (to|in which|where)\b"
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
    r"^\W*(the |a |an )?(unique )?(ids?|identifiers?|contents?) (of|for)\b|\b(folder|file)('s)? ids?\b"
    r"|\bnavigation property\b|\bread-only\b|\b(regex|regexp|regular expression)|\burl patterns?\b"
    r"|\burl'?s? path\b|\burl[- ]encoded\b|\bbase64\b|\bjson ?(path|pointer)|\bxpath\b|\bdot[- ]|\bkey path"
    r"|\bmodule'?s? path|^\W*[\w ]{0,20}\bnames? for\b"
)
"""What a description says of a name that only looks like a path or an address."""
_ASIDE: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)|`[^`]*`")
"""Links and quoted code: they show something else."""
_HEAD: Final = 200
"""Characters of a description that say what the parameter is.

What follows says what else there is to know.
"""
_LINE: Final = 2_000
"""Characters in which they are looked for, links and quoted code among them: the search is quadratic."""


def by_words(name: str, description: str) -> Risk:
    """The class of open text, by its name and then by its description.

    ``free_text`` when neither speaks of more.
    """
    line = description[:_LINE].lower().partition("\n")[0]
    head = _ASIDE.sub(r"\1", line)[:_HEAD]
    if _OTHER.search(head):
        return "free_text"
    if named := _by_name(name):
        return named
    if _DECIDED.intersection(words(name)[-1:]):
        return "free_text"
    return next((kind for kind, form in _DESCRIBED if form.search(head)), "free_text")


def _by_name(name: str) -> Risk | None:
    said = words(name)
    if said[-2:] in (["sort", "dir"], ["order", "dir"]):
        return None
    for word in reversed(said):
        if word in _BY_WORD:
            return _BY_WORD[word]
        if word not in _NEUTRAL and not word.isdecimal():
            return None
    return None


_PROBES: Final[dict[str, tuple[str, ...]]] = {
    "path": ("a", "a.txt", "a/b.txt", "/a/b", "../a", "a\\b"),
    "command": ("ls", "ls -l", "a();", "select 1"),
    "url": ("http://a", "https://a.example/b?c=d", "//a/b", "file:///a"),
}


def is_narrow(pattern: str, kind: Risk) -> bool:
    """Whether a pattern lets through nothing of the kind, as that of an identifier does not."""
    try:
        form = re.compile(pattern)
    except re.error:  # an ECMA-262 pattern that Python cannot read says nothing here
        return False
    return not any(form.search(probe) for probe in _PROBES[kind])
