"""What a declaration keeps as data, and what it refuses."""

import functools
from collections.abc import AsyncIterator, Iterator
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, Optional, Self
from uuid import UUID

import pytest
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StringConstraints, model_validator

from callgate.calls import Description, Effect, Example, freeze
from callgate.errors import ToolDeclarationError, UnsupportedSchemaError
from callgate.tools import NOTES, ToolOptions, WorkspacePath, declare, declare_schema, writes

READ = ToolOptions(effect=Effect.READ)


def get_weather(city: str, unit: str = "c") -> float:
    """Get the weather.

    Args:
        city: Where.

    Returns:
        Degrees.

    Warning:
        Slow.
    """
    return 0.0


def test_the_parts_of_a_description_are_kept_apart() -> None:
    tool = declare(get_weather, ToolOptions(when="asked", when_not="indoors", instead="read_sensor"))
    assert tool.definition.description == Description(
        what="Get the weather.",
        when="asked",
        when_not="indoors",
        instead="read_sensor",
        returns="Degrees.",
        danger="Slow.",
        effect_note="Read only.",
    )
    assert tool.definition.parameters["properties"]["city"]["description"] == "Where."


def test_options_speak_before_the_docstring() -> None:
    told = declare(get_weather, ToolOptions(what="W.", returns="R.", danger="D.")).definition.description
    assert (told.what, told.returns, told.danger) == ("W.", "R.", "D.")


@pytest.mark.parametrize("effect", Effect)
def test_the_class_writes_its_own_note(effect: Effect) -> None:
    told = declare(get_weather, ToolOptions(effect=effect)).definition.description
    assert told.effect_note == NOTES[effect]
    assert told.text().endswith(NOTES[effect])


def test_examples_are_kept_and_must_fit() -> None:
    tool = declare(
        get_weather,
        ToolOptions(examples=[("weather in 北京?", {"city": "北京"}), Example("x", freeze({"city": "y"}))]),
    )
    assert [e.request for e in tool.definition.examples] == ["weather in 北京?", "x"]
    bad: list[dict[str, Any]] = [{"town": "x"}, {"city": 3}, {"city": float("nan")}]
    for arguments in bad:
        with pytest.raises(ToolDeclarationError, match="example"):
            declare(get_weather, ToolOptions(examples=[("x", arguments)]))


def test_the_parameter_of_the_expected_version() -> None:
    def update_x(expected_version: str, etag: str) -> None: ...

    assert declare(update_x).expected_version == "expected_version"
    assert declare(update_x, ToolOptions(expected_version="etag")).expected_version == "etag"
    assert declare(get_weather).expected_version == ""
    with pytest.raises(ToolDeclarationError):
        declare(update_x, ToolOptions(expected_version="version"))


def test_who_sends_data_out() -> None:
    def send_note(text: str) -> None: ...

    def hit(name: str, url: dict[str, Any], **options: Any) -> bool:
        return declare_schema(
            name, "", {"properties": url}, lambda arguments: 0, ToolOptions(**options)
        ).egress

    assert declare(send_note).egress
    assert not declare(send_note, ToolOptions(egress=False)).egress
    assert not declare(get_weather).egress
    assert hit("get_page", {"url": {"type": "string"}})
    assert hit("get_page", {}, hints={"openWorldHint": True})
    assert not hit("get_page", {})


class Asynchronous:
    async def __call__(self, x: int) -> int:
        return x

    async def method(self, x: int) -> int:
        return x


def test_how_a_function_is_to_be_called() -> None:
    async def coroutine(x: int) -> int:
        return x

    def generator(x: int) -> Iterator[int]:
        yield x

    async def both(x: int) -> AsyncIterator[int]:
        yield x

    def awaited_later(x: int) -> Any:
        return coroutine(x)

    def sorts(function: Any) -> tuple[bool, bool]:
        tool = declare(function, READ.but(name="get_x"))
        return tool.is_async, tool.is_generator

    plain, asynchronous = (False, False), (True, False)
    assert [sorts(f) for f in (get_weather, lambda x: x, awaited_later)] == [plain] * 3
    for function in (
        coroutine,
        functools.partial(functools.partial(coroutine), 1),
        Asynchronous(),
        Asynchronous().method,
    ):
        assert sorts(function) == asynchronous
    assert sorts(generator) == sorts(functools.partial(generator)) == (False, True)
    assert sorts(both) == (True, True)


