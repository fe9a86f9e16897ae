"""Standing workers: what waits takes no place from what does not."""

import anyio
import pytest

from callgate.gate.work._workers import Workers


class Nap:
    def __init__(self, seconds: float, log: list[float]) -> None:
        self.scope: anyio.CancelScope | None = None
        self.seconds = seconds
        self.log = log

    async def run(self) -> None:
        try:
            await anyio.sleep(self.seconds)
        except anyio.get_cancelled_exc_class():
            self.log.append(-self.seconds)
            raise
        self.log.append(self.seconds)


class Cancelled(Nap):
    async def run(self) -> None:
        assert self.scope is not None
        self.scope.cancel()
        try:
            await anyio.sleep(self.seconds)
        except anyio.get_cancelled_exc_class():
            self.log.append(0.0)


async def length(log: list[float], count: int) -> None:
    """Wait until so many have ended, however slow the machine is."""
    with anyio.fail_after(20):
        while len(log) < count:
            await anyio.sleep(0.002)


@pytest.mark.anyio
async def test_work_that_waits_delays_no_other() -> None:
    log: list[float] = []
    async with anyio.create_task_group() as tasks:
        workers = Workers(tasks)
        for seconds in (0.6, 0.1, 0.3, 0.0):
            workers.submit(Nap(seconds, log))
        await length(log, 4)
        workers.close()
    assert log == [0.0, 0.1, 0.3, 0.6]


@pytest.mark.anyio
async def test_work_that_never_waits_needs_one_worker() -> None:
    log: list[float] = []
    async with anyio.create_task_group() as tasks:
        workers = Workers(tasks)
        for _ in range(50):
            workers.submit(Nap(0, log))
        await length(log, 50)
        workers.close()
    assert log == [0] * 50


@pytest.mark.anyio
async def test_work_cancelled_alone_leaves_the_worker_fit_for_more() -> None:
    log: list[float] = []
    async with anyio.create_task_group() as tasks:
        workers = Workers(tasks)
        workers.submit(Cancelled(5, log))
        workers.submit(Nap(0.01, log))
        await length(log, 2)
        workers.submit(Nap(0.01, log))
        await length(log, 3)
        workers.close()
    assert log == [0.0, 0.01, 0.01]


@pytest.mark.anyio
async def test_cancelling_the_owner_does_not_cut_work_off_but_kill_does() -> None:
    log: list[float] = []
    async with anyio.create_task_group() as tasks:
        workers = Workers(tasks)
        workers.submit(Nap(0.05, log))
        workers.submit(Nap(9, log))
        await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await length(log, 1)
            assert log == [0.05]
            workers.close()
            workers.kill()
    assert log == [0.05, -9]
