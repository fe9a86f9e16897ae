"""Every exception callgate raises.

In: typed keyword facts. Out: one sentence made by ``__str__``. Promise: each class has a stable ``code``,
pickles, and carries no secret: what a model gets wrong, and what a tool raises, are values and never
exceptions.

    CallgateError
    ├── ConfigurationError            the host declared something that cannot work
    │   ├── ToolDeclarationError      a tool that cannot be published, or not safely
    │   ├── DuplicateToolError        two tools with one name
    │   ├── UnsupportedSchemaError    a JSON Schema that cannot be compiled or resolved
    │   └── UnknownDialectError       a dialect that no file of ``wire`` speaks
    ├── ProtocolError                 whose fault it is, as in h11
    │   ├── LocalProtocolError        our caller broke the order of things
    │   └── RemoteProtocolError       a peer sent what cannot be read
    ├── IllegalTransitionError        the life cycle has no such step
    ├── JournalError
    │   ├── JournalCorruptError       the chain does not verify, or an entry cannot be read
    │   ├── JournalVersionError       the store was written by a newer version
    │   ├── JournalUnavailableError   the store cannot be read or written now
    │   ├── LeaseHeldError            another process holds the run
    │   ├── LeaseLostError            this process held the run and no longer does
    │   └── UnknownRunError           no such run
    ├── TransportError                the network, or the server behind it
    ├── ModelError                    a model that is absent, damaged or cannot be asked
    ├── GateError                     the gate cannot take this call now
    │   ├── GateClosedError           used after it was closed
    │   └── NestedCallError           a call from inside a tool that could only wait for itself
    └── ToolError                     the one class for tool authors: its text reaches the model
"""

from __future__ import annotations

from typing import Any, ClassVar


class CallgateError(Exception):
    """The root. ``facts`` are the typed particulars; they are part of the text and of the pickle."""

    code: ClassVar[str] = "CALLGATE"

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self.facts = facts

    def __str__(self) -> str:
        """The message, then each fact as ``name=repr``."""
        told = ", ".join(f"{name}={value!r}" for name, value in self.facts.items() if value is not None)
        return f"{self.message} ({told})" if told else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the facts: multiprocessing and xdist send exceptions between processes."""
        return _rebuild, (type(self), self.message, self.facts)


def _rebuild(kind: type[CallgateError], message: str, facts: dict[str, Any]) -> CallgateError:
    return kind(message, **facts)


class ConfigurationError(CallgateError):
    """What the host declared cannot work; raised at declaration, never in the middle of a run."""

    code = "CONFIGURATION"


class ToolDeclarationError(ConfigurationError):
    """A tool cannot be published. Facts: ``tool``, ``parameter``, ``mend``."""

    code = "TOOL_DECLARATION"


class DuplicateToolError(ConfigurationError):
    """Two tools share a name. Facts: ``tool``."""

    code = "DUPLICATE_TOOL"


class UnsupportedSchemaError(ConfigurationError):
    """A JSON Schema cannot be compiled, or refers to what is not in it. Facts: ``tool``, ``where``."""

    code = "UNSUPPORTED_SCHEMA"


class UnknownDialectError(ConfigurationError):
    """No file of ``wire`` speaks this dialect. Facts: ``dialect``, ``known``."""

    code = "UNKNOWN_DIALECT"


class ProtocolError(CallgateError):
    """Someone broke a protocol; the subclasses say who."""

    code = "PROTOCOL"


class LocalProtocolError(ProtocolError):
    """Our caller broke the order of things: fed a closed decoder, answered a call that was not made."""

    code = "LOCAL_PROTOCOL"


class RemoteProtocolError(ProtocolError):
    """A peer sent what cannot be read. In a stream this is a ``StreamFault`` value instead."""

    code = "REMOTE_PROTOCOL"


class IllegalTransitionError(CallgateError):
    """The life cycle has no such step. Facts: ``state``, ``event``, ``key``."""

    code = "ILLEGAL_TRANSITION"


class JournalError(CallgateError):
    """The durable record cannot do what was asked."""

    code = "JOURNAL"


class JournalCorruptError(JournalError):
    """The chain does not verify, or an entry cannot be read. Facts: ``run``, ``sequence``."""

    code = "JOURNAL_CORRUPT"


class JournalVersionError(JournalError):
    """The store was written by a newer version. Facts: ``found``, ``known``."""

    code = "JOURNAL_VERSION"


class JournalUnavailableError(JournalError):
    """The store cannot be read or written now (full, read-only, locked). Nothing ran that is not in it."""

    code = "JOURNAL_UNAVAILABLE"


class LeaseHeldError(JournalError):
    """Another process holds the run. Facts: ``run``, ``holder``, ``until``."""

    code = "LEASE_HELD"


class LeaseLostError(JournalError):
    """This process held the run and no longer does; it may not append or start. Facts: ``run``, ``fence``."""

    code = "LEASE_LOST"


class UnknownRunError(JournalError):
    """The journal has no such run. Facts: ``run``."""

    code = "UNKNOWN_RUN"


class TransportError(CallgateError):
    """The network, or the server behind it.

    Facts: ``status``, ``kind``, ``retry_after`` (seconds), ``retryable``.
    """

    code = "TRANSPORT"

    @property
    def retryable(self) -> bool:
        """Whether the same request may be sent again."""
        return bool(self.facts.get("retryable", False))

    @property
    def retry_after(self) -> float | None:
        """Seconds the server asked us to wait, if it did."""
        return self.facts.get("retry_after")


class ModelError(CallgateError):
    """A model is absent, damaged, or cannot be asked. Facts: ``model``, ``mend``."""

    code = "MODEL"


class GateError(CallgateError):
    """The gate cannot take this call now."""

    code = "GATE"


class GateClosedError(GateError):
    """The gate was used after it was closed."""

    code = "GATE_CLOSED"


class NestedCallError(GateError):
    """A call made from inside a tool that could only wait for itself. Facts: ``tool``, ``resource``."""

    code = "NESTED_CALL"


class ToolError(CallgateError):
    """Raised by a tool's author; ``message`` and ``tool_code`` reach the model, nothing else does.

    Args:
        message: What went wrong, in words for the model.
        tool_code: A code of ``callgate.calls.CODES``; the table's advice is added for the model.
        transient: The same call may work a little later.
        retry_after: Seconds to wait before that.
        facts: More facts for the model, JSON values.
    """

    code = "TOOL_ERROR"

    def __init__(
        self,
        message: str,
        *,
        tool_code: str = "TOOL_ERROR",
        transient: bool = False,
        retry_after: float | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(message, **facts)
        self.tool_code = tool_code
        self.transient = transient
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with all that was said."""
        said = {"tool_code": self.tool_code, "transient": self.transient, "retry_after": self.retry_after}
        return _rebuild, (type(self), self.message, {**said, **self.facts})
