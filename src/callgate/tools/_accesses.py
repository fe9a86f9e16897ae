"""From what a call reaches for to what it touches: the world is asked, and the answers become accesses.

In: a tool, arguments, a ``World``. Out: ``Facts``, then ``Access`` values. Promise: the same arguments and
facts give the same accesses; what is not known is everything.
"""

from __future__ import annotations

from dataclasses import replace

from callgate.calls import Access, Finding, FrozenDict

from ._effects import MODES
from ._facts import Facts, Located, World
from ._tool import Tool


def must_look(tool: Tool, arguments: FrozenDict) -> bool:
    """Whether the world has anything to say of a call: where a path leads, or a version it expects."""
    reach = tool.insides.reach
    return bool(reach.paths) or (bool(reach.templates) and _expects(tool, arguments))


def gather(tool: Tool, arguments: FrozenDict, world: World) -> Facts:
    """Ask the world where the call's paths lead and, when the call expects a version, which one is current.

    It may block.
    """
    located: dict[str, Located | Finding] = {}
    versions: dict[str, str | None] = {}
    expects = _expects(tool, arguments)
    for touch in tool.touches(arguments):
        if touch.kind == "path":
            found = world.locate(touch.text, touch.mode)
            if isinstance(found, Finding):
                found = replace(found, where=found.where or touch.where)
            else:
                versions[found.resource] = found.version
            if not isinstance(located.get(touch.text), Finding):
                located[touch.text] = found
        elif expects and touch.text != "*":
            versions[touch.text] = world.version(touch.text)
    return Facts(located, versions)


def accesses(tool: Tool, arguments: FrozenDict, facts: Facts) -> tuple[Access, ...]:
    """What the call touches, each once.

    Everything, in the mode of its class, where the tool did not say or the world did not.
    """
    if not tool.insides.reach.is_declared:
        return (Access.everything(MODES[tool.effect]),)
    found: list[Access] = []
    for touch in tool.touches(arguments):
        if touch.kind == "resource":
            found.append(Access(touch.text, touch.mode))
            continue
        located = facts.located.get(touch.text)
        found.append(
            Access(located.resource, touch.mode)
            if isinstance(located, Located)
            else Access.everything(touch.mode)
        )
    return tuple(dict.fromkeys(found))


def _expects(tool: Tool, arguments: FrozenDict) -> bool:
    return bool(tool.expected_version) and arguments.get(tool.expected_version) is not None
