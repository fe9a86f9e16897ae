"""``callgate lint`` shows the findings of a module, a file, or MCP definitions."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.talking import callgate

MODULE = '''
import callgate as cg
tools = cg.Toolset("mine")

@tools.tool(effect=cg.Effect.WRITE)
def save_it(value: int) -> None:
    """Save."""
'''


@pytest.mark.parametrize("suffix", ["", ":tools"])
def test_a_file_is_looked_at(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MODULE, encoding="utf-8")
    said = callgate("lint", f"{file}{suffix}", "--json")
    assert {finding["code"] for finding in said.document} >= {"UNRECOVERABLE", "PARAMETER_UNDESCRIBED"}
    assert said.code == 0


def test_what_is_no_toolset_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("x = 1\n", encoding="utf-8")
    for target in (str(file), f"{file}:x", str(tmp_path / "gone.py"), "no_such_module_anywhere"):
        said = callgate("lint", target)
        assert said.code == 2
        assert said.err


def test_mcp_definitions_are_looked_at_and_what_cannot_be_registered_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    good = {"name": "read_it", "description": "Read.", "inputSchema": {"type": "object", "properties": {}}}
    bad = {"name": "bad", "description": "Bad.", "inputSchema": {"$ref": "https://example.org/schema"}}
    file.write_text(json.dumps({"tools": [good, bad]}), encoding="utf-8")
    said = callgate("lint", file, "--json")
    assert said.code == 1
    assert [finding["tool"] for finding in said.document if finding["severity"] == "error"] == ["bad"]
    assert "bad" in callgate("lint", file).out


def test_the_tools_that_ship_have_no_errors(tmp_path: Path) -> None:
    file = tmp_path / "ours.py"
    file.write_text("import callgate\nours = callgate.workspace_tools()\n", encoding="utf-8")
    assert [
        finding for finding in callgate("lint", file, "--json").document if finding["severity"] != "note"
    ] == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("[1]", "$[0]"),
        ("3", "int"),
        ("null", "null"),
        ('"x"', "str"),
        ("{}", "tools"),
        ('{"tools": null}', "$.tools"),
        ('{"tools": [{"name": 1}]}', "$.tools[0].name"),
        ('[{"name": "x", "inputSchema": []}]', "$[0].inputSchema"),
        ('[{"name": "x", "annotations": 1}]', "$[0].annotations"),
        ("{", "not JSON"),
        ("", "not JSON"),
        ('[{"inputSchema": {"a": ' + "[" * 100_000, "not JSON"),
    ],
)
def test_a_file_of_another_shape_is_told_with_the_place_and_what_was_wanted(
    body: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "tools.json"
    file.write_text(body, encoding="utf-8")
    told = callgate("lint", file)
    assert told.code == 2
    assert said in told.err.replace("`", "")
    assert ("inputSchema" in told.err) != ("not JSON" in told.err)


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_bytes(b'["\xff\xfe"]')
    assert callgate("lint", file).code == 2


@pytest.mark.parametrize("target", ["", ".mine", "mine.", ":x"])
def test_what_cannot_name_a_module_is_told(target: str) -> None:
    said = callgate("lint", target)
    assert said.code == 2
    assert "no module" in said.err


WORDS = st.sampled_from(
    ["name", "description", "inputSchema", "annotations", "tools", "type", "properties", "$ref"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | WORDS, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    JSON | st.lists(st.fixed_dictionaries({"name": st.text(), "inputSchema": st.dictionaries(WORDS, JSON)}))
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_json_at_all_ends_in_a_trace(tmp_path: Path, value: object) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(value), encoding="utf-8")
    assert callgate("lint", file).code in {0, 1, 2}


def test_a_name_of_a_tool_is_no_markup_and_hides_nothing(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([{"name": "x[/red]\x1b[2J", "description": "\u202e"}]), encoding="utf-8")
    said = callgate("lint", file)
    assert "x[/red]\\u001b[2J" in said.out
    assert said.out.replace("\n", "").isprintable()


def test_only_an_error_ends_with_one(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([{"name": "read_it", "inputSchema": {"type": "object"}}]), encoding="utf-8")
    said = callgate("lint", file, "--json")
    assert "warning" in {finding["severity"] for finding in said.document}
    assert said.code == 0
