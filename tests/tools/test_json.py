"""R039: a result that is not JSON has a defined form, and none of them turns a success into a crash."""

import dataclasses
import datetime as dt
import decimal
import enum
import itertools
import json
import uuid
from collections import namedtuple
from pathlib import PurePosixPath
from typing import Any

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.tools import to_json


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    when: dt.date


class Model(pydantic.BaseModel):
    price: decimal.Decimal


class Struct(msgspec.Struct):
    tags: set[str]


Pair = namedtuple("Pair", "left right")  # noqa: PYI024 - the untyped form is what tools return


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("资料", "资料"),
        (dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC), "2026-01-02T03:04:05+00:00"),
        (dt.timedelta(seconds=90), 90.0),
        (decimal.Decimal("0.10"), "0.10"),
        (b"plain", "plain"),
        (b"\xff\x00", {"base64": "/wA="}),
        ({3, 1, 2}, [1, 2, 3]),
        ({"b", 1}, ["b", 1]),
        (float("nan"), None),
        (float("inf"), None),
        (Colour.RED, "red"),
        (Point(1, dt.date(2026, 1, 2)), {"x": 1, "when": "2026-01-02"}),
        (Model(price=decimal.Decimal("1.5")), {"price": "1.5"}),
        (Struct({"a"}), {"tags": ["a"]}),
        (Pair(1, b"x"), {"left": 1, "right": "x"}),
        ((1, 2), [1, 2]),
        ({1: "a", Colour.RED: "b", None: "c", False: "d"}, {"1": "a", "red": "b", "null": "c", "false": "d"}),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("a/b"), "a/b"),
        ("half \ud800", "half \ufffd"),
    ],
)
def test_each_kind_of_value_has_its_form(value: Any, expected: Any) -> None:
    assert to_json(value) == (expected, "")


class Hostile:
    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError


def cycle() -> list[Any]:
    inside: list[Any] = []
    inside.append(inside)
    return inside


@pytest.mark.parametrize(
    "value",
    [
        *(object(), {"self": object()}, Hostile(), cycle(), [itertools.count()], {(1, 2): 3}),
        *([10**5000], [-(10**400)], {"n": 10**400}, {10**5000: 1}),
        *({1: "a", "1": "b"}, dict.fromkeys(["\ud800", "\udfff"]), [{None: 1, "null": 2}]),
    ],
)
def test_what_has_no_form_is_said_so_and_raises_nothing(value: Any) -> None:
    assert to_json(value) == (None, "RESULT_UNREADABLE")


def test_a_number_that_nothing_could_write_down_is_said_so_also_alone() -> None:
    for number in (10**400, -(10**5000)):
        assert to_json(number) == (None, "RESULT_UNREADABLE")


def test_the_longest_number_that_arguments_may_have_is_shown() -> None:
    assert to_json(10**400 - 1) == (10**400 - 1, "")
    assert to_json([1 - 10**400]) == ([1 - 10**400], "")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_json_stays_what_it_is(value: Any) -> None:
    made, note = to_json(value)
    assert note == ""
    assert json.loads(json.dumps(made)) == json.loads(json.dumps(value))
