"""From a verdict to one effect: the machine, its shell, and the one place that runs a tool."""

from ._convert import to_json
from ._gate import Gate, Handling, open_gate
from ._options import GateOptions
from ._view import PendingApproval, RunView, TurnView

__all__ = [
    "Gate",
    "GateOptions",
    "Handling",
    "PendingApproval",
    "RunView",
    "TurnView",
    "open_gate",
    "to_json",
]
