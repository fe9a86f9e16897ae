"""Signatures of everything callable, with annotations resolved where they were written."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest

from callgate.errors import ToolDeclarationError
from callgate.schema import NOTHING, innermost, own_name, read_signature
from tests.schema.elsewhere import wrapped_elsewhere


class Hidden:
    """Stands for what is injected."""


class Inherited(Hidden):
    """So does this."""


class Tool:
    """A callable object."""

    class Mode:
        """Known inside the class only."""

    def __call__(self, x: int) -> int:
        """Call it."""
        return x

    def method(self, x: int, mode: Mode) -> int:
        """A method."""
        return x

    @classmethod
    def made(cls, x: int) -> int:
        return x

    @staticmethod
    def still(x: int) -> int:
        return x


class Undocumented:
    """The class speaks where its call does not."""

    async def __call__(self, x: int) -> int:
        return x


def plain(x: int, y: str = "a") -> str:
    """Plain."""
    return y * x


def names(function: Callable[..., Any]) -> list[str]:
    return [slot.name for slot in read_signature(function).slots]


def test_every_kind_of_callable_has_its_parameters() -> None:
    tool = Tool()
    for function in (tool, tool.method, tool.made, Tool.made, Tool.still, Undocumented(), lambda x: x):
        assert names(function)[0] == "x"
    assert names(plain) == ["x", "y"]


def test_names_and_docstrings_come_from_what_was_written() -> None:
    tool = Tool()
    told = {
        own_name(f): read_signature(f).doc
        for f in (
            tool,
            tool.method,
            plain,
            functools.partial(functools.partial(plain, 1), y="b"),
            Undocumented(),
        )
    }
    assert told == {
        "Tool": "Call it.",
        "method": "A method.",
        "plain": "Plain.",
        "Undocumented": "The class speaks where its call does not.",
    }
    assert own_name(lambda: 0) == ""


def test_what_a_partial_fixed_is_gone() -> None:
    assert names(functools.partial(plain, y="b")) == ["x"]
    assert names(functools.partial(plain, 1)) == ["y"]
    assert read_signature(functools.partial(functools.partial(plain, 1), y="b")).bound == {"x", "y"}
    assert names(functools.partial(Tool().method, 1)) == ["mode"]


def test_a_postponed_annotation_is_the_type_it_names() -> None:
    class Local:
        """Known only here."""

    def tool(a: Local, b: Literal["x", "y"], c: list[Local | None], d: Annotated[int, "note"]) -> Nowhere: ...  # type: ignore[name-defined] # noqa: F821

    slots = {slot.name: slot.annotation for slot in read_signature(tool).slots}
    assert slots["a"] is Local
    assert slots["b"] == Literal["x", "y"]
    assert slots["c"] == list[Local | None]
    assert slots["d"] == Annotated[int, "note"]


def test_a_name_in_the_closure_is_found_after_its_function_returned() -> None:
    def make() -> Callable[..., Any]:
        class Local:
            """In the closure of the tool."""

        def tool(a: Local) -> object:
            return Local

        return tool

    tool = make()
    (slot,) = read_signature(tool).slots
    assert slot.annotation is tool(0)


def test_a_name_of_the_class_is_found_for_its_methods() -> None:
    slots = read_signature(Tool().method).slots
    assert slots[1].annotation is Tool.Mode


def test_names_are_looked_up_where_the_function_was_written_and_not_where_it_was_wrapped() -> None:
    def tool(a: Hidden) -> None: ...

    (slot,) = read_signature(wrapped_elsewhere(tool)).slots
    assert slot.annotation is Hidden
    assert innermost(wrapped_elsewhere(tool)) is tool


def test_a_name_that_nobody_knows_is_named() -> None:
    def tool(good: int, bad: Nowhere) -> None: ...  # type: ignore[name-defined] # noqa: F821

    with pytest.raises(ToolDeclarationError) as refused:
        read_signature(tool)
    assert refused.value.facts["parameter"] == "bad"
    assert refused.value.facts["name"] == "Nowhere"


def test_an_annotation_that_is_no_type_expression_is_refused() -> None:
    def tool(bad: int) -> None: ...

    tool.__annotations__["bad"] = "1 + ''"
    with pytest.raises(ToolDeclarationError, match="cannot be evaluated"):
        read_signature(tool)


@pytest.mark.parametrize(
    ("function", "parameter"),
    [(lambda x, *args: x, "args"), (lambda x, **kwargs: x, "kwargs")],
)
def test_variadic_parameters_are_refused_by_name(function: Callable[..., Any], parameter: str) -> None:
    with pytest.raises(ToolDeclarationError) as refused:
        read_signature(function)
    assert refused.value.facts["parameter"] == parameter
    assert parameter in refused.value.facts["mend"]


def test_typed_keywords_and_parameters_called_args_are_fine() -> None:
    def tool(args: list[str], **kwargs: int) -> None: ...

    signature = read_signature(tool)
    assert [slot.name for slot in signature.slots] == ["args"]
    assert signature.extra is int


def test_injected_parameters_are_hidden_however_they_are_written() -> None:
    def tool(
        a: int, b: Hidden, c: Inherited, d: Hidden | None, e: Annotated[Hidden, "x"], f: list[Hidden]
    ) -> None: ...

    signature = read_signature(tool, (Hidden,))
    assert signature.hidden == {"b", "c", "d", "e"}
    assert [slot.name for slot in signature.slots] == ["a", "f"]


def test_positional_parameters_keep_their_order() -> None:
    def tool(a: int, b: Hidden, c: int = 1, /, d: int = 2) -> None: ...

    signature = read_signature(tool, (Hidden,))
    assert [slot.name for slot in signature.positional] == ["a", "b", "c"]
    assert signature.positional[0].default is NOTHING


def test_what_has_no_signature_is_refused() -> None:
    with pytest.raises(ToolDeclarationError, match="no signature"):
        read_signature(max)


def test_a_method_without_its_object_is_refused() -> None:
    with pytest.raises(ToolDeclarationError) as refused:
        read_signature(Tool.method)
    assert refused.value.facts["parameter"] == "self"
