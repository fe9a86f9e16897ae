"""What a running tool may ask of the gate."""

import pytest

from callgate.calls import CallKey, Status, ToolResult
from callgate.errors import NestedCallError
from callgate.tools import Context, Hooks


def test_a_context_without_a_gate_is_never_cancelled_and_tells_nobody() -> None:
    context = Context()
    assert not context.cancelled()
    context.progress("half")
    assert context.run == ""


@pytest.mark.anyio
async def test_a_context_without_a_gate_calls_no_tool() -> None:
    with pytest.raises(NestedCallError) as refused:
        await Context().call("read_file", {})
    assert refused.value.facts["tool"] == "read_file"


@pytest.mark.anyio
async def test_the_hooks_are_the_gates() -> None:
    told: list[str] = []
    result = ToolResult(CallKey(), None, "x", Status.OK)

    async def call(name: str, arguments: object) -> ToolResult:
        told.append(name)
        return result

    context = Context(key=CallKey("r1"), hooks=Hooks(lambda: True, told.append, call))
    context.progress("half")
    assert await context.call("x", {}) is result
    assert (context.cancelled(), context.run, told) == (True, "r1", ["half", "x"])
