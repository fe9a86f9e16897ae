"""Markers ride in the schema and are never published."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from callgate.errors import ToolDeclarationError
from callgate.tools import Toolset, reads, source, unguarded, writes
from callgate.tools._markers import PREFIX


class Nested(BaseModel):
    note: Annotated[str, source("request")]
    file: Annotated[str, unguarded("a label")]


def test_markers_are_heard_at_any_depth_and_published_nowhere() -> None:
    tools = Toolset()

    @tools.tool
    def get_all(
        ticket: Annotated[str, reads("ticket:{ticket}"), source("result")],
        nested: list[Nested],
        maybe: Annotated[str, source("any")] | None = None,
    ) -> None: ...

    (tool,) = tools
    assert PREFIX not in repr(tool.definition)
    said = {p.name: (p.source, p.unguarded_reason) for p in tool.parameters}
    assert said == {
        "ticket": ("result", ""),
        "nested": ("", ""),
        "nested.note": ("request", ""),
        "nested.file": ("", "a label"),
        "maybe": ("any", ""),
    }


@pytest.mark.parametrize("wrong", [lambda: unguarded(" "), lambda: source("elsewhere")])  # type: ignore[arg-type]
def test_a_marker_that_says_nothing_is_refused(wrong: Any) -> None:
    with pytest.raises(ToolDeclarationError):
        wrong()


def test_markers_are_equal_by_what_they_say() -> None:
    assert reads("a:{b}") == reads("a:{b}") != writes("a:{b}")
