"""Canonical JSON: one value, one text, one digest.

In: a JSON value. Out: bytes, or their SHA-256. Promise: equal values give equal bytes and different values different ones.

RFC 8785 (JSON Canonicalization Scheme), with two deliberate differences: an integer beyond ±(2^53−1) is written exactly in
decimal (64-bit ids are common, and rounding one would let an approval of 2^53 cover 2^53+1), and a float keeps its point, so
that 1, 1.0 and −0.0 stay three different values. Where neither applies the bytes are those of the RFC.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any, Final

import msgspec

_SORTED: Final = msgspec.json.Encoder(order="sorted")
_FIXED_BELOW: Final = 1e21
"""ECMA-262 Number::toString writes numbers below this without an exponent."""


def canonical(value: Any) -> bytes:
    """The canonical UTF-8 text of a JSON value.

    Raises:
        ValueError: The value holds NaN, an infinity or a lone surrogate, which JSON text cannot carry.
        TypeError: The value is not JSON.
    """
    # msgspec sorts by code point and writes floats its own way: it agrees with the RFC where keys are ASCII and no float is in.
    if _is_plain(value):
        return _SORTED.encode(value)
    out: list[str] = []
    _write(value, out)
    return "".join(out).encode()


def digest(value: Any) -> str:
    """SHA-256 over the canonical form: 64 hexadecimal digits. Raises as ``canonical`` does."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        for name, item in value.items():
            if not name.isascii():
                return False
            kind = type(item)
            if kind is not str and kind is not int and not _is_plain(item):
                return False
        return True
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int)


def _write(value: Any, out: list[str]) -> None:
    if isinstance(value, dict):
        opening = "{"
        # RFC 8785 section 3.2.3: names are sorted by their UTF-16 code units.
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


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if value is True:
        return "true"
    if value is False:
        return "false"
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _number(value)
    text = f"{type(value).__name__} is not a JSON value"
    raise TypeError(text)


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _text(value: str) -> str:
    return msgspec.json.encode(value).decode()


def _number(value: float) -> str:
    if not math.isfinite(value):
        text = "JSON has no NaN and no infinity"
        raise ValueError(text)
    if value.is_integer() and abs(value) < _FIXED_BELOW:
        sign = "-" if math.copysign(1.0, value) < 0 else ""
        return f"{sign}{abs(int(value))}.0"
    # repr gives the shortest digits that read back the same, as ECMA-262 does; only the layout differs.
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return digits
    power = int(exponent)
    if power >= 0:
        return f"{digits}e+{power}"
    # ECMA-262 uses the exponent only from 1e-7 down; repr from 1e-5.
    if power < -6:  # noqa: PLR2004 - the bound of Number::toString
        return f"{digits}e{power}"
    sign, digits = ("-", digits[1:]) if digits[0] == "-" else ("", digits)
    return f"{sign}0.{'0' * (-power - 1)}{digits.replace('.', '')}"
