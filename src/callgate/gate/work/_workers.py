"""Standing workers: tasks that live as long as the gate and take one piece of work after another.

A task and a cancel scope made anew for each call cost more than everything else a call goes through; a
worker keeps both. It wakes the next worker before it begins, so that work which never waits is done in one
go and work which waits loses nobody's time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import anyio
import anyio.abc


class Work(Protocol):
    """One piece of work.

    ``run`` never raises; ``scope`` is the worker's while it runs, so that it can be cancelled alone.
    """

    scope: anyio.CancelScope | None

    async def run(self) -> None:
        """Do it."""
        ...


class Workers:
    """A queue of work and the tasks that do it.

    More tasks are started as work waits, none is ended before ``close``.
    """

    def __init__(self, tasks: anyio.abc.TaskGroup) -> None:
        self._tasks = tasks
        self._queue: deque[Any] = deque()
        self._parked: list[anyio.Event] = []
        self._shields: set[anyio.CancelScope] = set()
        self._is_waking = False
        self.closing = False

    def submit(self, work: Work) -> None:
        """Queue a piece of work; it begins at the next turn of the event loop."""
        self._queue.append(work)
        self._wake()

    def start(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Have a task of its own do something rare."""
        self._tasks.start_soon(function, *arguments)

    def close(self) -> None:
        """End every worker that waits, and every other one when its work is done."""
        self.closing = True
        self._queue.clear()
        for event in self._parked:
            event.set()
        self._parked.clear()

    def kill(self) -> None:
        """Interrupt the workers that did not end by themselves."""
        for shield in self._shields:
            shield.cancel()

    def _wake(self) -> None:
        """Have one more worker come; one at a time, since each calls the next while work waits."""
        if self._is_waking or self.closing:
            return
        self._is_waking = True
        if self._parked:
            self._parked.pop().set()
        else:
            self._tasks.start_soon(self._stand)

    async def _stand(self) -> None:
        # What cancels the gate's owner must not cut a worker off in the middle of a record: the gate ends
        # its workers itself.
        with anyio.CancelScope(shield=True) as shield:
            self._shields.add(shield)
            await self._serve()
        self._shields.discard(shield)

    async def _serve(self) -> None:
        while not self.closing:
            self._is_waking = False
            if not self._queue:
                event = anyio.Event()
                self._parked.append(event)
                await event.wait()
                continue
            with anyio.CancelScope() as scope:
                await self._work(scope)

    async def _work(self, scope: anyio.CancelScope) -> None:
        """Work until nothing is left, or until this worker's scope was cancelled and is of no more use."""
        while self._queue and not scope.cancel_called:
            work = self._queue.popleft()
            if self._queue:
                self._wake()
            work.scope = scope
            await work.run()
            work.scope = None
