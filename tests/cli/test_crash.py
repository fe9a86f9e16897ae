"""The demo's crash: killed between intent and outcome, nothing is booked twice."""

from pathlib import Path

import pytest

from callgate.cli._crash import AMOUNTS, crash_and_resume

pytestmark = pytest.mark.anyio


async def test_the_booking_that_nobody_saw_return_is_found_by_evidence_and_not_repeated(
    tmp_path: Path,
) -> None:
    report = await crash_and_resume(tmp_path, tmp_path / "j.db")
    assert report.ok
    assert report.booked == ("10", "20")
    assert [(result.status, result.content) for result in report.results[:2]] == [
        ("ok", "booked 10"),
        ("ok", "booked 20"),
    ]
    assert (report.results[2].status, report.results[2].code) == ("not_run", "PREDECESSOR_FAILED")
    assert len(report.results) == len(AMOUNTS)
    assert "no outcome" in report.killed_after
