from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import CallKind, Effect, Finding, Mode, ToolCall, freeze
from callgate.checks import Case, Policy, Rule, Sources, judge, recheck_version
from callgate.tools import NO_FACTS, Facts, Located, Toolset, WorkspacePath, gather
from tests.checks.bench import TOOLS, Shelf, call, case_of, echo, judged, told, tool

# ---------------------------------------------------------------- known


def test_only_what_was_offered_in_this_turn_is_known() -> None:
    judgement = judged("search", '{"query":"a"}', offered=("probe",))
    assert told(judgement) == [("NOT_OFFERED", "")]
    assert judgement.verdict.findings[0].expected == "one of probe"


def test_the_names_offered_are_told_nearest_first() -> None:
    (finding,) = judged("serach", "{}", offered=("probe", "read_file", "search")).verdict.findings
    assert finding.expected == "one of search, probe, read_file"
    assert finding.mend == "did you mean search?"


def test_a_long_offer_is_told_in_part() -> None:
    offered = [f"tool_{number:03}" for number in range(50)]
    (finding,) = judged("tool_0013", "{}", offered=offered).verdict.findings
    names = finding.expected.removeprefix("one of ").partition(" and ")[0].split(", ")
    assert len(names) == 20
    assert set(names) <= set(offered)
    assert finding.expected.endswith(" and 30 more")


def test_where_nothing_is_offered_no_call_can_be_right() -> None:
    (finding,) = judged("search", '{"query":"a"}', offered=()).verdict.findings
    assert (finding.code, finding.mend) == ("NOT_OFFERED", "")
    assert "no tool is offered" in finding.expected


@given(st.text(max_size=300), st.lists(st.sampled_from(TOOLS.names), unique=True))
def test_no_name_but_an_offered_one_is_known_whatever_it_is(name: str, offered: list[str]) -> None:
    findings = judge(ToolCall(name), Case(None, offered)).verdict.findings
    assert [finding.code for finding in findings] == ["TOOL_GONE" if name in offered else "NOT_OFFERED"]
    assert name in offered or name in str(offered) or name not in str(findings) or len(name) < 4


@pytest.mark.parametrize("kind", [CallKind.CUSTOM, CallKind.BUILTIN])
def test_a_call_that_is_no_function_call_is_told_so_before_its_name(kind: CallKind) -> None:
    judgement = judge(ToolCall("computer", kind=kind), Case(None, TOOLS.names))
    assert told(judgement) == [("KIND_UNSUPPORTED", "")]


# ---------------------------------------------------------------- syntax


def test_the_fault_that_the_parse_found_is_the_finding() -> None:
    fault = Finding("DUPLICATE_KEY", "/a", "each name once")
    judgement = judge(ToolCall("search", fault=fault), Case(tool("search"), TOOLS.names))
    assert judgement.verdict.findings == (fault,)


def test_a_call_that_never_closed_is_refused_though_its_arguments_fit() -> None:
    proposed = call("search", '{"query":"a"}', complete=False)
    assert told(judge(proposed, case_of(proposed))) == [("CALL_INCOMPLETE", "")]


# ---------------------------------------------------------------- business


def test_a_check_sees_the_default_of_what_was_left_out() -> None:
    assert judged("read_file", '{"path":"src/a.py"}').verdict.ok


def test_own_checks_and_sources_are_both_told() -> None:
    tools = Toolset()
    strict = tools.schema_tool(
        "get_it",
        "",
        {"type": "object", "properties": {"id": {"type": "string"}}},
        echo,
        effect=Effect.READ,
        sources={"id": "request"},
        check=lambda id: "another id",  # noqa: A006 - the parameter's name
    )
    findings = judge(ToolCall("get_it", freeze({"id": "7"})), Case(strict, tools.names)).verdict.findings
    assert [finding.code for finding in findings] == ["RULE_BROKEN", "VALUE_NOT_FROM_SOURCE"]


# ---------------------------------------------------------------- authorization


@pytest.mark.parametrize(
    ("name", "arguments", "asks"),
    [
        ("search", '{"query":"a"}', ()),
        ("write_file", '{"path":"src/a.py","content":""}', ()),
        ("delete_file", '{"path":"src/a.py"}', ("it cannot be taken back",)),
        ("run_task", '{"task":"tests"}', ("it runs code",)),
    ],
)
def test_by_default_the_class_of_the_tool_decides(name: str, arguments: str, asks: tuple[str, ...]) -> None:
    verdict = judged(name, arguments).verdict
    assert (verdict.ok, verdict.ask) == (True, asks)


