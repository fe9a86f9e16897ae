"""A desk to try the workspace's tools at: each call is judged and run as the gate does it, on one thread.

In: a tool's name and JSON arguments. Out: an `Answer`, whose `code` is empty for a success.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from callgate.calls import CODES, Finding, FrozenDict, ToolCall, freeze_arguments
from callgate.errors import ToolError
from callgate.tools import Context, Facts, Result, Toolset, gather
from callgate.workspace import Workspace, workspace_tools

NOTHING: Final = Result(None)
TOOLS: Final = workspace_tools()


@dataclass(frozen=True)
class Answer:
    """How a call ended: `refused` before the tool ran, or by the tool itself."""

    code: str = ""
    refused: bool = False
    message: str = ""
    facts: dict[str, Any] | None = None
    result: Result = NOTHING

    @property
    def content(self) -> Any:
        return self.result.content

    @property
    def verdict(self) -> str:
        """In the words of the path cases."""
        if not self.code:
            return "allow"
        if self.refused:
            return "deny"
        return "not_found" if self.code == "NOT_FOUND" else "error"

    @property
    def said(self) -> str:
        """All that a model could read."""
        return repr((self.code, self.message, self.facts, self.result))


@dataclass(frozen=True)
class Desk:
    """A workspace with its tools."""

    workspace: Workspace
    tools: Toolset = TOOLS

    @classmethod
    def at(cls, root: Any, **options: Any) -> Desk:
        return cls(Workspace(root, **options))

    def call(self, name: str, /, key: str = "key", **arguments: Any) -> Answer:
        frozen = freeze_arguments(arguments)
        if isinstance(frozen, Finding):
            return Answer(frozen.code, refused=True)
        return self.judge_and_run(name, frozen, key)

    def judge_and_run(self, name: str, arguments: FrozenDict, key: str = "key") -> Answer:
        tool = self.tools.get(name)
        assert tool is not None
        findings = tool.findings(arguments) or tool.business(arguments)
        facts = gather(tool, arguments, self.workspace) if not findings else Facts()
        findings = findings or tuple(one for one in facts.located.values() if isinstance(one, Finding))
        if findings:
            return Answer(findings[0].code, refused=True, message=findings[0].expected)
        bound = tool.bind(arguments, Context(idempotency_key=key, files=self.workspace), facts)
        try:
            result = tool.function(*bound.args, **bound.kwargs)
        except ToolError as problem:
            return Answer(CODES[problem.tool_code].name, message=problem.message, facts=problem.facts)
        assert isinstance(result, Result)
        return Answer(result=result)

    def reconcile(self, name: str, key: str = "key", **arguments: Any) -> Any:
        tool = self.tools.get(name)
        assert tool is not None
        assert tool.reconcile is not None
        frozen = freeze_arguments(arguments)
        assert isinstance(frozen, FrozenDict)
        context = Context(idempotency_key=key, files=self.workspace)
        return tool.reconcile(context, ToolCall(name, frozen))
