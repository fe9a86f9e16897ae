"""The one parse of a call's arguments.

In: the text a model wrote. Out: a ``FrozenDict``, or a ``Finding`` that says what is wrong and where.
Promise: never raises on data; nothing that JSON text or UTF-8 cannot carry gets past; the value never changes
after.

RFC 8259, stricter where it leaves a choice: a name stands once in an object, numbers are finite, text is
whole characters. jiter reads; what it lets through (an overflowing float, our limits) the freezing walk
refuses. Only then is the text read a second time, tolerantly, to name the place by JSON Pointer (RFC 6901);
the value of that reading is thrown away.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from types import NoneType
from typing import Any, Final

import jiter

from ._frozen import FrozenDict, FrozenList, freeze
from ._values import EMPTY, Finding

MAX_DEPTH: Final = 128
"""Levels of nesting; validators recurse, and no tool needs more."""
MAX_DIGITS: Final = 400
"""Digits of an integer: CPython refuses to print above 4,300, and no id has 1,300 bits."""
MAX_CHARACTERS: Final = 16 * 1024 * 1024
"""Size of the text: a limit against a peer that never stops."""

_TOO_LONG: Final = 10**MAX_DIGITS
_LONG: Final = object()
"""Stands for an integer of more than ``MAX_DIGITS`` digits, which takes quadratic time to read."""
_SOUND: Final = frozenset({str, bool, NoneType})
"""Scalars that need no look: jiter has refused halves of surrogate pairs."""
_BLANK: Final = " \t\n\r"
HALF: Final = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which no UTF-8 can carry."""
_PLACE: Final = re.compile(r"at line \d+ column \d+")

Path = tuple[str | int, ...]


class _Pairs(list[tuple[str, Any]]):
    """An object of the tolerant reading, its duplicate names still in it."""


def parse_arguments(text: str) -> FrozenDict | Finding:
    """Read a call's arguments once.

    Blank text means no arguments. Anything but one JSON object is refused with a code of the syntax layer;
    ``where`` is a JSON Pointer (RFC 6901) when the fault is in a value, and ``expected`` tells line and
    column when the text itself is broken.
    """
    if not text or not text.strip(_BLANK):
        return EMPTY
    if len(text) > MAX_CHARACTERS:
        return Finding("TOO_LARGE", expected=f"at most {MAX_CHARACTERS} characters")
    try:
        value = jiter.from_json(
            text.encode(), allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys"
        )
        return _harden(value, 0) if type(value) is dict else _not_an_object()
    except ValueError as problem:
        return _explain(text, str(problem))


def freeze_arguments(value: Any) -> FrozenDict | Finding:
    """Freeze arguments that arrived as a value (some providers send objects), under the same limits."""
    if not isinstance(value, dict):
        return _not_an_object()
    return _fault(value, (), 0) or freeze(value)


def pointer(path: Path) -> str:
    """A JSON Pointer (RFC 6901) from its steps."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def steps(where: str) -> list[str]:
    """The steps of a JSON Pointer (RFC 6901), each as text."""
    return [step.replace("~1", "/").replace("~0", "~") for step in where.split("/")[1:]]


def _not_an_object() -> Finding:
    return Finding("NOT_AN_OBJECT", expected="a JSON object")


def _harden(value: Any, depth: int) -> Any:
    """What jiter read, frozen; ``ValueError``, as jiter raises, for what it lets through and we do not."""
    kind = type(value)
    if kind is dict and depth < MAX_DEPTH:
        return FrozenDict(
            {name: item if type(item) in _SOUND else _harden(item, depth + 1) for name, item in value.items()}
        )
    if kind is list and depth < MAX_DEPTH:
        return FrozenList([item if type(item) in _SOUND else _harden(item, depth + 1) for item in value])
    if (kind is int and -_TOO_LONG < value < _TOO_LONG) or (kind is float and math.isfinite(value)):
        return value
    raise ValueError


def _explain(text: str, said: str) -> Finding:
    """Why a text was refused: by place in the value where it can be read at all, else by line and column."""
    place = _PLACE.search(said)
    reason = place.group() if place else "it is not JSON"
    try:
        fault = _fault(json.loads(text, object_pairs_hook=_Pairs, parse_int=_integer), (), 0)
    except RecursionError:
        return _too_deep(())
    except json.JSONDecodeError as problem:
        what = problem.msg.lower().removesuffix(" at")
        fault, reason = None, f"{what} at line {problem.lineno} column {problem.colno}"
    return fault or Finding("NOT_JSON", expected=f"one JSON object; {reason}")


def _integer(digits: str) -> Any:
    return int(digits) if len(digits) <= MAX_DIGITS else _LONG


def _fault(value: Any, path: Path, depth: int) -> Finding | None:
    """The first thing in a value that may not be in arguments."""
    if isinstance(value, str):
        return _half(value, path)
    if isinstance(value, dict | list):
        return _fault_inside(value, path, depth)
    if value is _LONG or (isinstance(value, int) and not -_TOO_LONG < value < _TOO_LONG):
        return Finding("TOO_LARGE", pointer(path), f"at most {MAX_DIGITS} digits")
    if isinstance(value, float) and not math.isfinite(value):
        return Finding("NUMBER_NOT_FINITE", pointer(path), "a finite number")
    if value is None or isinstance(value, int | float):
        return None
    return Finding("NOT_JSON", pointer(path), "a JSON value")


def _fault_inside(value: dict[Any, Any] | list[Any], path: Path, depth: int) -> Finding | None:
    if depth >= MAX_DEPTH:
        return _too_deep(path)
    seen: set[str] = set()
    for step, item in _members(value):
        here = (*path, step)
        if isinstance(step, str):
            if half := _half(step, here):
                return half
            if step in seen:
                return Finding("DUPLICATE_KEY", pointer(here), "each name once")
            seen.add(step)
        elif isinstance(value, dict):
            return Finding("NOT_JSON", pointer(path), "an object whose names are text")
        if fault := _fault(item, here, depth + 1):
            return fault
    return None


def _members(value: dict[Any, Any] | list[Any]) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    return value if isinstance(value, _Pairs) else enumerate(value)


def _too_deep(path: Path) -> Finding:
    return Finding("TOO_DEEP", pointer(path), f"at most {MAX_DEPTH} levels")


def _half(value: str, path: Path) -> Finding | None:
    if value.isascii() or not (half := HALF.search(value)):
        return None
    shown = tuple(HALF.sub("\ufffd", step) if isinstance(step, str) else step for step in path)
    expected = f"whole characters; half a surrogate pair is character {half.start()}"
    return Finding("TEXT_NOT_UNICODE", pointer(shown), expected)
