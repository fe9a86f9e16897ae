"""Canonical JSON: one value, one text, one digest.

In: a JSON value. Out: bytes, or their SHA-256. Promise: equal values give equal bytes and different values
different ones; what is not JSON is refused.

RFC 8785 (JSON Canonicalization Scheme), with two deliberate differences: an integer beyond ±(2^53−1) is
written exactly in decimal (64-bit ids are common, and rounding one would let an approval of 2^53 cover
2^53+1), and a float keeps its point, so that 1, 1.0 and −0.0 stay three different values. Where neither
applies the bytes are those of the RFC.
"""

from __future__ import annotations

import hashlib
import math
from types import NoneType
from typing import Any, Final

import msgspec

_SORTED: Final = msgspec.json.Encoder(order="sorted")
_PLAIN: Final = frozenset({str, int, bool, NoneType})
_UTF16_SORTS_ALIKE_BELOW: Final = "\ue000"
"""Below, order by code point is order by UTF-16 unit; above, surrogate pairs sort before U+E000…U+FFFF."""


def canonical(value: Any) -> bytes:
    """The canonical UTF-8 text of a JSON value.

    Raises:
        ValueError: The value holds NaN, an infinity or a lone surrogate, which JSON text cannot carry.
        TypeError: The value is not JSON.
    """
    if _is_plain(value):
        return _SORTED.encode(value)
    out: list[str] = []
    _write(value, out)
    return "".join(out).encode()


def digest(value: Any) -> str:
    """SHA-256 over the canonical form: 64 hexadecimal digits. Raises as ``canonical`` does."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _is_plain(value: Any) -> bool:
    """Whether msgspec, which sorts by code point and lays out floats otherwise, writes it as the RFC does."""
    kind = type(value)
    if kind in _PLAIN:
        return True
    if kind is float:
        # In these bounds msgspec writes a plain decimal; beyond, an exponent, which ECMA-262 does later.
        return bool(1e-5 <= abs(value) < 1e16 or value == 0)
    if isinstance(value, dict):
        for name, item in value.items():
            if type(name) is not str or not (name.isascii() or max(name) < _UTF16_SORTS_ALIKE_BELOW):
                return False
            if type(item) not in _PLAIN and not _is_plain(item):
                return False
        return True
    return isinstance(value, list) and all(map(_is_plain, value))


def _write(value: Any, out: list[str]) -> None:
    if isinstance(value, dict):
        opening = "{"
        for name in sorted(value, key=_utf16):
            out.extend((opening, _text(name), ":"))
            _write(value[name], out)
            opening = ","
        out.append("{}" if opening == "{" else "}")
    elif isinstance(value, list | tuple):
        opening = "["
        for item in value:
            out.append(opening)
            _write(item, out)
            opening = ","
        out.append("[]" if opening == "[" else "]")
    else:
        out.append(_scalar(value))


def _utf16(name: Any) -> bytes:
    """RFC 8785 section 3.2.3: names are sorted by their UTF-16 code units."""
    if not isinstance(name, str):
        raise TypeError(f"a JSON object has text keys, not {type(name).__name__}")
    return name.encode("utf-16-be")


def _scalar(value: Any) -> str:
    if value is None or value is True or value is False:
        return msgspec.json.encode(value).decode()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return _number(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _text(value: str) -> str:
    # str.__str__ takes the text out of a subclass, which msgspec refuses and an enum prints otherwise.
    return msgspec.json.encode(str.__str__(value)).decode()


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError("JSON has no NaN and no infinity")
    # repr gives the shortest digits that read back the same, as ECMA-262 does; only the layout differs.
    digits, _, exponent = float.__repr__(value).partition("e")
    if not exponent:
        return digits
    power = int(exponent)
    # ECMA-262 Number::toString uses the exponent from 1e21 up and from 1e-7 down; repr from 1e16 and 1e-5.
    if power >= 21:
        return f"{digits}e+{power}"
    if power < -6:
        return f"{digits}e{power}"
    sign, digits = ("-", digits[1:]) if digits[0] == "-" else ("", digits)
    digits = digits.replace(".", "")
    return f"{sign}{digits:0<{power + 1}}.0" if power > 0 else f"{sign}0.{'0' * (-power - 1)}{digits}"
