"""The loop: a model, a gate, and turn after turn until there is a reason to stop."""

from ._agent import Agent, AgentOptions
from ._limits import Limits, Outcome, Reason

__all__ = ["Agent", "AgentOptions", "Limits", "Outcome", "Reason"]
