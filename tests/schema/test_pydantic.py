"""Signatures as JSON Schema, and arguments as typed Python values again."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Final, Generic, Literal, NamedTuple, NotRequired, Optional, TypeVar, Union
from uuid import UUID

import pydantic
import pytest
import typing_extensions
from pydantic import AfterValidator, BaseModel, Field

from callgate.calls import freeze
from callgate.errors import ToolDeclarationError
from callgate.schema import Model, Validator, build_model, read_signature

NOW: Final = datetime(2026, 1, 1, tzinfo=timezone.utc)  # noqa: UP017 - the type's own name


class Color(Enum):
    RED = 1
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Point:
    """A place."""

    x: int
    color: Color = Color.RED
    tags: list[str] = field(default_factory=list)


class Old(typing.TypedDict, total=False):
    a: typing.Required[int]
    b: str


class New(typing_extensions.TypedDict):
    a: int
    b: NotRequired[str]
    deep: NotRequired[list[Old]]


class Pair(NamedTuple):
    left: int
    right: int = 0


class Person(BaseModel):
    name: str
    friends: list[Person] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


def model(function: Callable[..., Any]) -> Model:
    return build_model(read_signature(function))


def properties(function: Callable[..., Any]) -> dict[str, Any]:
    found: dict[str, Any] = model(function).schema["properties"]
    return found


def read(function: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
    """What the function gets, after the arguments passed the published schema."""
    made = model(function)
    assert Validator(made.schema).findings(arguments) == ()
    assert made.findings(arguments) == ()
    return made.read(arguments)


def test_any_parameter_name_works() -> None:
    def tool(
        model_config: int, _x: int, schema: int, copy: int, json: int, self_: int, model_fields: int
    ) -> None: ...

    names = ["model_config", "_x", "schema", "copy", "json", "self_", "model_fields"]
    assert list(properties(tool)) == names
    assert read(tool, **dict.fromkeys(names, 1)) == dict.fromkeys(names, 1)


def test_structured_parameters_arrive_as_their_types() -> None:
    def tool(
        *, p: Point, old: Old, new: New, lit: Literal[1, 2], level: Level, pair: Pair, person: Person
    ) -> None: ...

    assert read(
        tool,
        p={"x": 1, "color": "blue"},
        old={"a": 1},
        new={"a": 1, "deep": [{"a": 2, "b": "x"}]},
        lit=2,
        level=2,
        pair=[1, 2],
        person={"name": "A", "friends": [{"name": "B"}]},
    ) == {
        "p": Point(1, Color.BLUE),
        "old": {"a": 1},
        "new": {"a": 1, "deep": [{"a": 2, "b": "x"}]},
        "lit": 2,
        "level": Level.HIGH,
        "pair": Pair(1, 2),
        "person": Person(name="A", friends=[Person(name="B")]),
    }


def test_enums_are_published_by_value_and_so_are_their_defaults() -> None:
    def tool(color: Color = Color.BLUE, level: Level = Level.LOW) -> None: ...

    schema = model(tool).schema
    assert schema["$defs"]["Color"] == {"enum": [1, "blue"]}
    assert schema["properties"]["color"] == {"$ref": "#/$defs/Color", "default": "blue"}
    assert schema["properties"]["level"]["default"] == 1


def test_plain_types_arrive_as_their_types() -> None:
    def tool(
        *,
        at: datetime,
        day: date,
        clock: time,
        span: timedelta,
        money: Decimal,
        key: UUID,
        raw: bytes,
        place: Path,
        names: set[str],
        both: tuple[int, str],
        either: int | str,
    ) -> None: ...

    assert read(
        tool,
        at="2026-08-22T10:00:00Z",
        day="2026-08-22",
        clock="10:00",
        span="PT5M",
        money="0.10",
        key="12345678-1234-5678-1234-567812345678",
        raw="abc",
        place="a/b",
        names=["a", "b"],
        both=[1, "x"],
        either="1",
    ) == {
        "at": datetime(2026, 8, 22, 10, tzinfo=timezone.utc),  # noqa: UP017 - the type's own name
        "day": date(2026, 8, 22),
        "clock": time(10),
        "span": timedelta(minutes=5),
        "money": Decimal("0.10"),
        "key": UUID("12345678-1234-5678-1234-567812345678"),
        "raw": b"abc",
        "place": Path("a/b"),
        "names": {"a", "b"},
        "both": (1, "x"),
        "either": "1",
    }


def test_a_time_without_a_zone_can_be_sent_where_the_type_has_none() -> None:
    def tool(at: pydantic.NaiveDatetime) -> None: ...

    assert read(tool, at="2026-08-22T10:00:00") == {"at": datetime(2026, 8, 22, 10)}  # noqa: DTZ001 - that is meant
    assert Validator(model(tool).schema).findings({"at": "2026-08-22T10:00:00Z"}) != ()


def test_a_number_is_never_read_as_a_date() -> None:
    def tool(day: date) -> None: ...

    assert [f.code for f in Validator(model(tool).schema).findings({"day": "2026"})] == ["WRONG_FORMAT"]
    assert [f.code for f in Validator(model(tool).schema).findings({"day": 2026})] == ["WRONG_TYPE"]


def test_every_object_is_closed_unless_it_says_otherwise() -> None:
    class Open(BaseModel, extra="allow"):
        a: int

    def tool(
        p: Point, o: Old, person: Person, free: dict[str, Any], numbers: dict[str, int], open_: Open
    ) -> None: ...

    schema = model(tool).schema
    closed = {name: d.get("additionalProperties") for name, d in schema["$defs"].items() if "properties" in d}
    assert closed == {"Point": False, "Old": False, "Person": False, "Open": True}
    assert schema["additionalProperties"] is False
    assert schema["properties"]["free"] == {"type": "object", "additionalProperties": True}
    assert schema["properties"]["numbers"] == {"type": "object", "additionalProperties": {"type": "integer"}}


def test_the_tag_of_alternatives_is_kept() -> None:
    def tool(pet: Annotated[Cat | Dog, Field(discriminator="kind")]) -> None: ...

    assert read(tool, pet={"kind": "dog", "name": "Rex"}) == {"pet": Dog(kind="dog", name="Rex")}
    findings = Validator(model(tool).schema).findings({"pet": {"kind": "cat", "name": "Rex"}})
    assert {(f.code, f.where) for f in findings} == {
        ("MISSING_PARAMETER", "/pet/lives"),
        ("UNKNOWN_PARAMETER", "/pet/name"),
    }


def test_a_default_of_none_means_that_null_is_allowed() -> None:
    def tool(a: int = None, b: Optional[int] = None, c: Union[int, None] = None) -> None: ...  # type: ignore[assignment] # noqa: RUF013, UP045, UP007

    assert list(map(json.dumps, properties(tool).values()))[1:] == [json.dumps(properties(tool)["a"])] * 2
    assert read(tool, a=None) == {"a": None}


def test_absent_parameters_are_left_to_the_functions_own_defaults() -> None:
    sentinel = object()

    def tool(a: int = 1, b: Any = sentinel, c: list[int] = []) -> None: ...  # noqa: B006 - that is meant

    assert read(tool) == {}
    assert "default" not in properties(tool)["b"]
    assert model(tool).schema.get("required", []) == []


def test_defaults_of_fields_are_filled_in() -> None:
    def tool(
        a: int = Field(default=3, ge=1),
        b: Annotated[int, Field(default=4)] = 5,
        c: list[int] = Field(default_factory=list),  # noqa: B008 - the way of pydantic
        d: int = Field(ge=0),
    ) -> None: ...

    schema = model(tool).schema
    assert schema["properties"]["a"] == {"type": "integer", "minimum": 1, "default": 3}
    assert schema["properties"]["b"]["default"] == 5
    assert schema["required"] == ["d"]
    assert read(tool, d=0) == {"a": 3, "c": [], "d": 0}


def test_an_alias_is_the_public_name() -> None:
    def tool(from_: Annotated[str, Field(alias="from", description="Start.")], to: str) -> None: ...

    assert properties(tool)["from"] == {"type": "string", "description": "Start."}
    assert read(tool, **{"from": "a", "to": "b"}) == {"from_": "a", "to": "b"}


def test_two_parameters_with_one_public_name_are_refused() -> None:
    def tool(a: Annotated[str, Field(alias="b")], b: str) -> None: ...

    with pytest.raises(ToolDeclarationError, match="same public name"):
        model(tool)


def test_typed_keywords_are_additional_properties() -> None:
    def tool(x: int, **rest: int) -> None: ...

    assert model(tool).schema["additionalProperties"] == {"type": "integer"}
    assert read(tool, x=1, y=2) == {"x": 1, "y": 2}


def test_an_extra_parameter_may_have_the_name_of_an_attribute() -> None:
    def tool(x: int = 5, **rest: int) -> None: ...

    assert read(tool, p0=2) == {"p0": 2}
    assert read(tool, x=1, p0=2) == {"x": 1, "p0": 2}


def test_keywords_cannot_override_what_a_partial_fixed() -> None:
    def tool(x: int, limit: int = 0, **rest: int) -> None: ...

    schema = model(functools.partial(tool, limit=9)).schema
    assert [(f.code, f.where) for f in Validator(schema).findings({"x": 1, "limit": 1})] == [
        ("UNKNOWN_PARAMETER", "/limit")
    ]


def test_what_cannot_be_published_is_refused_with_the_parameter_named() -> None:
    class Foreign:
        """Nothing JSON can say."""

    def one(good: int, bad: Foreign) -> None: ...
    def two(good: int, bad: Callable[[], None]) -> None: ...

    for tool in (one, two):
        with pytest.raises(ToolDeclarationError) as refused:
            model(tool)
        assert refused.value.facts["parameter"] == "bad"
        assert refused.value.facts["tool"] == tool.__name__


def test_titles_made_from_names_are_left_out() -> None:
    def tool(some_name: int, p: Point) -> None: ...

    assert "title" not in json.dumps(model(tool).schema)


def test_the_order_of_parameters_is_kept() -> None:
    def tool(z: int, a: int, m: int) -> None: ...

    assert list(properties(tool)) == ["z", "a", "m"]


def test_a_local_class_in_a_field_of_a_local_class() -> None:
    class Leaf(BaseModel):
        n: int

    @dataclass
    class Branch:
        leaf: Leaf

    def tool(branch: Branch) -> None: ...

    assert read(tool, branch={"leaf": {"n": 1}}) == {"branch": Branch(Leaf(n=1))}


T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    inner: T


def test_generic_models() -> None:
    def tool(box: Box[int]) -> None: ...

    assert read(tool, box={"inner": 1}) == {"box": Box[int](inner=1)}


def even(value: int) -> int:
    if value % 2:
        message = f"{value} is odd"
        raise ValueError(message)
    return value


def whole(value: str) -> str:
    if "x" in value:
        message = "no x, please"
        raise ValueError(message)
    return value


def test_what_only_the_types_refuse_is_found_with_its_place() -> None:
    def tool(
        p: list[dict[str, Annotated[int, AfterValidator(even)]]],
        q: Annotated[str, AfterValidator(whole)] = "",
    ) -> None: ...

    made = model(tool)
    arguments = {"p": [{"a": 2}, {"a/b": 77}], "q": "x"}
    assert Validator(made.schema).findings(arguments) == ()
    first, second = made.findings(arguments)
    assert (first.code, first.where) == ("NOT_CONVERTIBLE", "/p/1/a~1b")
    assert "77" not in first.expected
    assert second.where == "/q"


def test_the_words_of_an_authors_check_are_kept_when_they_repeat_nothing() -> None:
    def tool(q: Annotated[str, AfterValidator(whole)]) -> None: ...

    (finding,) = model(tool).findings({"q": "SECRETx"})
    assert finding.expected == "no x, please"


def test_the_place_leaves_out_the_names_of_alternatives() -> None:
    def tool(p: Annotated[int, AfterValidator(even)] | list[int]) -> None: ...

    assert {f.where for f in model(tool).findings({"p": 3})} == {"/p"}


def test_a_validator_that_repeats_a_nested_text_or_name_is_not_quoted() -> None:
    def loud(value: dict[str, Any]) -> dict[str, Any]:
        message = f"bad {value}"
        raise ValueError(message)

    def tool(p: Annotated[dict[str, Any], AfterValidator(loud)]) -> None: ...

    for held in ({"k": ["SECRET"]}, {"SECRET": None}):
        (finding,) = model(tool).findings({"p": held})
        assert "SECRET" not in finding.expected


def test_extra_parameters_of_a_foreign_type_are_refused() -> None:
    class Foreign:
        """Nothing JSON can say."""

    def tool(x: int, **rest: Foreign) -> None: ...

    with pytest.raises(ToolDeclarationError, match="cannot publish these"):
        model(tool)


def test_a_set_is_published_in_one_order() -> None:
    def tool(s: set[str] = frozenset("cab")) -> None: ...  # type: ignore[assignment]

    assert properties(tool)["s"]["default"] == ["a", "b", "c"]


STABLE = """
import json
from callgate.schema import build_model, read_signature
def tool(s: set[str] = frozenset("abcdefgh"), f: frozenset[int] = frozenset(range(9))): ...
print(json.dumps(build_model(read_signature(tool)).schema))
"""


def test_the_schema_is_the_same_in_every_process() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", STABLE], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


class Filled(BaseModel):
    x: int = 0

    @pydantic.model_validator(mode="before")
    @classmethod
    def fill(cls, data: dict[str, Any]) -> dict[str, Any]:
        data.setdefault("x", 1)
        return data


def test_a_validator_of_the_author_may_change_what_it_is_given() -> None:
    def tool(filled: Filled, many: list[Filled]) -> None: ...

    arguments = freeze({"filled": {}, "many": [{}]})
    assert model(tool).findings(arguments) == ()
    assert arguments == {"filled": {}, "many": [{}]}


@pytest.mark.parametrize("problem", [KeyError, TypeError, RuntimeError, RecursionError])
def test_a_validator_that_breaks_is_a_finding_without_its_text(problem: type[Exception]) -> None:
    def breaks(value: str) -> str:
        raise problem(f"hunter2 for {value}")

    def tool(x: Annotated[str, AfterValidator(breaks)]) -> None: ...

    (finding,) = model(tool).findings(freeze({"x": "y"}))
    assert finding.code == "CHECK_FAILED"
    assert "hunter2" not in str(finding)


def test_only_arguments_in_which_nothing_can_be_changed_are_handed_over_as_they_are() -> None:
    def flat(a: int, b: Literal["x", 1] | None, *, c: datetime = NOW, d: float | str = 1) -> None: ...
    def deep(a: int, b: int | list[int]) -> None: ...
    def any_(a: Any) -> None: ...
    def free(**rest: Any) -> None: ...
    def object_(a: Point) -> None: ...

    assert [model(f).is_flat for f in (flat, deep, any_, free, object_)] == [True, False, False, False, False]