def test_approved_in_the_arguments_means_nothing() -> None:
    for approved in ("true", "false"):
        verdict = judged("delete_file", f'{{"path":"src/a.py","approved":{approved}}}').verdict
        assert verdict.ask == ("it cannot be taken back",)
    assert told(judged("run_task", '{"task":"tests","approved":true}')) == [
        ("UNKNOWN_PARAMETER", "/approved")
    ]


def test_where_nobody_can_answer_a_call_that_would_ask_is_refused_with_the_reason() -> None:
    (finding,) = judged("run_task", '{"task":"tests"}', can_ask=False).verdict.findings
    assert (finding.code, finding.expected) == ("NO_APPROVER", "a person's approval: it runs code")
    assert judged("search", '{"query":"a"}', can_ask=False).verdict.ok


def test_a_rule_lets_an_execute_tool_through() -> None:
    policy = Policy((Rule("run_*", decision="allow"),))
    judgement = judged("run_task", '{"task":"tests"}', policy=policy, can_ask=False)
    assert (judgement.verdict.ok, judgement.verdict.ask) == (True, ())


def test_every_path_that_leads_out_is_named_at_its_parameter() -> None:
    judgement = judged("move_file", '{"path":"/etc/passwd","to":"../x"}')
    assert told(judgement) == [("OUTSIDE_WORKSPACE", "/path"), ("OUTSIDE_WORKSPACE", "/to")]


def test_a_path_that_leads_out_does_not_hide_that_the_tool_is_forbidden() -> None:
    deny = Policy((Rule("delete_*", decision="deny", reason="nothing is deleted here"),))
    judgement = judged("delete_file", '{"path":"../x"}', policy=deny)
    assert told(judgement) == [("OUTSIDE_WORKSPACE", "/path"), ("FORBIDDEN", "")]
    assert judgement.verdict.findings[1].expected == "nothing is deleted here"


def test_a_rule_about_a_place_has_no_say_of_a_path_that_leads_nowhere() -> None:
    deny = Policy((Rule(resource="file:/secrets", decision="deny"),))
    assert told(judged("read_file", '{"path":"../x"}', policy=deny)) == [("OUTSIDE_WORKSPACE", "/path")]


def test_without_a_workspace_no_path_is_let_through() -> None:
    judgement = judged("read_file", '{"path":"src/a.py"}', facts=NO_FACTS)
    assert told(judgement) == [("OUTSIDE_WORKSPACE", "/path")]
    assert "none is open" in judgement.verdict.findings[0].expected


def test_a_finding_of_the_world_is_placed_at_the_path() -> None:
    unplaced = Finding("DENIED_BY_SYSTEM", "", "access")
    judgement = judged("read_file", '{"path":"a"}', facts=Facts({"a": unplaced}))
    assert judgement.verdict.findings == (Finding("DENIED_BY_SYSTEM", "/path", "access"),)


@pytest.mark.parametrize("pair", [("src/a.py", "secrets/x"), ("secrets/x", "src/a.py")])
def test_no_path_of_a_two_sided_map_hides_the_other(pair: tuple[str, str]) -> None:
    tools = Toolset()

    @tools.tool(effect=Effect.READ)
    def read_many(pairs: dict[WorkspacePath, WorkspacePath]) -> str:
        """Read many."""
        return ""

    def told_of(key: str, value: str, policy: Policy) -> list[tuple[str, str]]:
        proposed = ToolCall("read_many", freeze({"pairs": {key: value}}))
        reader = tools.get("read_many")
        assert reader is not None
        facts = gather(reader, proposed.arguments, Shelf())
        return told(judge(proposed, Case(reader, tools.names, facts, policy)))

    assert told_of(*pair, Policy((Rule(resource="file:/secrets", decision="deny"),))) == [("FORBIDDEN", "")]
    assert told_of("a", "../x", Policy()) == [("OUTSIDE_WORKSPACE", "/pairs/a")]
    assert told_of("../x", "a", Policy()) == [("OUTSIDE_WORKSPACE", "/pairs/..~1x")]


def test_one_wrong_path_in_two_places_is_named_at_both() -> None:
    judgement = judged("move_file", '{"path":"../x","to":"../x"}')
    assert told(judgement) == [("OUTSIDE_WORKSPACE", "/path"), ("OUTSIDE_WORKSPACE", "/to")]


