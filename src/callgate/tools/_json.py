"""What a tool returned, as JSON: every value has a defined form, and none undoes an effect that has happened.

In: any Python value. Out: a JSON value and an empty note, or None and ``RESULT_UNREADABLE``. Promise: never
raises, ends for any size and depth, and what cannot be shown leaves the call succeeded.

A whole number of more digits than arguments may have, or two names that become one text, have no form. Dates
in ISO 8601, Decimal, UUID and paths as text, bytes as text where they are UTF-8 and else as
``{"base64": …}``, sets as sorted arrays, NaN and infinities as null, enums by value, dataclasses, named
tuples, pydantic models and msgspec structs as objects.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import decimal
import enum
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
import pydantic
import pydantic_core

from callgate.calls import HALF, MAX_DIGITS

MAX_DEPTH: Final = 100
MAX_ITEMS: Final = 1_000_000
"""Values inside one result; a cycle or an endless iterator ends here."""

_TOO_LONG: Final = 10**MAX_DIGITS
_PLAIN: Final = (bool, type(None))


class _UnreadableError(Exception):
    """The value has no JSON form."""


def to_json(value: Any) -> tuple[Any, str]:
    """The value as JSON and a note: "" or ``RESULT_UNREADABLE``."""
    kind = type(value)
    if kind is str:
        return _clean(value), ""
    if kind in _PLAIN or (kind is int and -_TOO_LONG < value < _TOO_LONG):
        return value, ""
    try:
        return _Walk().convert(value, 0), ""
    except Exception:  # noqa: BLE001 - a property or iterator of the tool's own value may raise anything
        return None, "RESULT_UNREADABLE"


def _clean(text: str) -> str:
    """Text that UTF-8 can carry: a lone half of a surrogate pair becomes U+FFFD."""
    return text if text.isascii() else HALF.sub("\ufffd", text)


class _Walk:
    """One conversion, with its count of values."""

    def __init__(self) -> None:
        self.items = 0

    def convert(self, value: Any, depth: int) -> Any:
        self.items += 1
        if depth > MAX_DEPTH or self.items > MAX_ITEMS:
            raise _UnreadableError
        for kinds, form in _FORMS:
            if isinstance(value, kinds):
                return form(self, value, depth)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            shown = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return self.mapping(shown, depth)
        if hasattr(value, "__fspath__"):
            return _clean(str(value))
        if hasattr(value, "__iter__"):
            raise _UnreadableError
        # UUIDs, addresses and the like: pydantic knows them, and raises for what it does not know.
        return pydantic_core.to_jsonable_python(value)

    def mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        made = {_name(name): self.convert(item, depth + 1) for name, item in value.items()}
        if len(made) < len(value):
            raise _UnreadableError
        return made

    def array(self, value: Any, depth: int) -> list[Any] | dict[str, Any]:
        names = getattr(value, "_fields", None)
        if names is not None:
            return self.mapping(dict(zip(names, value, strict=True)), depth)
        return [self.convert(item, depth + 1) for item in value]

    def unordered(self, value: Any, depth: int) -> list[Any]:
        made = [self.convert(item, depth + 1) for item in value]
        try:
            return sorted(made)
        except TypeError:
            return sorted(made, key=msgspec.json.encode)


def _whole(number: int) -> int:
    if not -_TOO_LONG < number < _TOO_LONG:
        raise _UnreadableError
    return int(number)


def _name(name: Any) -> str:
    if isinstance(name, str):
        return _clean(name)
    if isinstance(name, enum.Enum):
        return _name(name.value)
    if isinstance(name, bool) or name is None:
        return {True: "true", False: "false", None: "null"}[name]
    if isinstance(name, int | float | decimal.Decimal | dt.date):
        return str(name)
    raise _UnreadableError


def _bytes(_walk: _Walk, value: Any, _depth: int) -> Any:
    raw = bytes(value)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}


_FORMS: Final[tuple[tuple[Any, Callable[[_Walk, Any, int], Any]], ...]] = (
    (enum.Enum, lambda walk, value, depth: walk.convert(value.value, depth + 1)),
    (str, lambda _walk, value, _depth: _clean(str(value))),
    ((bool, type(None)), lambda _walk, value, _depth: value),
    (int, lambda _walk, value, _depth: _whole(value)),
    (float, lambda _walk, value, _depth: float(value) if math.isfinite(value) else None),
    (Mapping, lambda walk, value, depth: walk.mapping(value, depth)),
    ((list, tuple), lambda walk, value, depth: walk.array(value, depth)),
    ((dt.datetime, dt.date, dt.time), lambda _walk, value, _depth: value.isoformat()),
    (dt.timedelta, lambda _walk, value, _depth: value.total_seconds()),
    (decimal.Decimal, lambda _walk, value, _depth: str(value)),
    ((bytes, bytearray, memoryview), _bytes),
    ((set, frozenset), lambda walk, value, depth: walk.unordered(value, depth)),
    (
        pydantic.BaseModel,
        lambda walk, value, depth: walk.convert(value.model_dump(mode="python", by_alias=True), depth + 1),
    ),
    (msgspec.Struct, lambda walk, value, depth: walk.convert(msgspec.structs.asdict(value), depth + 1)),
)
