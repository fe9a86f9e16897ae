"""What callgate promises of judgement, each on a small exact input."""

from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from callgate.calls import Effect, ToolCall, freeze, parse_arguments
from callgate.checks import Case, Policy, Rule, judge
from callgate.errors import DuplicateToolError
from callgate.tools import Facts, Located, Toolset, WorkspacePath


def echo(arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


def judged(tools: Toolset, name: str, arguments: dict[str, Any], **more: Any) -> tuple[bool, list[Any]]:
    """Whether the call passes, and its findings."""
    case = Case(**{"tool": tools.get(name), "offered": tools.names, **more})
    verdict = judge(ToolCall(name, freeze(arguments)), case).verdict
    return verdict.ok, list(verdict.findings)


def test_a_second_tool_of_one_name_never_answers_for_the_first() -> None:
    """R031: two tools with one name."""
    tools = Toolset()

    def read_safe(size: int) -> str:
        """Read a little."""
        return ""

    def read_any(size: int, everything: bool) -> str:
        """Read all."""
        return ""

    tools.tool(Effect.READ, name="read")(read_safe)
    with pytest.raises(DuplicateToolError):
        tools.tool(Effect.READ, name="read")(read_any)
    passes, findings = judged(tools, "read", {"size": 1, "everything": True})
    assert (passes, [finding.where for finding in findings]) == (False, ["/everything"])


def test_a_misspelled_dry_run_is_refused_and_its_near_match_named() -> None:
    """R033: unknown or misspelled arguments dropped."""
    tools = Toolset()

    @tools.tool(effect=Effect.WRITE)
    def update_index(name: str, dry_run: bool = False) -> str:
        """Update an index."""
        return ""

    passes, (finding,) = judged(tools, "update_index", {"name": "x", "dryrun": True})
    assert not passes
    assert (finding.code, finding.where) == ("UNKNOWN_PARAMETER", "/dryrun")
    assert "dry_run" in finding.mend


def test_a_misspelled_name_inside_a_nested_object_is_refused_too() -> None:
    """R033: the same inside nested closed objects."""
    tools = Toolset()
    nested = {"type": "object", "properties": {"depth": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"options": nested}}
    tools.schema_tool("get_tree", "Read a tree.", schema, echo, effect=Effect.READ)
    passes, (finding,) = judged(tools, "get_tree", {"options": {"dept": 1}})
    assert (passes, finding.where) == (False, "/options/dept")
    assert "depth" in finding.mend


def test_an_unknown_tool_name_gets_the_names_that_are_there_and_its_sibling_runs() -> None:
    """R035: unknown tool name ends the run."""
    tools = Toolset()

    @tools.tool(effect=Effect.READ)
    def search(query: str = "") -> str:
        """Search."""
        return ""

    passes, (finding,) = judged(tools, "serach", {})
    assert (passes, finding.code) == (False, "NOT_OFFERED")
    assert "search" in finding.expected
    assert judged(tools, "search", {}) == (True, [])


def test_a_name_that_is_nearly_right_is_never_run_for_the_right_one() -> None:
    """R035: no automatic execution of a similar name."""
    tools = Toolset()

    @tools.tool(effect=Effect.READ)
    def search(query: str = "") -> str:
        """Search."""
        return ""

    for near in ("Search", "search ", "SEARCH", "se arch", "search_", "functions.search"):
        judgement = judge(ToolCall(near), Case(tools.get(near), tools.names))
        assert not judgement.verdict.ok
        assert judgement.accesses == ()


def test_three_bad_calls_of_ten_say_nothing_of_the_other_seven() -> None:
    """R036: retry budget shared by parallel calls of one tool."""
    tools = Toolset()

    @tools.tool(effect=Effect.READ)
    def get_page(number: int) -> str:
        """Read a page."""
        return ""

    batch: list[Any] = [1, 2, "x", 4, 5, None, 7, [], 9, 10]
    passed = [judged(tools, "get_page", {"number": number})[0] for number in batch]
    assert passed == [isinstance(number, int) for number in batch]


def test_what_a_check_raises_never_reaches_the_model() -> None:
    """R038: internal details in error results."""
    tools = Toolset()

    def connects(name: str) -> bool:
        raise RuntimeError(f"connect postgres://u:hunter2@db.internal/prod failed for {name}")

    @tools.tool(effect=Effect.READ, check=connects)
    def look(name: str) -> str:
        """Look."""
        return ""

    passes, findings = judged(tools, "look", {"name": "s3cret"})
    assert (passes, [finding.code for finding in findings]) == (False, ["CHECK_FAILED"])
    for leak in ("hunter2", "db.internal", "RuntimeError", "s3cret"):
        assert leak not in str(findings)


@pytest.mark.parametrize(
    "arguments",
    [
        {"age": "hunter2"},
        {"age": {"hunter2": 1}},
        {"age": ["hunter2"]},
        {"age": 1, "code": "hunter2"},
        {"code": "x"},
    ],
)
def test_a_validation_error_names_the_place_and_the_type_but_no_value(arguments: dict[str, Any]) -> None:
    """R038: validator dumps echo other fields' values."""
    tools = Toolset()
    schema = {
        "type": "object",
        "properties": {
            "age": {"type": "integer"},
            "code": {"type": "string", "maxLength": 3, "enum": ["a", "b"]},
        },
        "required": ["age"],
    }
    tools.schema_tool("get_person", "", schema, echo, effect=Effect.READ)
    passes, findings = judged(tools, "get_person", arguments)
    assert not passes
    assert all(finding.where and finding.expected for finding in findings)
    assert "hunter2" not in str(findings)


@pytest.mark.parametrize("name", ["srv/delete", "SRV__delete", "srv__Delete", "srv__delete", "call_tool"])
def test_a_tool_that_is_hidden_cannot_be_called_by_any_spelling(name: str) -> None:
    """R073: tool hidden from the list but still callable, also with a name from an old turn."""
    tools = Toolset()
    schema = {"type": "object", "properties": {}}
    tools.schema_tool("srv__delete", "", schema, echo, effect=Effect.READ, server="srv")
    tools.schema_tool("srv__read", "", schema, echo, effect=Effect.READ, server="srv")
    passes, findings = judged(tools, name, {}, offered=("srv__read",))
    assert (passes, [finding.code for finding in findings]) == (False, ["NOT_OFFERED"])


def test_a_denied_tool_is_denied_at_call_time_even_if_it_was_offered() -> None:
    """R073: the filter of the list is not the permission."""
    tools = Toolset()
    tools.schema_tool(
        "delete", "", {"type": "object", "properties": {}}, echo, effect=Effect.READ, server="srv"
    )
    policy = Policy((Rule("*", decision="allow"), Rule("SRV/Delete", decision="deny", reason="kept")))
    passes, (finding,) = judged(tools, "delete", {}, policy=policy)
    assert (passes, finding.code, finding.expected) == (False, "FORBIDDEN", "kept")


def test_a_closed_brace_is_not_a_permission() -> None:
    """A well-formed call that nobody may make is refused, whatever it says of itself."""
    tools = Toolset()

    @tools.tool(effect=Effect.IRREVERSIBLE)
    def pay(to: str, approved: bool = False, admin: bool = False) -> str:
        """Pay."""
        return ""

    arguments = parse_arguments('{"to":"b","approved":true,"admin":true}')
    judgement = judge(ToolCall("pay", arguments), Case(tools.get("pay"), tools.names, can_ask=False))  # type: ignore[arg-type] # it is no finding
    assert [finding.code for finding in judgement.verdict.findings] == ["NO_APPROVER"]


def test_a_map_of_paths_hides_none_of_them_from_the_policy() -> None:
    """{"ok.txt": "secret/x"}: the key may be read, the value may not."""
    tools = Toolset()

    @tools.tool(effect=Effect.READ)
    def read_many(pairs: dict[WorkspacePath, WorkspacePath]) -> str:
        """Read many."""
        return ""

    located = {text: Located(text, text, f"file:/{text}") for text in ("ok.txt", "secret/x")}
    policy = Policy((Rule(resource="file:/secret", decision="deny"),))
    case = {"facts": Facts(located), "policy": policy}
    assert judged(tools, "read_many", {"pairs": {"ok.txt": "ok.txt"}}, **case)[0]
    for pair in ({"ok.txt": "secret/x"}, {"secret/x": "ok.txt"}):
        passes, (finding,) = judged(tools, "read_many", {"pairs": pair}, **case)
        assert (passes, finding.code) == (False, "FORBIDDEN")


def test_a_validator_that_breaks_refuses_its_own_call_and_ends_nothing() -> None:
    tools = Toolset()

    def breaks(value: str) -> int:
        return {"a": 1}[value]

    @tools.tool(effect=Effect.READ)
    def get_it(key: Annotated[str, AfterValidator(breaks)]) -> str:
        """Read it."""
        return ""

    passes, (finding,) = judged(tools, "get_it", {"key": "hunter2"})
    assert (passes, finding.code) == (False, "CHECK_FAILED")
    assert "hunter2" not in str(finding)
