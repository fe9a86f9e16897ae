"""Every way a job ends: what may have happened is never called failed, and a model hears no exception."""

import contextvars
from typing import Any

import pytest

import callgate as cg
from callgate.calls import CODES, CallKey, LostSight, Raised
from callgate.gate.work._endings import as_late, failed, given_up, happened, returned
from callgate.gate.work._job import Job, Outcome
from tests.gate.turns import call


def job(effect: cg.Effect, *, entered: bool = True) -> Job:
    tools = cg.Toolset()

    @tools.tool(effect=effect, result_limit=50)
    def act() -> None:
        """Act."""

    heard: list[Outcome] = []
    made = call("act").admitted_as(CallKey("r", 0, 0, 3), "d")
    return Job(made, tools.get("act"), (), 2, heard.append, contextvars.copy_context(), 1.0, entered=entered)


# HTTP libraries name theirs without deriving from ours.
ReadTimeout = type("ReadTimeout", (type("TransportError", (Exception,), {}),), {})


@pytest.mark.parametrize("problem", [ConnectionResetError(), TimeoutError(), ReadTimeout()])
def test_a_broken_connection_is_unknown_after_an_effect_and_a_failure_after_a_read(
    problem: Exception,
) -> None:
    assert isinstance(failed(job(cg.Effect.WRITE), problem, 1.0), LostSight)
    assert isinstance(failed(job(cg.Effect.READ), problem, 1.0), Raised)


def test_what_a_tool_says_itself_reaches_the_model_and_nothing_else_does() -> None:
    said = failed(job(cg.Effect.WRITE), cg.ToolError("no such order", order=7), 1.0)
    assert isinstance(said, Raised)
    assert (said.code, said.message, said.facts) == ("TOOL_ERROR", "no such order", {"order": 7})
    broke = failed(job(cg.Effect.WRITE), ValueError("secret"), 1.0)
    assert isinstance(broke, Raised)
    assert (broke.code, broke.message) == ("TOOL_FAILED", "")
    assert "secret" in broke.detail
    assert broke.evidence == "r/0.0.3#2"


def test_a_code_that_no_table_has_is_an_ordinary_tool_error() -> None:
    told = failed(job(cg.Effect.READ), cg.ToolError("x", tool_code="MADE_UP"), 1.0)
    assert isinstance(told, Raised)
    assert told.code == "TOOL_ERROR"
    assert told.code in CODES


def test_facts_that_are_not_json_are_left_out_and_a_long_text_is_cut() -> None:
    told = failed(job(cg.Effect.READ), cg.ToolError("m" * 900, thing=object()), 1.0)
    assert isinstance(told, Raised)
    assert (len(told.message), told.facts) == (50, {})


@pytest.mark.parametrize(
    ("effect", "entered", "cause", "kind", "code"),
    [
        (cg.Effect.WRITE, True, "TIMED_OUT", LostSight, "TIMED_OUT"),
        (cg.Effect.WRITE, False, "TIMED_OUT", Raised, "TIMED_OUT"),
        (cg.Effect.READ, True, "TIMED_OUT", Raised, "TIMED_OUT"),
        (cg.Effect.READ, True, "CANCELLED", Raised, "STOPPED"),
        (cg.Effect.EXECUTE, True, "CANCELLED", LostSight, "CANCELLED"),
    ],
)
def test_what_is_given_up(effect: cg.Effect, entered: bool, cause: str, kind: type[Any], code: str) -> None:
    entry: Any = given_up(job(effect, entered=entered), cause, 1.0)
    assert type(entry) is kind
    assert getattr(entry, "cause", None) or entry.code == code
    assert entry.evidence


def test_a_result_brings_what_stands_beside_it() -> None:
    value = cg.Result({"a": 1}, resource="file:/a", version="7", kept={"b": 2}, trusted=True)
    entry = returned(job(cg.Effect.WRITE), value, 1.0)
    assert (entry.content, entry.resource, entry.version, entry.kept) == ({"a": 1}, "file:/a", "7", {"b": 2})
    assert entry.trusted
    assert as_late(entry).late
    told = happened(job(cg.Effect.WRITE), "act", value, 1.0)
    assert (told.content, told.version, told.kept, told.by) == ({"a": 1}, "7", {"b": 2}, "act")
