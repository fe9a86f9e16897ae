# The types of the names that __init__.py loads when they are first used; a test holds the two together.
from callgate.agent import Agent, AgentOptions, Limits, Outcome, Reason
from callgate.calls import Access, Effect, Finding, Finish, Status, ToolCall, ToolDefinition, ToolResult, Turn
from callgate.checks import Policy, Rule
from callgate.errors import CallgateError, ToolError
from callgate.gate import Gate, GateOptions, open_gate
from callgate.models import connect
from callgate.tools import (
    CannotTell,
    Context,
    DidNotHappen,
    Happened,
    Result,
    Tool,
    Toolset,
    WorkspacePath,
    reads,
    unguarded,
    writes,
)
from callgate.wire import Decoder, encode
from callgate.workspace import Workspace, workspace_tools

__version__: str
__all__ = [
    "Access",
    "Agent",
    "AgentOptions",
    "CallgateError",
    "CannotTell",
    "Context",
    "Decoder",
    "DidNotHappen",
    "Effect",
    "Finding",
    "Finish",
    "Gate",
    "GateOptions",
    "Happened",
    "Limits",
    "Outcome",
    "Policy",
    "Reason",
    "Result",
    "Rule",
    "Status",
    "Tool",
    "ToolCall",
    "ToolDefinition",
    "ToolError",
    "ToolResult",
    "Toolset",
    "Turn",
    "Workspace",
    "WorkspacePath",
    "__version__",
    "connect",
    "encode",
    "open_gate",
    "reads",
    "unguarded",
    "workspace_tools",
    "writes",
]
