from itertools import permutations
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import Access, Effect, Mode
from callgate.checks import Permission, Policy, Rule
from callgate.errors import ConfigurationError
from callgate.tools import Tool, ToolOptions, declare_schema
from tests.checks.bench import TOOLS, echo, tool

ALLOW: Final = Rule(decision="allow")
ASK: Final = Rule(decision="ask", reason="somebody should look")
DENY: Final = Rule(decision="deny", reason="not today")


def touching(*resources: str) -> tuple[Access, ...]:
    return tuple(Access(resource, Mode.WRITE) for resource in resources)


def decided(name: str, *rules: Rule, on: tuple[Access, ...] = ()) -> str:
    return Policy(rules).decide(tool(name), on).decision


@pytest.mark.parametrize(
    ("name", "decision"),
    [
        ("search", "allow"),
        ("write_file", "allow"),
        ("delete_file", "ask"),
        ("run_task", "ask"),
        ("fetch_page", "allow"),
    ],
)
def test_the_default_follows_the_class(name: str, decision: str) -> None:
    assert decided(name) == decision


def test_each_class_has_a_default_of_its_own() -> None:
    policy = Policy(read="ask", write="deny", irreversible="deny", execute="allow")
    assert [
        policy.decide(tool(name), ()).decision for name in ("search", "write_file", "delete_file", "run_task")
    ] == [
        "ask",
        "deny",
        "deny",
        "allow",
    ]


def test_sending_data_out_is_judged_beside_the_class_and_the_stricter_holds() -> None:
    page, local = tool("fetch_page"), tool("search")
    assert Policy(egress="ask").decide(page, ()) == Permission("ask", ("it sends data out",))
    assert Policy(read="ask", egress="deny").decide(page, ()) == Permission("deny", ("it sends data out",))
    assert Policy(read="deny", egress="ask").decide(page, ()) == Permission("deny", ("it reads",))
    assert Policy(egress="deny").decide(local, ()).decision == "allow"


@pytest.mark.parametrize("rules", list(permutations((ALLOW, ASK, DENY))))
def test_deny_beats_ask_beats_allow_in_whatever_order(rules: tuple[Rule, ...]) -> None:
    assert Policy(rules).decide(tool("search"), ()) == Permission("deny", ("not today",))
    without = tuple(rule for rule in rules if rule is not DENY)
    assert Policy(without).decide(tool("search"), ()) == Permission("ask", ("somebody should look",))


def test_a_rule_speaks_of_the_tools_it_names_only() -> None:
    rules = (Rule("delete_*", decision="deny"), Rule("run_task", decision="allow"))
    assert [decided(name, *rules) for name in ("delete_file", "run_task", "search")] == [
        "deny",
        "allow",
        "allow",
    ]


def test_a_rule_may_name_the_server() -> None:
    deny = Rule("crm/*", decision="deny")
    assert decided("get_record", deny) == "deny"
    assert decided("search", deny) == "allow"


def test_case_counts_only_for_a_rule_that_allows() -> None:
    assert decided("run_task", Rule("RUN_*", decision="allow")) == "ask"
    assert decided("search", Rule("SEARCH", decision="deny")) == "deny"
    assert decided("search", Rule("Sea*", decision="ask")) == "ask"


@pytest.mark.parametrize("rules", [(), (ALLOW,), (ASK,), (DENY,)])
def test_a_tool_that_always_asks_asks_unless_it_is_forbidden(rules: tuple[Rule, ...]) -> None:
    permission = Policy(rules).decide(tool("get_record"), ())
    assert permission.decision == ("deny" if DENY in rules else "ask")
    assert ("'file_path' is an unguarded path" in permission.reasons) == (DENY not in rules)


def test_a_rule_may_speak_of_a_class_or_of_sending_out() -> None:
    assert decided("run_task", Rule(effect=Effect.EXECUTE, decision="allow")) == "allow"
    assert decided("delete_file", Rule(effect=Effect.EXECUTE, decision="allow")) == "ask"
    assert decided("fetch_page", Rule(egress=True, decision="deny")) == "deny"
    assert decided("search", Rule(egress=True, decision="deny")) == "allow"
    assert decided("search", Rule(egress=False, decision="ask")) == "ask"


