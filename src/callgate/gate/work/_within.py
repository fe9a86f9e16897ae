"""Await something inside a context of variables, step by step, without a task of its own."""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Generator
from typing import Any


class Within:
    """An awaitable that drives another inside ``variables``, in the task of who awaits it."""

    def __init__(self, awaitable: Any, variables: contextvars.Context) -> None:
        self._steps = awaitable if inspect.iscoroutine(awaitable) else _coroutine(awaitable)
        self._variables = variables

    def __await__(self) -> Generator[Any, Any, Any]:
        steps, run = self._steps, self._variables.run
        try:
            waited = run(steps.send, None)
            while True:
                try:
                    sent = yield waited
                except BaseException as problem:  # noqa: BLE001 - handed to the coroutine, as await would
                    waited = run(steps.throw, problem)
                else:
                    waited = run(steps.send, sent)
        except StopIteration as finished:
            return finished.value


async def _coroutine(awaitable: Any) -> Any:
    return await awaitable
