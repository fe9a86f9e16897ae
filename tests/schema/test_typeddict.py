"""Typed dictionaries of the standard library as those that pydantic takes."""

import sys
import typing
from typing import Annotated, Any, Literal

import pytest
import typing_extensions

from callgate.errors import ToolDeclarationError
from callgate.schema import build_model, read_signature
from callgate.schema._typeddict import with_typed_dicts


class Old(typing.TypedDict):
    a: int
    b: typing.NotRequired[str]


class Base(typing.TypedDict):
    x: int


class Derived(Base, total=False):
    y: int


class New(typing_extensions.TypedDict):
    a: int


class Tree(typing.TypedDict):
    leaves: "list[Tree]"


def test_required_keys_stay_as_they_were() -> None:
    for kind, required, optional in ((Old, {"a"}, {"b"}), (Derived, {"x"}, {"y"})):
        made = with_typed_dicts(kind)
        assert type(made).__module__ == "typing_extensions"
        assert (made.__required_keys__, made.__optional_keys__) == (required, optional)
        assert made.__name__ == kind.__name__


@pytest.mark.parametrize(
    "annotation",
    [
        list[Old],
        dict[str, Old],
        Old | None,
        typing.Optional[Old],  # noqa: UP045 - another spelling, another type at run time
        typing.Union[Old, int],  # noqa: UP007 - the same
        Annotated[Old, "x"],
        tuple[Old, ...],
    ],
)
def test_they_are_found_inside_other_types(annotation: Any) -> None:
    made = with_typed_dicts(annotation)
    assert made != annotation
    assert typing.get_origin(made) == typing.get_origin(annotation)


@pytest.mark.parametrize(
    "annotation", [int, list[int], New, Literal["a"], Annotated[int, 1], Any, None, list[New]]
)
def test_everything_else_is_left_alone(annotation: Any) -> None:
    assert with_typed_dicts(annotation) is annotation


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydantic takes it there")
def test_one_that_refers_to_itself_is_refused_with_the_mend() -> None:
    def tool(tree: Tree) -> None: ...

    with pytest.raises(ToolDeclarationError, match="typing_extensions"):
        build_model(read_signature(tool))
