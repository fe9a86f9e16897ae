"""From a verdict to one effect: the machine, its shell, and the one place that runs a tool."""

from ._gate import Gate, open_gate
from ._options import GateOptions
from ._receiving import Handling
from ._view import CallView, PendingApproval, Replay, RunView, TurnView, replay

__all__ = [
    "CallView",
    "Gate",
    "GateOptions",
    "Handling",
    "PendingApproval",
    "Replay",
    "RunView",
    "TurnView",
    "open_gate",
    "replay",
]