def test_an_unguarded_path_of_a_foreign_schema_makes_every_call_ask() -> None:
    allow = Policy((Rule("get_record", decision="allow"),))
    for policy in (Policy(), allow):
        verdict = judged("get_record", '{"id":1}', policy=policy).verdict
        assert (verdict.ok, verdict.ask) == (True, ("'file_path' is an unguarded path",))


# ---------------------------------------------------------------- version


SAID: Final = Sources("T-1 T-2", ("T-1", "T-2"))


def versioned(name: str, arguments: str) -> list[tuple[str, str]]:
    return told(judged(name, arguments, policy=Policy(irreversible="allow"), sources=SAID))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ('{"path":"src/a.py","content":"","expected_version":"v8"}', None),
        ('{"path":"src/a.py","content":"","expected_version":"v7"}', "VERSION_CONFLICT"),
        ('{"path":"src/a.py","content":"","expected_version":""}', "VERSION_CONFLICT"),
        ('{"path":"src/a.py","content":"","expected_version":null}', None),
        ('{"path":"src/a.py","content":""}', None),
        ('{"path":"new.txt","content":"","expected_version":"v1"}', "VERSION_UNKNOWN"),
        ('{"path":"new.txt","content":""}', None),
    ],
)
def test_a_write_over_another_version_is_refused(arguments: str, code: str | None) -> None:
    assert versioned("write_file", arguments) == ([(code, "/expected_version")] if code else [])


def test_a_number_is_compared_with_the_version_as_it_is_written() -> None:
    """Version 7 written over 8."""
    assert versioned("close_ticket", '{"ticket":"T-1","revision":7}') == []
    assert versioned("close_ticket", '{"ticket":"T-1","revision":8}') == [("VERSION_CONFLICT", "/revision")]


def test_a_version_that_nobody_knows_here_is_left_to_the_tool() -> None:
    assert versioned("close_ticket", '{"ticket":"T-2","revision":8}') == []


def test_the_version_may_be_that_of_any_resource_the_call_writes() -> None:
    assert versioned("move_file", '{"path":"src/a.py","to":"new.txt","expected_version":"v8"}') == []
    conflict = [("VERSION_CONFLICT", "/expected_version")]
    assert versioned("move_file", '{"path":"src/a.py","to":"new.txt","expected_version":7}') == conflict


def test_the_version_of_what_is_only_read_beside_a_write_does_not_count() -> None:
    arguments = '{"source":"src/a.py","to":"new.txt","expected_version":"v8"}'
    assert versioned("copy_file", arguments) == [("VERSION_UNKNOWN", "/expected_version")]


def test_the_version_of_a_path_that_leads_out_is_not_asked() -> None:
    judgement = judged("write_file", '{"path":"../x","content":"","expected_version":"v1"}')
    assert told(judgement) == [("OUTSIDE_WORKSPACE", "/path")]


def test_the_second_check_sees_what_changed_since_the_first() -> None:
    proposed = call("write_file", '{"path":"src/a.py","content":"","expected_version":"v8"}')
    writer = tool("write_file")
    assert recheck_version(proposed, writer, gather(writer, proposed.arguments, Shelf())) == ()
    moved_on = Located("src/a.py", "src/a.py", "file:/src/a.py", exists=True, version="v9")
    later = recheck_version(proposed, writer, Facts({"src/a.py": moved_on}))
    assert [(finding.code, finding.where) for finding in later] == [("VERSION_CONFLICT", "/expected_version")]
    gone = recheck_version(
        proposed, writer, Facts({"src/a.py": Located("src/a.py", "src/a.py", "file:/src/a.py")})
    )
    assert [finding.code for finding in gone] == ["VERSION_UNKNOWN"]


def test_a_read_may_expect_a_version_too() -> None:
    tools = Toolset()

    @tools.tool(effect=Effect.READ)
    def get_row(row: str, expected_version: str) -> str:
        """Read a row."""
        return ""

    proposed = ToolCall("get_row", freeze({"row": "1", "expected_version": "v1"}))
    assert judge(proposed, Case(tools.get("get_row"), tools.names)).verdict.ok
    assert Mode.READ in {
        access.mode for access in judge(proposed, Case(tools.get("get_row"), tools.names)).accesses
    }
