"""Every way a job can end, as the entry about it.

In: a job, and what came of it. Out: one entry. Promise: nothing of a tool's own exception reaches the model
but what ``ToolError`` says; what may have happened is never called failed.
"""

from __future__ import annotations

import logging
import traceback
from typing import Any, Final

from callgate.calls import CODES, Effect, LostSight, Raised, Range, Reconciled, Returned, freeze
from callgate.checks import recheck_version
from callgate.errors import ToolError
from callgate.gate._results import as_text, cut
from callgate.tools import NO_FACTS, Facts, Result, accesses, to_json

from ._job import Job, passes

_LOG = logging.getLogger("callgate")

_LOST: Final = frozenset(
    {
        "ConnectionError",
        "TimeoutError",
        "TransportError",
        "EndOfStream",
        "BrokenResourceError",
        "IncompleteRead",
        "ClientConnectionError",
        "Timeout",
        "TimeoutExpired",
    }
)
"""Names of exception classes, own or inherited, that mean: the request went out and no answer came back."""
_LINKS: Final = 8
"""How deep an exception is searched for what caused it."""
_DETAIL: Final = 50_000
"""Characters of a traceback that are recorded."""


def returned(job: Job, value: Any, at: float) -> Returned:
    """The tool came back with a value."""
    stands = value if isinstance(value, Result) else Result(value)
    content, note = to_json(stands.content)
    kept = None if stands.kept is None else to_json(stands.kept)[0]
    limit = job.tool.result_limit if job.tool is not None else 0
    return Returned(
        job.key,
        at,
        content,
        limit,
        _word(stands.resource),
        _word(stands.version),
        stands.next_range if isinstance(stands.next_range, Range) else None,
        bool(stands.trusted),
        note=note,
        kept=kept,
    )


def happened(job: Job, by: str, value: Any, at: float) -> Reconciled:
    """The tool found evidence that a lost call happened."""
    told = returned(job, value, at)
    return Reconciled(
        job.key,
        at,
        happened=True,
        by=by,
        content=told.content,
        limit=told.limit,
        resource=told.resource,
        version=told.version,
        kept=told.kept,
    )


def failed(job: Job, problem: BaseException, at: float) -> Raised | LostSight:
    """The tool, or what stands around it, raised; whatever it was, this does not."""
    try:
        return _told(job, problem, at)
    except Exception:  # noqa: BLE001 - an exception of the tool's own making may raise when it is read
        return Raised(job.key, at, "TOOL_FAILED", evidence=job.evidence)


def _told(job: Job, problem: BaseException, at: float) -> Raised | LostSight:
    key, evidence = job.key, job.evidence
    detail = _word(cut("".join(traceback.format_exception(problem)), _DETAIL)[0])
    if job.reconciling:
        # No evidence either way: the call stays unknown, and its author must mend what was to tell.
        _LOG.error("the reconcile function of %s broke (%s)\n%s", job.call.name, key, detail)
        return LostSight(key, at, "CANNOT_TELL", detail, evidence)
    if isinstance(problem, ToolError):
        code = next((code for code in CODES if code == problem.tool_code), "TOOL_ERROR")
        limit = job.tool.result_limit if job.tool is not None else 0
        message, facts = _word(problem.message)[: limit or None], to_json(problem.facts)[0] or {}
        if cut(facts, limit)[1]:
            facts = {}
        return Raised(key, at, code, message, detail, evidence, freeze(facts))
    if job.entered and _may_have_happened(job) and _is_lost(problem, _LINKS):
        return LostSight(key, at, "REPLY_LOST", detail, evidence)
    return Raised(key, at, "TOOL_FAILED", "", detail, evidence)


def given_up(job: Job, cause: str, at: float) -> Raised | LostSight:
    """The job is given up: timed out, or stopped by someone."""
    is_entered = job.entered or not passes(job.turnstile)
    if job.reconciling or (is_entered and _may_have_happened(job)):
        return LostSight(job.key, at, cause, evidence=job.evidence)
    code = "TIMED_OUT" if cause == "TIMED_OUT" else "STOPPED"
    return Raised(job.key, at, code, evidence=job.evidence)


def moved(job: Job, facts: Facts, at: float) -> Raised | None:
    """What has changed since the call was judged, seen again now that nothing conflicting runs."""
    tool = job.tool
    if tool is None or facts is NO_FACTS:
        return None
    if accesses(tool, job.call.arguments, facts) != job.accesses:
        return Raised(job.key, at, "RESOURCE_MOVED")
    findings = recheck_version(job.call, tool, facts)
    if findings:
        return Raised(job.key, at, findings[0].code, findings[0].expected)
    return None


def as_late(entry: Any) -> Any:
    """The same, of a call that had been given up before."""
    fields = {name: getattr(entry, name) for name in entry.__struct_fields__}
    return type(entry)(**{**fields, "late": True})


def _may_have_happened(job: Job) -> bool:
    return job.tool is not None and job.tool.effect is not Effect.READ and not job.reconciling


def _is_lost(problem: BaseException | None, links: int) -> bool:
    """Whether a broken connection was raised, is among what was raised, or stands behind it."""
    if problem is None or not links:
        return False
    if any(kind.__name__ in _LOST for kind in type(problem).__mro__):
        return True
    inner = problem.exceptions if isinstance(problem, BaseExceptionGroup) else ()
    behind = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)
    return any(_is_lost(one, links - 1) for one in (behind, *inner))


def _word(value: Any) -> str:
    """What a tool gave where a text belongs, as a text that can be recorded."""
    if type(value) is str and not value:
        return ""
    found, _ = to_json(value)
    return "" if found is None else as_text(found)
