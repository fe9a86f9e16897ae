"""What a tool is, fixed at declaration: definition, function, class, and everything its calls are judged by.

In: arguments as frozen JSON. Out: findings, typed Python arguments, touches. Promise: nothing of a tool
changes after it was made, and its function is held here but never called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from callgate.calls import EMPTY, Effect, Finding, FrozenDict, ToolDefinition, thaw
from callgate.errors import LocalProtocolError
from callgate.schema import NOTHING, Docs, Model, Signature, Validator

from ._context import Context
from ._facts import NO_FACTS, Facts, Located, Touch
from ._paths import Opening
from ._reach import Reach
from ._risk import Parameter
from ._rules import Rule


class Binding(msgspec.Struct, frozen=True, gc=False):
    """Fresh Python arguments for one call of the function."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = EMPTY


@dataclass(frozen=True, slots=True)
class Insides:
    """What a tool needs to judge and bind; of no interest above.

    ``model`` is None for a tool from a raw schema.
    """

    validator: Validator
    reach: Reach
    signature: Signature
    model: Model | None = None
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A declared tool.

    ``egress``: it sends data out. ``idempotent``: the same idempotency key has one effect. ``is_async`` and
    ``is_generator`` say how ``function`` is to be called; a generator's items are collected into a list, and
    an awaitable is awaited once. ``always_ask`` is why every call needs a person, or ``""``.
    ``expected_version`` names the parameter that holds it. ``result_limit`` is in characters.
    """

    definition: ToolDefinition
    effect: Effect
    function: Callable[..., Any]
    insides: Insides
    egress: bool = False
    idempotent: bool = False
    is_async: bool = False
    is_generator: bool = False
    timeout_seconds: float | None = None
    reconcile: Callable[..., Any] | None = None
    result_limit: int = 20_000
    tags: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    polling: bool = False
    parameters: tuple[Parameter, ...] = ()
    always_ask: str = ""
    expected_version: str = ""
    server: str = ""
    docs: Docs = Docs()  # noqa: RUF009 - immutable

    @property
    def name(self) -> str:
        """The name calls use."""
        return self.definition.name

    @property
    def takes_context(self) -> bool:
        """Whether a ``Context`` is injected."""
        return bool(self.insides.signature.hidden)

    def findings(self, arguments: FrozenDict) -> tuple[Finding, ...]:
        """The structure layer: the published schema first, then the Python types.

        ``()`` when both take it.
        """
        found = self.insides.validator.findings(arguments)
        if found or self.insides.model is None:
            return found
        return self.insides.model.findings(arguments)

    def business(self, arguments: FrozenDict) -> tuple[Finding, ...]:
        """The tool's own checks, in order; they get typed values, and paths that cannot be opened."""
        if not self.insides.rules:
            return ()
        defaults = {
            slot.name: slot.default for slot in self.insides.signature.slots if slot.default is not NOTHING
        }
        try:
            typed = {**defaults, **self._read(arguments, Opening())}
        except LocalProtocolError:
            return (Finding("CHECK_FAILED", expected="the tool's own types to give an answer"),)
        return tuple(finding for rule in self.insides.rules for finding in rule.findings(typed, arguments))

    def touches(self, arguments: FrozenDict) -> tuple[Touch, ...]:
        """What the call reaches for, by its arguments; ``()`` where the tool declared nothing."""
        return self.insides.reach.touches(arguments)

    def bind(self, arguments: FrozenDict, context: Context, facts: Facts = NO_FACTS) -> Binding:
        """Fresh Python arguments for the function.

        Its paths open through ``context.files``, under the names that were judged.

        Raises:
            LocalProtocolError: The arguments were not judged: they do not fit the tool's types.
        """
        signature = self.insides.signature
        if self.insides.model is None:
            return Binding((thaw(arguments),), dict.fromkeys(signature.hidden, context))
        names = {text: one.relative for text, one in facts.located.items() if isinstance(one, Located)}
        values = self._read(arguments, Opening(context.files, names))
        for name in signature.hidden:
            values[name] = context
        if not signature.positional:
            return Binding((), values)
        args: list[Any] = []
        for slot in signature.positional:
            if slot.name not in values and slot.default is NOTHING:
                break
            args.append(values.pop(slot.name, slot.default))
        return Binding(tuple(args), values)

    def _read(self, arguments: FrozenDict, opening: Opening) -> dict[str, Any]:
        """Typed values by Python name.

        A path that was left out is read from its default, so that it is bound too.
        """
        insides = self.insides
        fresh = thaw(arguments)
        for parameter in insides.reach.paths:
            default = insides.reach.defaults.get(parameter.name)
            if default is not None:
                fresh.setdefault(parameter.name, thaw(default))
        if insides.model is None:
            return {**thaw(insides.reach.defaults), **fresh}
        try:
            return insides.model.read(fresh, opening)
        except Exception as problem:
            # An author's validator may raise anything.
            message = "these arguments do not fit the tool's types; only a judged call can be bound"
            raise LocalProtocolError(message, tool=self.name) from problem
