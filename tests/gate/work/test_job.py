"""A job names the try it is, and does nothing without an executor."""

import contextvars

import pytest

from callgate.calls import CallKey
from callgate.gate.work._job import Job, Outcome
from tests.gate.turns import call

pytestmark = pytest.mark.anyio


async def test_the_evidence_names_call_and_try() -> None:
    heard: list[Outcome] = []
    made = call("act").admitted_as(CallKey("r", 1, 0, 2), "d")
    job = Job(made, None, (), 3, heard.append, contextvars.copy_context(), 1.0)
    assert (job.key, job.evidence) == (CallKey("r", 1, 0, 2), "r/1.0.2#3")
    await job.run()
    assert heard == []
