"""A set of tools under their names: where tools are declared, found and chosen.

In: callables, schemas, tools. Out: the same tools by name, in the order of declaration. Promise: a name, or
one that looks like it, is taken once; who wants to take a tool's place must say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar, overload

from callgate.calls import Effect, ToolDefinition
from callgate.errors import DuplicateToolError, ToolDeclarationError
from callgate.schema import nearest

from ._declare import declare, declare_schema
from ._lint import LintFinding, lint
from ._names import check_name, looks
from ._options import ToolOptions
from ._tool import Tool

F = TypeVar("F", bound=Callable[..., Any])


class Toolset:
    """Tools by name.

    Args:
        name: What the set is called in findings and logs.
        tools: Tools to begin with.
    """

    def __init__(self, name: str = "", tools: Iterable[Tool] = ()) -> None:
        self.name = name
        self._tools: dict[str, Tool] = {}
        self._looks: dict[str, str] = {}
        for tool in tools:
            self.add(tool)

    @overload
    def tool(self, first: Effect | str | None = None, /, **options: Any) -> Callable[[F], F]: ...
    @overload
    def tool(self, first: F, /, **options: Any) -> F: ...
    def tool(self, first: Any = None, /, **options: Any) -> Any:
        """Declare a callable as a tool.

        A decorator with or without arguments, or a plain call on any callable.

        ``first`` is the callable or the effect. The function itself is given back unchanged. ``options`` are
        those of ``ToolOptions``.

        Raises:
            ToolDeclarationError: It cannot be published, or not safely; the facts name the parameter and the
                mend.
            DuplicateToolError: The name is taken, or looks like one that is.
        """
        if first is not None and not isinstance(first, str):
            self._declare(first, ToolOptions().but(**options))
            return first
        chosen = ToolOptions().but(**({} if first is None else {"effect": first}), **options)

        def decorate(function: F) -> F:
            self._declare(function, chosen)
            return function

        return decorate

    def schema_tool(
        self,
        name: str,
        description: str,
        parameters: Mapping[str, Any],
        function: Callable[..., Any],
        **options: Any,
    ) -> Tool:
        """Declare a tool by its JSON Schema, as an MCP server publishes it.

        Raises as ``tool``, and ``UnsupportedSchemaError``.
        """
        chosen = ToolOptions().but(**options)
        tool = declare_schema(name, description, parameters, function, chosen)
        self.add(tool, replace=chosen.replace)
        return tool

    def add(self, tool: Tool, *, replace: bool = False) -> None:
        """Add a tool made elsewhere.

        Raises:
            DuplicateToolError: The name is taken and ``replace`` is false, or it looks like another tool's
                name.
        """
        check_name(tool.name)
        if tool.name in self._tools and not replace:
            message = "a tool of this name is there already; say replace=True to take its place"
            raise DuplicateToolError(message, tool=tool.name)
        alike = self._looks.get(looks(tool.name), tool.name)
        if alike != tool.name:
            message = "the name looks like that of another tool; a model would take one for the other"
            raise DuplicateToolError(message, tool=tool.name, other=alike)
        self._looks[looks(tool.name)] = tool.name
        self._tools[tool.name] = tool

    def get(self, name: str) -> Tool | None:
        """The tool of exactly this name."""
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of declaration."""
        return tuple(self._tools)

    def only(self, *names: str, tag: str = "", phase: str = "") -> Toolset:
        """The set of the tools named, or, with no names, of all.

        Of these those with the tag, and those of the phase.

        A tool without phases belongs to every phase.

        Raises:
            ToolDeclarationError: No tool has such a name.
        """
        for name in names:
            if name not in self._tools:
                near = nearest(name, self._tools)
                message = "the set has no tool of this name"
                raise ToolDeclarationError(
                    message, tool=name, mend=f"did you mean {near!r}?" if near else None
                )
        chosen = (self._tools[name] for name in dict.fromkeys(names or self._tools))
        return Toolset(
            self.name,
            (
                t
                for t in chosen
                if (not tag or tag in t.tags) and (not phase or not t.phases or phase in t.phases)
            ),
        )

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """What a model is told of each tool."""
        return tuple(tool.definition for tool in self)

    def findings(self) -> tuple[LintFinding, ...]:
        """What a reviewer should look at; nothing here keeps a tool from working."""
        return lint(tuple(self))

    def _declare(self, function: Callable[..., Any], options: ToolOptions) -> None:
        self.add(declare(function, options), replace=options.replace)
