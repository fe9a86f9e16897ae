"""callgate: everything between what a language model says and what your code does.

A model only ever proposes. callgate decides whether the proposal may happen, makes it happen exactly once,
and remembers it. The names below are the whole public face; each comes from the room named beside it when it
is first used, so that importing callgate costs next to nothing. Their types stand in ``__init__.pyi``.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_ROOMS = {
    "agent": ("Agent", "AgentOptions", "Limits", "Outcome", "Reason"),
    "calls": (
        "Access",
        "Effect",
        "Finding",
        "Finish",
        "Status",
        "ToolCall",
        "ToolDefinition",
        "ToolResult",
        "Turn",
    ),
    "checks": ("Policy", "Rule"),
    "errors": ("CallgateError", "ToolError"),
    "gate": ("Gate", "GateOptions", "open_gate"),
    "models": ("connect",),
    "tools": (
        "CannotTell",
        "Context",
        "DidNotHappen",
        "Happened",
        "Result",
        "Tool",
        "Toolset",
        "WorkspacePath",
        "reads",
        "unguarded",
        "writes",
    ),
    "wire": ("Decoder", "encode"),
    "workspace": ("Workspace", "workspace_tools"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

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


def __getattr__(name: str) -> Any:
    room = _ROOM_OF.get(name)
    if room is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    found = getattr(import_module(f"{__name__}.{room}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
