import hashlib
import json
import math
import struct
from enum import StrEnum
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import canonical, digest, freeze
from callgate.calls._canonical import _is_plain, _write
from tests.strategies import json_objects, json_values, names, scalars, typed

# RFC 8785, Appendix B: the bits of a double and the text ECMAScript gives it.
RFC_NUMBERS: Final = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


def double(bits: str) -> float:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert isinstance(value, float)
    return value


def written(value: Any) -> bytes:
    out: list[str] = []
    _write(value, out)
    return "".join(out).encode()


@pytest.mark.parametrize("bits", RFC_NUMBERS)
def test_a_float_is_written_as_the_rfc_writes_it_and_keeps_its_point(bits: str) -> None:
    value, text = double(bits), RFC_NUMBERS[bits]
    if "." not in text and "e" not in text:
        text += ".0"
    if math.copysign(1.0, value) < 0 and text == "0.0":
        text = "-0.0"
    assert canonical(value).decode() == text
    assert json.loads(text).hex() == value.hex()


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])
def test_nan_and_the_infinities_have_no_text(bits: str) -> None:
    with pytest.raises(ValueError, match="NaN"):
        canonical({"a": [double(bits)]})


def test_the_example_of_the_rfc_gives_its_bytes() -> None:
    """RFC 8785, section 3.2.2: input 4.50, 2e-3 and 1E30 among others."""
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": '€$\x0f\nA\'B"\\\\"/',
        "literals": [None, True, False],
    }
    assert canonical(value) == (
        b'{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        b'"string":"\xe2\x82\xac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_names_are_sorted_as_in_the_example_of_the_rfc() -> None:
    """RFC 8785, section 3.2.3: by UTF-16 units, where the emoji comes before U+FB33."""
    value = {
        "€": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\x80": "Control",
        "ö": "Latin Small Letter O With Diaeresis",
    }
    assert [text.split('"')[3] for text in canonical(value).decode().split(",")] == [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
    ]


@given(st.dictionaries(names, st.none()))
def test_names_are_sorted_by_utf16_units(value: dict[str, None]) -> None:
    again = list(json.loads(canonical(value)))
    assert again == sorted(value, key=lambda name: name.encode("utf-16-be"))


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**64, 12345678901234567890123])
def test_integers_are_exact_whatever_their_size(value: int) -> None:
    assert canonical(value).decode() == str(value)


def test_one_and_one_point_nought_and_both_noughts_stay_different() -> None:
    assert [canonical(value) for value in (1, 1.0, 0, 0.0, -0.0, True)] == [
        b"1",
        b"1.0",
        b"0",
        b"0.0",
        b"-0.0",
        b"true",
    ]


@given(json_values)
def test_the_fast_path_writes_what_the_slow_path_writes(value: Any) -> None:
    assert canonical(value) == written(value)


@pytest.mark.parametrize("value", [{"a": 1.5, "ö": ["€", 0.0]}, {"\ud7ff": 1e-5}, [9007199254740993.0]])
def test_the_fast_path_takes_common_floats_and_names(value: Any) -> None:
    assert _is_plain(value)
    assert canonical(value) == written(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_reads_back_as_itself(value: float) -> None:
    assert json.loads(canonical(value)).hex() == value.hex()
    assert written(value) == canonical(value)


@given(json_values)
def test_the_text_reads_back_as_the_value(value: Any) -> None:
    assert typed(json.loads(canonical(value))) == typed(value)


# Few and near: values that a careless writer would give one text.
NEAR: Final = st.recursive(
    st.sampled_from(
        [0, 0.0, -0.0, False, 1, 1.0, True, None, "", "1", "1.0", "null", 2**53, 2.0**53, 2**53 + 1]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["", "a", "a,"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(NEAR, NEAR)
def test_different_values_have_different_texts(one: Any, other: Any) -> None:
    assert (canonical(one) == canonical(other)) == (typed(one) == typed(other))


def turned(value: Any) -> Any:
    """Turn every object round, so that its last name comes first."""
    if isinstance(value, dict):
        return {name: turned(value[name]) for name in reversed(value)}
    return [turned(item) for item in value] if isinstance(value, list) else value


@given(json_objects)
def test_the_order_of_names_does_not_matter(value: Any) -> None:
    assert canonical(turned(value)) == canonical(value)
    assert digest(turned(value)) == digest(value)


@given(json_values)
def test_a_frozen_value_has_the_text_of_the_plain_one(value: Any) -> None:
    assert canonical(freeze(value)) == canonical(value)


@given(scalars)
def test_the_digest_is_sha256_of_the_text(value: Any) -> None:
    assert digest(value) == hashlib.sha256(canonical(value)).hexdigest()


class Colour(StrEnum):
    RED = "red"


class Name(str):
    __slots__ = ()


class Ratio(float):
    def __repr__(self) -> str:
        return "Ratio"


def test_subclasses_are_written_as_what_they_are() -> None:
    value = {Name("b"): Name("x"), "a": [Colour.RED, Ratio(0.5)], "t": (1, 2)}
    assert canonical(value) == b'{"a":["red",0.5],"b":"x","t":[1,2]}'


@pytest.mark.parametrize(
    "value", [{1: 2}, {"a": {None: 1.0}}, [{1, 2}], b"x", object(), {"a": [1e300, object()]}]
)
def test_what_is_not_json_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        canonical(value)


@pytest.mark.parametrize("value", ["\ud800", {"\udfff": 1}, {"\ufb33\ud800": 1e300}, ["\ud83d"]])
def test_half_a_surrogate_pair_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="surrogates"):
        canonical(value)
