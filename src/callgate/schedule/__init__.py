"""The conflict graph: which calls may run now, in call order wherever two of them touch the same thing."""

from ._schedule import Released, Schedule, Skipped
from ._tree import conflicts

__all__ = ["Released", "Schedule", "Skipped", "conflicts"]
