from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import CODES, CallKind, Effect, Finding, FrozenDict, Layer, ToolCall, freeze
from callgate.checks import LAYERS, Case, Judgement, Policy, Rule, Sources, judge
from callgate.schema import MAX_FINDINGS
from callgate.tools import Toolset
from tests.checks.bench import TOOLS, call, case_of, echo, judged, told
from tests.strategies import json_values

FORBID: Final = Policy((Rule(decision="deny", reason="not today"),))

EXTRA: Final = {"approved": True}


def faulty(code: str) -> Judgement:
    proposed = ToolCall("search", complete=False, fault=Finding(code))
    return judge(proposed, case_of(proposed))


def kind(which: CallKind) -> Judgement:
    proposed = call("search", {"query": "a"}, kind=which)
    return judge(proposed, case_of(proposed))


# One call for each code of the six layers, and where its finding points.
REACHED: Final[dict[str, tuple[Callable[[], Judgement], str]]] = {
    "NOT_OFFERED": (lambda: judged("serach", "{}"), ""),
    "TOOL_GONE": (lambda: judged("search", '{"query":"a"}', tool=None), ""),
    "KIND_UNSUPPORTED": (lambda: kind(CallKind.CUSTOM), ""),
    "CALL_INCOMPLETE": (lambda: judge(ToolCall("search", complete=False), case_of(ToolCall("search"))), ""),
    "NOT_JSON": (lambda: judged("search", '{"query":'), ""),
    "NOT_AN_OBJECT": (lambda: judged("search", '["a"]'), ""),
    "DUPLICATE_KEY": (lambda: judged("search", '{"query":"a","query":"b"}'), "/query"),
    "NUMBER_NOT_FINITE": (lambda: judged("search", '{"query":"a","limit":1e999}'), "/limit"),
    "TEXT_NOT_UNICODE": (lambda: judged("search", '{"query":"\\ud800"}'), "/query"),
    "TOO_DEEP": (lambda: judged("search", '{"query":' + "[" * 200 + "]" * 200 + "}"), "/query" + "/0" * 127),
    "TOO_LARGE": (lambda: judged("search", '{"limit":' + "9" * 500 + "}"), "/limit"),
    "TWO_ARGUMENTS": (lambda: faulty("TWO_ARGUMENTS"), ""),
    "MISSING_PARAMETER": (lambda: judged("search", "{}"), "/query"),
    "UNKNOWN_PARAMETER": (lambda: judged("search", '{"query":"a","lim":1}'), "/lim"),
    "WRONG_TYPE": (lambda: judged("search", '{"query":1}'), "/query"),
    "NOT_IN_ENUM": (lambda: judged("probe", '{"count":1,"mode":"odd"}'), "/mode"),
    "OUT_OF_RANGE": (lambda: judged("probe", '{"count":0}'), "/count"),
    "WRONG_SIZE": (lambda: judged("probe", '{"count":1,"tag":"tttt"}'), "/tag"),
    "WRONG_FORMAT": (lambda: judged("probe", '{"count":1,"tag":"x"}'), "/tag"),
    "SCHEMA_MISMATCH": (lambda: judged("get_record", '{"id":0}'), "/id"),
    "NOT_CONVERTIBLE": (lambda: judged("probe", '{"count":1,"even":3}'), "/even"),
    "RULE_BROKEN": (lambda: judged("read_file", '{"path":"src/a.py","timeout":-1}'), "/timeout"),
    "CHECK_FAILED": (lambda: judged("look_up", '{"value":"a"}'), ""),
    "VALUE_NOT_FROM_SOURCE": (lambda: judged("close_ticket", '{"ticket":"T-9"}'), "/ticket"),
    "FORBIDDEN": (lambda: judged("search", '{"query":"a"}', policy=FORBID), ""),
    "OUTSIDE_WORKSPACE": (lambda: judged("read_file", '{"path":"../secrets.txt"}'), "/path"),
    "PATH_UNUSABLE": (lambda: judged("read_file", '{"path":"a\\u0000"}'), "/path"),
    "NO_APPROVER": (lambda: judged("delete_file", '{"path":"src/a.py"}', can_ask=False), ""),
    "VERSION_CONFLICT": (
        lambda: judged("write_file", '{"path":"src/a.py","content":"","expected_version":"v7"}'),
        "/expected_version",
    ),
    "VERSION_UNKNOWN": (
        lambda: judged("write_file", '{"path":"new.txt","content":"","expected_version":"v1"}'),
        "/expected_version",
    ),
}

# What only a person's answer, or the world at the moment of the run, can bring about: the gate says these.
ELSEWHERE: Final = {
    "APPROVAL_PENDING",
    "APPROVAL_DENIED",
    "APPROVAL_EXPIRED",
    "APPROVAL_MISMATCH",
    "RESOURCE_MOVED",
}


@pytest.mark.parametrize("code", REACHED)
def test_a_code_is_reached_at_its_place(code: str) -> None:
    judgement, where = REACHED[code][0](), REACHED[code][1]
    assert told(judgement) == [(code, where)]


def test_every_code_of_the_layers_is_reached() -> None:
    asked = {look.layer for look in LAYERS}
    assert {code for code, row in CODES.items() if row.layer in asked} == REACHED.keys() | ELSEWHERE


