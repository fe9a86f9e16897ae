"""The one parse of a call's arguments.

In: the text a model wrote. Out: a ``FrozenDict``, or a ``Finding`` that says what is wrong and where. Promise: never raises on
data; nothing that JSON text or UTF-8 cannot carry gets past; the value never changes after.

RFC 8259, stricter where it leaves a choice: a name stands once in an object, numbers are finite, text is whole characters.
jiter reads; what it lets through (an overflowing float, our limits) the freezing walk refuses. Only when it refuses is the text
read a second time, tolerantly, to name the place by JSON Pointer; the value of that reading is thrown away.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

import jiter

from ._frozen import FrozenDict, FrozenList
from ._values import EMPTY, Finding

MAX_DEPTH: Final = 128
"""Levels of nesting; validators recurse, and no tool needs more."""
MAX_DIGITS: Final = 400
"""Digits of an integer: CPython refuses to print above 4,300, and no id has 1,300 bits."""
MAX_CHARACTERS: Final = 16 * 1024 * 1024
"""Size of the text: a limit against a peer that never stops."""

_MAX_BITS: Final = MAX_DIGITS * 10 // 3
_BLANK: Final = " \t\n\r"
_HALF: Final = re.compile("[\ud800-\udfff]")

Path = tuple[str | int, ...]


class _RefusedError(Exception):
    """Leaves the walk from any depth; caught where the walk began."""

    def __init__(self, finding: Finding) -> None:
        super().__init__()
        self.finding = finding


class _Pairs(list[tuple[str, Any]]):
    """An object of the tolerant reading, its duplicate names still in it."""


class _Long(str):
    """The digits of an integer too long to be one."""

    __slots__ = ()


def parse_arguments(text: str) -> FrozenDict | Finding:
    """Read a call's arguments once.

    Blank text means no arguments. Anything but one JSON object is refused with a code of the syntax layer; ``where`` is a JSON
    Pointer (RFC 6901) when the fault is in a value, and ``expected`` tells line and column when the text itself is broken.
    """
    if not text or not text.strip(_BLANK):
        return EMPTY
    if len(text) > MAX_CHARACTERS:
        return Finding("TOO_LARGE", expected=f"at most {MAX_CHARACTERS} characters")
    try:
        value = jiter.from_json(text.encode(), allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")
    except ValueError as problem:
        return _explain(text, str(problem))
    return freeze_arguments(value)


def freeze_arguments(value: Any) -> FrozenDict | Finding:
    """Freeze arguments that arrived as a value (some providers send objects), under the same limits."""
    if not isinstance(value, dict):
        return Finding("NOT_AN_OBJECT", expected="a JSON object")
    try:
        frozen: FrozenDict = _walk(value, (), 0)
    except _RefusedError as refused:
        return refused.finding
    return frozen


def pointer(path: Path) -> str:
    """A JSON Pointer (RFC 6901) from its steps."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _walk(value: Any, path: Path, depth: int) -> Any:
    if isinstance(value, str):
        return _text(value, path)
    if isinstance(value, dict | list):
        if depth >= MAX_DEPTH:
            _refuse("TOO_DEEP", path, f"at most {MAX_DEPTH} levels")
        if isinstance(value, dict):
            return FrozenDict({name: _member(name, item, path, depth) for name, item in value.items()})
        return FrozenList([_walk(item, (*path, place), depth + 1) for place, item in enumerate(value)])
    if isinstance(value, float) and not math.isfinite(value):
        _refuse("NUMBER_NOT_FINITE", path, "a finite number")
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        _refuse("TOO_LARGE", path, f"at most {MAX_DIGITS} digits")
    return value


def _member(name: str, item: Any, path: Path, depth: int) -> Any:
    # The common scalars need no look of their own.
    if name.isascii() and ((type(item) is str and item.isascii()) or item is None or item is True or item is False):
        return item
    here = (*path, name)
    _text(name, here)
    return _walk(item, here, depth + 1)


def _text(value: str, path: Path) -> str:
    if not value.isascii() and (half := _HALF.search(value)):
        shown = tuple(_HALF.sub("\ufffd", step) if isinstance(step, str) else step for step in path)
        _refuse("TEXT_NOT_UNICODE", shown, f"whole characters; half a surrogate pair is character {half.start()}")
    return value


def _refuse(code: str, path: Path, expected: str) -> NoReturn:
    raise _RefusedError(Finding(code, pointer(path), expected))


def _explain(text: str, said: str) -> Finding:
    """Why jiter refused: by place in the value where the text can be read at all, else by line and column."""
    try:
        _find(json.loads(text, object_pairs_hook=_Pairs, parse_int=_integer), (), 0)
    except _RefusedError as refused:
        return refused.finding
    except RecursionError:
        return Finding("TOO_DEEP", expected=f"at most {MAX_DEPTH} levels")
    except ValueError as problem:
        if isinstance(problem, json.JSONDecodeError):
            said = f"{problem.msg.lower()} at line {problem.lineno} column {problem.colno}"
    return Finding("NOT_JSON", expected=f"one JSON object; {said}")


def _integer(digits: str) -> int | _Long:
    return int(digits) if len(digits) <= MAX_DIGITS else _Long(digits)


def _find(value: Any, path: Path, depth: int) -> None:
    if isinstance(value, _Long):
        _refuse("TOO_LARGE", path, f"at most {MAX_DIGITS} digits")
    if isinstance(value, _Pairs):
        if depth >= MAX_DEPTH:
            _refuse("TOO_DEEP", path, f"at most {MAX_DEPTH} levels")
        seen: set[str] = set()
        for name, item in value:
            here = (*path, name)
            _text(name, here)
            if name in seen:
                _refuse("DUPLICATE_KEY", here, "each name once")
            seen.add(name)
            _find(item, here, depth + 1)
    elif isinstance(value, list):
        if depth >= MAX_DEPTH:
            _refuse("TOO_DEEP", path, f"at most {MAX_DEPTH} levels")
        for place, item in enumerate(value):
            _find(item, (*path, place), depth + 1)
    else:
        _walk(value, path, depth)