# ---------------------------------------------------------------- resources

COVERED: Final = [
    ("file:/src", "file:/src", True),
    ("file:/src", "file:/src/a.py", True),
    ("file:/src/", "file:/src/a/b.py", True),
    ("file:/src", "file:/srcs/a.py", False),
    ("file:/src", "file:/a.py", False),
    ("file:/", "file:/a.py", True),
    ("file:/src/*.py", "file:/src/a.py", True),
    ("file:/src/*.py", "file:/src/a.txt", False),
    ("file:/*/a.py", "file:/src/a.py", True),
    ("ticket:*", "ticket:7", True),
    ("ticket:7", "ticket:77", False),
    ("net:example.org", "net:example.org", True),
    ("*", "ticket:7", True),
]


@pytest.mark.parametrize(("pattern", "resource", "covers"), COVERED)
@pytest.mark.parametrize("decision", ["allow", "deny"])
def test_a_resource_covers_what_is_below_it(decision: Any, pattern: str, resource: str, covers: bool) -> None:
    rule = Rule("run_task", resource=pattern, decision=decision)
    assert decided("run_task", rule, on=touching(resource)) == (decision if covers else "ask")


def test_a_rule_that_allows_must_cover_everything_that_is_touched() -> None:
    allow = Rule(resource="file:/tmp", decision="allow")
    assert decided("delete_file", allow, on=touching("file:/tmp/a")) == "allow"
    assert decided("delete_file", allow, on=touching("file:/tmp/a", "file:/src")) == "ask"
    assert decided("delete_file", allow, on=touching("file:/")) == "ask"
    assert decided("delete_file", allow, on=touching("*")) == "ask"
    assert decided("delete_file", allow, on=()) == "ask"


def test_a_rule_that_denies_speaks_of_whatever_may_touch_its_place() -> None:
    deny = Rule(resource="file:/secrets", decision="deny")
    assert decided("search", deny, on=touching("file:/a", "file:/secrets/b")) == "deny"
    assert decided("search", deny, on=touching("file:/")) == "deny"
    assert decided("search", deny, on=touching("*")) == "deny"
    assert decided("search", deny, on=touching("file:/a")) == "allow"
    assert decided("search", deny, on=()) == "allow"


rules: Final = st.builds(
    Rule,
    st.sampled_from(["*", "search", "delete_*", "SEARCH"]),
    st.sampled_from([None, *Effect]),
    st.sampled_from(["", "file:/src", "file:/*/a.py", "ticket:7", "*"]),
    st.sampled_from(["allow", "ask", "deny"]),
    st.sampled_from(["", "a reason"]),
    st.sampled_from([None, True, False]),
)

accesses: Final = st.lists(
    st.builds(Access, st.sampled_from(["*", "file:/", "file:/src/a.py", "ticket:7"]), st.sampled_from(Mode)),
    max_size=2,
).map(tuple)

STRICTNESS: Final = {"allow": 0, "ask": 1, "deny": 2}


@given(st.sampled_from(list(TOOLS)), st.lists(rules, max_size=4), rules, accesses)
def test_a_rule_more_that_asks_or_denies_never_loosens(
    one: Any, some: list[Rule], more: Rule, touched: tuple[Access, ...]
) -> None:
    before = Policy(tuple(some)).decide(one, touched)
    after = Policy((*some, more)).decide(one, touched)
    if more.decision == "deny" and more.covers(one, touched):
        assert after.decision == "deny"
    if not more.covers(one, touched):
        assert after == before
    if any(rule.covers(one, touched) for rule in some):
        assert STRICTNESS[after.decision] >= STRICTNESS[before.decision]


@given(st.sampled_from(list(TOOLS)), st.lists(rules, max_size=4), accesses)
def test_the_order_of_rules_does_not_matter(one: Any, some: list[Rule], touched: tuple[Access, ...]) -> None:
    forward, backward = Policy(tuple(some)), Policy(tuple(reversed(some)))
    assert forward.decide(one, touched).decision == backward.decide(one, touched).decision