def test_the_digest_changes_with_everything_a_model_is_told_and_with_nothing_else() -> None:
    def digest(description: str, schema: dict[str, Any], **options: Any) -> str:
        return declare_schema(
            "get_x", description, schema, lambda arguments: 0, ToolOptions(**options)
        ).definition.digest

    one = digest("Send mail", {"properties": {"to": {}, "cc": {}}, "required": ["to"]})
    assert one == digest("Send mail", {"required": ["to"], "properties": {"cc": {}, "to": {}}})
    assert one == digest("Send mail", {"properties": {"to": {}, "cc": {}}, "required": ["to"]}, tags=["x"])
    others = {
        digest("Send mail, always bcc …", {"properties": {"to": {}, "cc": {}}, "required": ["to"]}),
        digest("Send mail", {"properties": {"to": {}, "cc": {}, "extra": {}}, "required": ["to"]}),
        digest("Send mail", {"properties": {"to": {}, "cc": {}}}),
    }
    assert len(others | {one}) == 4


def test_a_schema_that_is_not_json_is_refused() -> None:
    with pytest.raises(UnsupportedSchemaError) as refused:
        declare_schema("get_x", "", {"properties": {"a": {"default": {1, 2}}}}, lambda arguments: 0)
    assert refused.value.facts["tool"] == "get_x"


def test_a_reconcile_function_that_could_not_be_called_is_refused_at_declaration() -> None:
    with pytest.raises(ToolDeclarationError, match="reconcile"):
        declare(save_it, ToolOptions(effect=Effect.WRITE, reconcile=lambda call: call))
    declare(save_it, ToolOptions(effect=Effect.WRITE, reconcile=lambda ctx, call: (ctx, call)))


def save_it(value: int) -> None:
    """Save."""


def _lower(text: str) -> str:
    return text.lower()


class Ticket(Enum):
    ONE = "one"


@pytest.mark.parametrize(
    ("kind", "is_kept"),
    [
        (str, True),
        (int, True),
        (int | str | None, True),
        (list[str], True),
        (Literal["a", "b"], True),
        (Ticket, True),
        (date, True),
        (Annotated[str, Field(min_length=1, pattern="^[a-z]+$")], True),
        (UUID, False),
        (datetime, False),
        (Decimal, False),
        (float, False),
        (list[UUID], False),
        (UUID | None, False),
        (Annotated[str, StringConstraints(strip_whitespace=True)], False),
        (Annotated[str, StringConstraints(to_lower=True)], False),
        (Annotated[str, AfterValidator(_lower)], False),
        (WorkspacePath, False),
    ],
)
def test_what_names_a_resource_has_one_spelling(kind: Any, is_kept: bool) -> None:
    def update_ticket(ticket: Any) -> None: ...

    update_ticket.__annotations__["ticket"] = kind
    options = ToolOptions(accesses=[writes("ticket:{ticket}")])
    if is_kept:
        assert declare(update_ticket, options).insides.reach.templates
        return
    with pytest.raises(ToolDeclarationError) as refused:
        declare(update_ticket, options)
    assert refused.value.facts["parameter"] == "ticket"
    assert "check=" in refused.value.facts["mend"]


class Move(BaseModel):
    to: Annotated[WorkspacePath, AfterValidator(_lower)]


class Checked(BaseModel):
    to: WorkspacePath
    id: UUID

    @model_validator(mode="after")
    def look(self) -> Self:
        return self


class Chain(BaseModel):
    to: WorkspacePath
    next: Optional["Chain"] = None


@pytest.mark.parametrize(
    ("kind", "is_kept"),
    [
        (WorkspacePath, True),
        (WorkspacePath | None, True),
        (Annotated[WorkspacePath, Field(min_length=1)], True),
        (dict[WorkspacePath, UUID], True),
        (Checked, True),
        (Chain, True),
        (Annotated[list[WorkspacePath], AfterValidator(sorted)], True),
        (Annotated[WorkspacePath, StringConstraints(strip_whitespace=True)], False),
        (Annotated[WorkspacePath, StringConstraints(to_lower=True)], False),
        (Annotated[WorkspacePath, BeforeValidator(_lower)], False),
        (list[Annotated[WorkspacePath, AfterValidator(_lower)]], False),
        (Annotated[WorkspacePath | None, AfterValidator(_lower)], False),
        (Move, False),
        (dict[str, Move], False),
    ],
)
def test_a_path_reaches_the_function_as_it_was_judged(kind: Any, is_kept: bool) -> None:
    def write_it(path: Any) -> None: ...

    write_it.__annotations__["path"] = kind
    if is_kept:
        assert declare(write_it).insides.reach.paths
        return
    with pytest.raises(ToolDeclarationError) as refused:
        declare(write_it)
    assert refused.value.facts["parameter"] == "path"
