"""The tolerant reading of one provider event, for what typed decoding refuses.

In: the bytes of one JSON object. Out: it as a value, and that value fitted to a dialect's struct. Promise:
raises ``RecursionError`` where the object is nested too deeply, and nothing else on data; broken UTF-8
becomes U+FFFD (WHATWG Encoding, "UTF-8 decode") and is reported; a half of a surrogate pair stays one, so
that it can meet its other half in the next delta; a field of another type than declared is left out; text
that should have come as a string but is an object or array is its verbatim slice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

from callgate.calls import HALF

T = TypeVar("T", bound=msgspec.Struct)

_info = cache(inspect.type_info)

_BETWEEN: Final = re.compile(r"[ \t\r\n,:]*")
_DECODER: Final = json.JSONDecoder()

Key = str | int
"""Where a value stands: a name in an object, a place in an array."""
Parts = Callable[[], dict[Key, str]]
"""The verbatim texts of what stands in an object or array; read only where one of them is asked for."""


class Loose(NamedTuple):
    """A JSON object; the text it was read from; whether that had broken UTF-8 in it."""

    value: dict[str, Any]
    text: str
    damaged: bool = False


def read(data: bytes) -> Loose | None:
    """Read one JSON object, or ``None`` where there is none."""
    text, damaged = _text(data)
    value = _value(text)
    return Loose(value, text, damaged) if isinstance(value, dict) else None


def parsed(data: bytes) -> Any:
    """Read one JSON value; ``None`` where there is none."""
    return _value(_text(data)[0])


def fit(kind: type[T], loose: Loose) -> T:
    """The value as a struct: whatever fits its declared fields."""
    fitted: T = _struct(_info(kind), loose.value, cache(lambda: _parts(loose.text)))
    return fitted


def opened(kind: type[T], raw: msgspec.Raw) -> tuple[T, Loose | None]:
    """A field kept raw, as a struct; with the tolerant reading where that was needed."""
    try:
        # What a struct skips msgspec does not check, and it may be looked at yet.
        bytes(raw).decode()
        return msgspec.json.decode(raw, type=kind), None
    except ValueError:
        loose = read(bytes(raw)) or Loose({}, "")
        return fit(kind, loose), loose


def verbatim(raw: msgspec.Raw) -> Any:
    """A field kept raw, as a JSON value that can be encoded again."""
    try:
        return msgspec.json.decode(raw)
    except ValueError:
        loose = read(bytes(raw))
        return _whole_all(loose.value) if loose else None


def joined(text: str) -> str:
    """The text with the halves of pairs put together that stand side by side."""
    if not has_half(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def whole(text: str) -> str:
    """The text with each half that has no other replaced by U+FFFD, so that it can be encoded."""
    return HALF.sub("\ufffd", joined(text)) if has_half(text) else text


def has_half(text: str) -> bool:
    """Whether a half of a surrogate pair is in it."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _text(data: bytes) -> tuple[str, bool]:
    """The text of the bytes, and whether that had broken UTF-8 in it."""
    try:
        return data.decode(), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), True


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _parts(text: str) -> dict[Key, str]:
    """The verbatim texts of what stands in an object or array. Of two under one name the last counts."""
    parts: dict[Key, str] = {}
    at = _past(text, _past(text, 0) + 1)
    is_object = text.lstrip()[0] == "{"
    while text[at] not in "}]":
        key: Key = len(parts)
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
        start = _past(text, at)
        _, end = _DECODER.raw_decode(text, start)
        parts[key] = text[start:end]
        at = _past(text, end)
    return parts


def _past(text: str, at: int) -> int:
    """Past what stands between two values of a text that is known to be JSON."""
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def _whole_all(value: Any) -> Any:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {whole(name): _whole_all(item) for name, item in value.items()}
    return [_whole_all(item) for item in value] if isinstance(value, list) else value


def _struct(info: Any, value: dict[str, Any], parts: Parts) -> Any:
    fitted = {
        field.name: held
        for field in info.fields
        if (given := value.get(field.encode_name)) is not None
        and (held := _field(field.type, given, field.encode_name, parts)) is not None
    }
    return info.cls(**fitted)


def _field(info: Any, value: Any, key: Key, parts: Parts) -> Any:
    if isinstance(info, inspect.UnionType):
        info = next(kind for kind in info.types if not isinstance(kind, inspect.NoneType))
    match info, value:
        case inspect.StructType(), dict():
            return _struct(info, value, _inside(parts, key))
        case inspect.ListType(), list():
            inner, kind = _inside(parts, key), info.item_type
            every = (_field(kind, item, place, inner) for place, item in enumerate(value))
            return [held for held in every if held is not None]
        case inspect.RawType(), _:
            return msgspec.Raw(parts()[key].encode())
        case inspect.StrType(), dict() | list():
            return parts()[key]
        case inspect.StrType(), str():
            return value
        case inspect.IntType(), int() | float() | str():
            return _integer(value)
    return _whole_all(value) if isinstance(info, inspect.AnyType) else None


def _inside(parts: Parts, key: Key) -> Parts:
    return cache(lambda: _parts(parts()[key]))


def _integer(value: float | str) -> int | None:
    try:
        return int(float(value))
    except (ValueError, OverflowError):
        return None