@given(st.sampled_from(list(TOOLS)), st.lists(rules, max_size=4), accesses)
def test_whatever_is_not_allowed_has_a_reason(
    one: Any, some: list[Rule], touched: tuple[Access, ...]
) -> None:
    permission = Policy(tuple(some)).decide(one, touched)
    assert bool(permission.reasons) == (permission.decision != "allow")
    assert all(permission.reasons)


# ---------------------------------------------------------------- words


def test_a_rule_reads_as_a_sentence() -> None:
    rule = Rule("delete_*", Effect.IRREVERSIBLE, "file:/src", "deny", "ask the owner", egress=False)
    assert str(rule) == (
        "deny delete_* of class irreversible that sends no data out on file:/src (ask the owner)"
    )
    assert str(Rule(decision="allow", egress=True)) == "allow every tool that sends data out"


def test_a_rule_without_a_reason_is_its_own() -> None:
    permission = Policy((Rule("search", decision="deny"),)).decide(tool("search"), ())
    assert permission.reasons == ("the policy says: deny search",)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Rule(decision="permit"),  # type: ignore[arg-type] # the fault under test
        lambda: Rule("", decision="deny"),
        lambda: Policy(read="yes"),  # type: ignore[arg-type] # the fault under test
        lambda: Policy(egress="never"),  # type: ignore[arg-type] # the fault under test
    ],
)
def test_a_policy_that_could_not_be_meant_is_refused_at_once(make: Any) -> None:
    with pytest.raises(ConfigurationError):
        make()


def test_the_digest_tells_every_part_of_a_policy() -> None:
    policies = [
        Policy(),
        Policy(read="ask"),
        Policy(egress="ask"),
        Policy((ALLOW,)),
        Policy((ALLOW, ASK)),
        Policy((ASK, ALLOW)),
        Policy((Rule(decision="allow", resource="file:/a"),)),
        Policy((Rule(decision="allow", effect=Effect.READ),)),
    ]
    assert len({policy.digest for policy in policies}) == len(policies)
    assert Policy((Rule("a", decision="deny"),)).digest == Policy([Rule("a", decision="deny")]).digest  # type: ignore[arg-type] # any sequence


def test_a_class_may_be_said_as_a_word() -> None:
    assert decided("delete_file", Rule(effect="irreversible", decision="deny")) == "deny"  # type: ignore[arg-type]
    assert decided("search", Rule(effect="irreversible", decision="deny")) == "allow"  # type: ignore[arg-type]


@pytest.mark.parametrize("more", [{"effect": "irreversable"}, {"effect": 3}, {"egress": 0}, {"egress": "no"}])
def test_a_rule_that_could_never_match_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        Rule(decision="deny", **more)


def named(name: str, server: str = "") -> Tool:
    options = ToolOptions(effect=Effect.IRREVERSIBLE, server=server)
    return declare_schema(name, "", {}, echo, options)


def test_a_tool_cannot_name_itself_into_what_is_allowed_of_a_server() -> None:
    allow = Policy((Rule("files/*", decision="allow"),))
    assert allow.decide(named("delete", "files"), ()).decision == "allow"
    for outside in (named("files/delete", "evil"), named("files/delete")):
        assert allow.decide(outside, ()).decision == "ask"


def test_a_pattern_of_names_allows_no_server_that_is_called_so() -> None:
    allow = Policy((Rule("get_*", decision="allow"),))
    assert allow.decide(named("drop", "get_rich"), ()).decision == "ask"
    assert allow.decide(named("get_x", "files"), ()).decision == "allow"


@pytest.mark.parametrize("decision", ["ask", "deny"])
def test_a_rule_that_holds_back_is_about_the_name_and_about_the_server(decision: Any) -> None:
    held = Policy((Rule("files/*", decision=decision),), irreversible="allow")
    for one in (named("delete", "files"), named("files/delete", "evil"), named("files/delete")):
        assert held.decide(one, ()).decision == decision
