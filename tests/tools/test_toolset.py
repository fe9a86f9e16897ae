"""Sets of tools: declared, found, chosen, and no two alike."""

from typing import Any

import pytest

from callgate.calls import Effect
from callgate.errors import DuplicateToolError, ToolDeclarationError
from callgate.tools import ToolOptions, Toolset, declare


def get_a(x: int) -> int:
    return x


def get_b(x: int) -> int:
    return x


def test_a_function_is_declared_in_every_way_of_writing_it() -> None:
    tools = Toolset("demo")

    @tools.tool
    def read_one() -> None: ...

    @tools.tool()
    def read_two() -> None: ...

    @tools.tool(Effect.WRITE)
    def three() -> None: ...

    @tools.tool(effect=Effect.EXECUTE, name="four", tags=["x"])
    def other() -> None: ...

    @tools.tool("read")
    def five() -> None: ...

    tools.tool(get_a)
    tools.tool(Effect.READ, name="six")(lambda x: x)
    tools.tool(get_b, effect=Effect.WRITE)
    assert tools.names == ("read_one", "read_two", "three", "four", "five", "get_a", "six", "get_b")
    effects = ["read", "read", "write", "execute", "read", "read", "read", "write"]
    assert [tool.effect.value for tool in tools] == effects


def test_the_function_itself_is_given_back() -> None:
    tools = Toolset()
    assert tools.tool(get_a) is get_a
    assert tools.tool(Effect.READ)(get_b) is get_b


def test_tools_are_found_by_their_exact_name() -> None:
    tools = Toolset(tools=[declare(get_a), declare(get_b)])
    found = tools.get("get_a")
    assert found is not None
    assert found.function is get_a
    assert tools.get("GET_A") is None
    assert "get_a" in tools
    assert len(tools) == 2
    assert [d.name for d in tools.definitions()] == ["get_a", "get_b"]


def test_a_name_is_taken_once_unless_the_newcomer_says_so() -> None:
    tools = Toolset()
    tools.tool(get_a, name="read")
    with pytest.raises(DuplicateToolError):
        tools.tool(get_b, name="read")
    with pytest.raises(DuplicateToolError):
        tools.schema_tool("read", "", {}, lambda arguments: 0)
    kept = tools.get("read")
    assert kept is not None
    assert kept.function is get_a
    tools.tool(get_b, name="read", replace=True)
    replaced = tools.get("read")
    assert replaced is not None
    assert replaced.function is get_b
    assert tools.names == ("read",)


@pytest.mark.parametrize("name", ["READ_FILE", "read-file", "re\u0430d_file", "read_f\u0131le"])
def test_a_name_that_looks_like_another_is_refused(name: str) -> None:
    tools = Toolset()
    tools.tool(get_a, name="read_file")
    for replace in (False, True):
        with pytest.raises(DuplicateToolError) as refused:
            tools.tool(Effect.READ, name=name, replace=replace)(get_b)
        assert refused.value.facts["other"] == "read_file"
    assert tools.names == ("read_file",)


def test_a_part_of_the_set() -> None:
    tools = Toolset("demo")
    tools.tool(get_a, tags=["x"], phases=["plan"])
    tools.tool(get_b)
    assert tools.only("get_b").names == ("get_b",)
    assert tools.only(tag="x").names == ("get_a",)
    assert tools.only(phase="act").names == ("get_b",)
    assert tools.only(phase="plan").names == ("get_a", "get_b")
    assert tools.only().names == tools.names
    with pytest.raises(ToolDeclarationError) as refused:
        tools.only("get_c")
    assert refused.value.facts["mend"].startswith("did you mean 'get_")


def test_a_word_that_is_no_effect_is_refused() -> None:
    with pytest.raises(ToolDeclarationError, match="read, write, irreversible, execute"):
        Toolset().tool("reading")


def test_options_may_come_as_one_value() -> None:
    tool = declare(get_a, ToolOptions(name="list_a", timeout_seconds=3, idempotent=True))
    assert (tool.name, tool.timeout_seconds, tool.idempotent) == ("list_a", 3, True)


def test_a_name_that_cannot_be_one_is_refused() -> None:
    def adds(name: str) -> Any:
        return Toolset().schema_tool(name, "", {}, lambda arguments: 0)

    assert adds("数").name == "数"
    with pytest.raises(ToolDeclarationError):
        adds("a b")
