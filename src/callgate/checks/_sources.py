"""Where a value came from: the user's request, an earlier result, or the model's imagination.

In: values of parameters that are marked with a source, and the texts they must stand in. Out: findings.
Promise: a value passes only where it stands whole; ``12`` does not stand in ``412``, nor ``a.py`` in
``data.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from callgate.calls import Finding, FrozenDict, pointer
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
            for path, value in _leaves(_steps(parameter.where), arguments, ())
            if not self._hold(value, parameter.source)
        )

    def _hold(self, value: str, source: str) -> bool:
        texts = () if source == "result" else (self.request,)
        results = () if source == "request" else self.results
        return any(_stands_in(value, text) for text in (*texts, *_texts(results)))


def _steps(where: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in where.split("/")[1:]]


def _leaves(steps: list[str], value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The texts and numbers under a place that may have ``*`` in it for any item or name.

    There is no leaf in none.
    """
    if isinstance(value, dict | list):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for step, item in members:
            if not steps or steps[0] in ("*", str(step)):
                yield from _leaves(steps[1:], item, (*path, step))
    elif not steps and value is not None and not isinstance(value, bool) and value != "":
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
    """Whether a text holds a value, letter case aside, with no letter or digit going on at either end."""
    value, text = value.casefold(), text.casefold()
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        if not _goes_on(text[start - 1 : start], value[0]) and not _goes_on(value[-1], text[end : end + 1]):
            return True
        start = text.find(value, start + 1)
    return False


def _goes_on(one: str, other: str) -> bool:
    # Only letters and digits of ASCII: Chinese and Japanese write no blanks between words.
    return one.isascii() and other.isascii() and one.isalnum() and other.isalnum()
