"""``callgate lint`` shows the findings of a module, a file, or MCP definitions."""

import json
from pathlib import Path

import pytest

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
