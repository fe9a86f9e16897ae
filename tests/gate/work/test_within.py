"""What is driven inside other variables waits, is cancelled and ends as if it were awaited."""

import contextvars

import anyio
import anyio.lowlevel
import pytest

from callgate.gate.work._within import Within

pytestmark = pytest.mark.anyio

WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO", default="nobody")


async def test_variables_are_those_it_was_given_and_changes_stay_inside() -> None:
    async def look() -> tuple[str, str]:
        before = WHO.get()
        await anyio.lowlevel.checkpoint()
        WHO.set("inside")
        await anyio.lowlevel.checkpoint()
        return before, WHO.get()

    variables = contextvars.copy_context()
    variables.run(WHO.set, "given")
    assert await Within(look(), variables) == ("given", "inside")
    assert WHO.get() == "nobody"


async def test_an_exception_comes_out_and_one_from_outside_goes_in() -> None:
    cleaned: list[str] = []

    async def fail() -> None:
        await anyio.lowlevel.checkpoint()
        raise KeyError

    async def wait() -> None:
        try:
            await anyio.sleep(5)
        finally:
            cleaned.append("yes")

    with pytest.raises(KeyError):
        await Within(fail(), contextvars.copy_context())
    with anyio.move_on_after(0.01):
        await Within(wait(), contextvars.copy_context())
    assert cleaned == ["yes"]
