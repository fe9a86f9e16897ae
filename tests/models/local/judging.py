"""The request sets, how many of each the embedded model must get right, and who counts them.

The tests hold the floors; ``benchmarks/local.py`` prints what there is.
"""

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from callgate.models.local import LocalCaller
from callgate.workspace import workspace_tools

Wanted = tuple[str | None, str, dict[str, Any] | None]
"""The right tool, the request, the right arguments; None where no tool fits."""

REQUESTS: Final[dict[str, list[Wanted]]] = json.loads(
    Path(__file__).with_name("requests.json").read_text(encoding="utf-8")
)
TOOLS: Final = workspace_tools().definitions()


class Right(NamedTuple):
    """Right tools, exactly right calls, requests that were rightly left alone."""

    tools: int
    calls: int
    none: int

    def reaches(self, floor: "Right") -> bool:
        return all(have >= least for have, least in zip(self, floor, strict=True))


FLOORS: Final = {"dev": Right(23, 20, 8), "held_out": Right(20, 13, 7), "demo": Right(5, 4, 0)}


def without_root(arguments: dict[str, Any] | None) -> dict[str, Any] | None:
    """`"path": "."` is the default of the tools that have it."""
    return arguments and {key: value for key, value in arguments.items() if (key, value) != ("path", ".")}


def judged(asked: LocalCaller, requests: list[Wanted]) -> Right:
    """Ask for each, and count."""
    tools = calls = none = 0
    for tool, request, arguments in requests:
        proposal = asked.propose(request, TOOLS)
        if tool is None:
            none += proposal.tool is None
            continue
        said = json.loads(b"".join(proposal))
        tools += said["tool"] == tool
        calls += said["tool"] == tool and without_root(said["arguments"]) == without_root(arguments)
    return Right(tools, calls, none)
