"""Where a value came from: the user's request, an earlier result, or the model's imagination.

In: values of parameters that are marked with a source, and the texts they must stand in. Out: findings.
Promise: a value passes only where it stands whole; ``12`` does not stand in ``412`` or ``0.12``, nor
``a.py`` in ``data.py``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from callgate.calls import Finding, FrozenDict, pointer, steps
from callgate.schema import Path
from callgate.tools import Parameter

_EXPECTED: Final = {
    "any": "a value that stands in the user's request or in an earlier result",
    "request": "a value that stands in the user's request",
    "result": "a value that stands in an earlier result",
}


@dataclass(frozen=True, slots=True)
class Sources:
    """What has been said so far.

    The user's ``request``, and the contents of the ``results`` as JSON values.
    """

    request: str = ""
    results: tuple[Any, ...] = ()

    def findings(self, parameters: Iterable[Parameter], arguments: FrozenDict) -> tuple[Finding, ...]:
        """Values that do not stand where their parameter says."""
        marked = [parameter for parameter in parameters if parameter.source]
        if not marked:
            return ()
        return tuple(
            Finding("VALUE_NOT_FROM_SOURCE", pointer(path), _EXPECTED[parameter.source])
            for parameter in marked
            for path, value in _leaves(steps(parameter.where), arguments, ())
            if not self._hold(value, parameter.source)
        )

    def _hold(self, value: str, source: str) -> bool:
        texts = () if source == "result" else (self.request,)
        results = () if source == "request" else self.results
        return any(_stands_in(value, text) for text in (*texts, *_texts(results)))


def _leaves(way: list[str], value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The texts and numbers under a place that may have ``*`` in it for any item or name.

    There is no leaf in none.
    """
    if isinstance(value, dict | list):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for step, item in members:
            if not way or way[0] in ("*", str(step)):
                yield from _leaves(way[1:], item, (*path, step))
    elif not way and value is not None and not isinstance(value, bool) and value != "":
        yield path, str(value)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _stands_in(value: str, text: str) -> bool:
    """Whether a text holds a value, letter case aside, with no word or number going on at either end."""
    value, text = _plain(value), _plain(text)
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        if not _is_part(text[max(0, start - 2) : start], value, text[end : end + 5]):
            return True
        start = text.find(value, start + 1)
    return False


def _plain(text: str) -> str:
    return text.casefold() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


def _is_part(before: str, value: str, after: str) -> bool:
    """Whether a value is only part of the word or number around it."""
    if _goes_on(before[-1:], value[0]) or _goes_on(value[-1], after[:1]):
        return True
    begins = value[0].isdecimal() and (
        _NUMBER_BEFORE.search(before) or (_THOUSANDS_BEFORE.search(before) and _THREE.match(value))
    )
    return bool(begins or (value[-1].isdecimal() and _NUMBER_AFTER.match(after)))


def _goes_on(one: str, other: str) -> bool:
    return _is_of_a_word(one) and _is_of_a_word(other)


def _is_of_a_word(character: str) -> bool:
    if character.isascii():
        return character.isalnum()
    return not _NO_BLANKS.match(character) and unicodedata.category(character)[0] in "LMN"


_NO_BLANKS: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3005-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, kana, Han write no blanks between words; Hangul none before a particle."""
_NUMBER_BEFORE: Final = re.compile(r"(\d|\s|^)\.$|(\W|^)-$")
_THOUSANDS_BEFORE: Final = re.compile(r"\d,$")
_THREE: Final = re.compile(r"\d{3}(?!\d)")
_NUMBER_AFTER: Final = re.compile(r"\.\d|,\d{3}(?!\d)")
