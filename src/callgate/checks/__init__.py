"""The layers of judgement: whether a proposed call may happen, and if not, why not and what would mend it."""

from ._judge import LAYERS, Judgement, Look, judge
from ._layers import Answer, Case, recheck_version
from ._policy import Permission, Policy, Rule
from ._sources import Sources

__all__ = [
    "LAYERS",
    "Answer",
    "Case",
    "Judgement",
    "Look",
    "Permission",
    "Policy",
    "Rule",
    "Sources",
    "judge",
    "recheck_version",
]
