"""The tools as they are declared."""

from __future__ import annotations

from typing import Final

import pytest

from callgate.calls import Effect
from callgate.tools import Tool
from callgate.workspace import workspace_tools

TOOLS: Final = workspace_tools()


def test_lint_finds_nothing() -> None:
    assert TOOLS.findings() == ()


def test_each_tool_has_the_effect_of_its_verb() -> None:
    assert {tool.name: tool.effect for tool in TOOLS} == {
        "read_file": Effect.READ,
        "list_files": Effect.READ,
        "search_text": Effect.READ,
        "write_file": Effect.WRITE,
        "replace_in_file": Effect.WRITE,
        "delete_file": Effect.IRREVERSIBLE,
    }


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_model_is_told_all_it_needs(tool: Tool) -> None:
    said = tool.definition.description
    assert all((said.what, said.when, said.when_not, said.instead, said.returns, said.effect_note))
    assert said.danger or tool.effect is not Effect.IRREVERSIBLE
    assert len(tool.definition.examples) >= 3
    assert all(parameter.description and parameter.guarded for parameter in tool.parameters)
    assert tool.tags
    assert not tool.always_ask


def test_what_changes_a_file_can_find_out_after_a_crash_and_knows_versions() -> None:
    changing = [tool for tool in TOOLS if tool.effect is not Effect.READ]
    assert all(tool.reconcile is not None and not tool.idempotent for tool in changing)
    assert [tool.expected_version for tool in changing] == ["expected_version", "expected_version", ""]


def test_only_paths_and_hidden_values_reach_the_system() -> None:
    for tool in TOOLS:
        assert [one.name for one in tool.parameters if one.kind in {"path", "command", "url"}] == ["path"]
        assert "ctx" not in tool.definition.parameters["properties"]


def test_phases_choose_what_may_change() -> None:
    assert TOOLS.only(phase="change").names == TOOLS.names
    assert TOOLS.only(phase="look").names == ("read_file", "list_files", "search_text")
    assert TOOLS.only(tag="change").names == ("write_file", "replace_in_file", "delete_file")