def test_the_layers_are_asked_in_the_order_of_the_table_of_codes() -> None:
    order = [
        layer for layer in Layer if layer not in {Layer.TURN, Layer.SCHEDULE, Layer.EXECUTION, Layer.BUDGET}
    ]
    assert [look.layer for look in LAYERS] == order
    assert [look.ends for look in LAYERS] == [True, True, True, False, False, False]


def test_a_business_fault_and_an_authorization_fault_come_in_one_answer() -> None:
    judgement = judged("read_file", '{"path":"../secrets.txt","timeout":-1}')
    assert told(judgement) == [("RULE_BROKEN", "/timeout"), ("OUTSIDE_WORKSPACE", "/path")]


def test_all_that_is_wrong_in_the_later_layers_is_said_at_once() -> None:
    judgement = judged(
        "close_ticket",
        '{"ticket":"T-1","amount":5,"revision":6}',
        sources=Sources("refund it", ("T-1",)),
        can_ask=False,
    )
    assert told(judgement) == [
        ("VALUE_NOT_FROM_SOURCE", "/amount"),
        ("NO_APPROVER", ""),
        ("VERSION_CONFLICT", "/revision"),
    ]


def test_a_fault_of_an_early_layer_ends_the_judgement() -> None:
    for arguments in ('{"path":"../x","timeout":-1,"start":1}', '{"path":"../x","timeout":-1'):
        judgement = judged("read_file", arguments, policy=FORBID)
        assert len(told(judgement)) == 1
        assert judgement.accesses == ()


def test_a_layer_says_at_most_eight_things() -> None:
    names = [f"p{place}" for place in range(20)]
    tools = Toolset()
    wide = tools.schema_tool(
        "get_wide",
        "",
        {"type": "object", "properties": {name: {"type": "integer"} for name in names}},
        echo,
        effect=Effect.READ,
        check=lambda arguments: [Finding("RULE_BROKEN", f"/{name}", "another") for name in arguments],
    )
    for value, code in (("x", "WRONG_TYPE"), (1, "RULE_BROKEN")):
        proposed = ToolCall("get_wide", freeze(dict.fromkeys(names, value)))
        findings = judge(proposed, Case(wide, tools.names)).verdict.findings
        assert [finding.code for finding in findings] == [code] * MAX_FINDINGS


def test_a_call_that_passes_says_what_it_touches() -> None:
    judgement = judged("write_file", '{"path":"src/a.py","content":"x"}')
    assert judgement.verdict.ok
    assert [(access.resource, access.mode.value) for access in judgement.accesses] == [
        ("file:/src/a.py", "write")
    ]


def test_a_call_that_asks_says_what_it_touches_and_why() -> None:
    judgement = judged("delete_file", '{"path":"src/a.py"}')
    assert judgement.verdict.ok
    assert judgement.verdict.ask == ("it cannot be taken back",)
    assert [access.resource for access in judgement.accesses] == ["file:/src/a.py"]


# ---------------------------------------------------------------- properties

NAMES: Final = sorted({p.name for one in TOOLS for p in one.parameters} | {"x"})

SECRET: Final = "hunter2"

values: Final = st.one_of(
    json_values,
    st.sampled_from([1, 2, "fast", True, None, "src/a.py", "../x", "v8", "tests", "T-1"]),
    st.sampled_from([SECRET, f"../{SECRET}", [SECRET], {"a": SECRET}]),
)

proposals: Final = st.builds(
    lambda name, arguments: ToolCall(name, freeze(arguments)),
    st.sampled_from([*TOOLS.names, "serach"]),
    st.dictionaries(st.sampled_from(NAMES), values, max_size=4),
)

cases: Final[Any] = st.fixed_dictionaries(
    {},
    optional={
        "policy": st.sampled_from([FORBID, Policy(read="ask"), Policy(egress="deny")]),
        "can_ask": st.booleans(),
        "sources": st.just(Sources("5 T-1", ({"a": [1, "T-1"]},))),
    },
)


@given(proposals, cases)
def test_any_call_is_judged_the_same_twice_in_order_and_without_an_echo(
    proposed: ToolCall, more: dict[str, Any]
) -> None:
    case = case_of(proposed, **more)
    judgement = judge(proposed, case)
    assert judge(proposed, case) == judgement
    findings = judgement.verdict.findings
    layers = [list(Layer).index(CODES[finding.code].layer) for finding in findings]
    assert layers == sorted(layers)
    if layers and layers[0] <= list(Layer).index(Layer.STRUCTURE):
        assert len(set(layers)) == 1
    assert SECRET not in str([finding for finding in findings if finding.code != "FORBIDDEN"])


@given(proposals)
def test_what_a_call_says_of_itself_changes_nothing_it_may_do(proposed: ToolCall) -> None:
    """An argument that claims approval is refused as unknown, or is a value like any other."""
    claiming = ToolCall(proposed.name, FrozenDict({**proposed.arguments, **EXTRA}))
    plain, claimed = judge(proposed, case_of(proposed)), judge(claiming, case_of(claiming))
    if claimed.verdict.ok and plain.verdict.ok:
        assert claimed.verdict.ask == plain.verdict.ask
        assert claimed.accesses == plain.accesses
