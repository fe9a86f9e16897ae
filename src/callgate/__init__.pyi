# The types of the names that __init__.py loads when they are first used; a test holds the two together.

from callgate.agent import (
    Agent as Agent,
)
from callgate.agent import (
    Limits as Limits,
)
from callgate.agent import (
    Outcome as Outcome,
)
from callgate.calls import (
    Access as Access,
)
from callgate.calls import (
    Effect as Effect,
)
from callgate.calls import (
    Finding as Finding,
)
from callgate.calls import (
    Finish as Finish,
)
from callgate.calls import (
    Status as Status,
)
from callgate.calls import (
    ToolCall as ToolCall,
)
from callgate.calls import (
    ToolDefinition as ToolDefinition,
)
from callgate.calls import (
    ToolResult as ToolResult,
)
from callgate.calls import (
    Turn as Turn,
)
from callgate.checks import (
    Policy as Policy,
)
from callgate.checks import (
    Rule as Rule,
)
from callgate.errors import (
    CallgateError as CallgateError,
)
from callgate.errors import (
    ToolError as ToolError,
)
from callgate.gate import (
    Gate as Gate,
)
from callgate.gate import (
    GateOptions as GateOptions,
)
from callgate.gate import (
    open_gate as open_gate,
)
from callgate.models import (
    connect as connect,
)
from callgate.tools import (
    CannotTell as CannotTell,
)
from callgate.tools import (
    Context as Context,
)
from callgate.tools import (
    DidNotHappen as DidNotHappen,
)
from callgate.tools import (
    Happened as Happened,
)
from callgate.tools import (
    Result as Result,
)
from callgate.tools import (
    Tool as Tool,
)
from callgate.tools import (
    Toolset as Toolset,
)
from callgate.tools import (
    WorkspacePath as WorkspacePath,
)
from callgate.tools import (
    reads as reads,
)
from callgate.tools import (
    unguarded as unguarded,
)
from callgate.tools import (
    writes as writes,
)
from callgate.wire import (
    Decoder as Decoder,
)
from callgate.wire import (
    encode as encode,
)
from callgate.workspace import (
    Workspace as Workspace,
)
from callgate.workspace import (
    workspace_tools as workspace_tools,
)

__version__: str
__all__ = [
    "Access",
    "Agent",
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
