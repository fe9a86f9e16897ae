"""The values that travel between the rooms.

Data only, never a function or a handle; frozen all the way down. A value stands here when two floors pass it.
What is made anew for every call is a struct, which costs a tenth of a frozen dataclass to make.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import msgspec

from ._canonical import canonical, digest
from ._frozen import FrozenDict, FrozenList
from ._keys import CallKey

EMPTY: Final = FrozenDict()


class Effect(StrEnum):
    """What a tool does to the world, declared once; everything about permission and order starts from it."""

    READ = "read"
    WRITE = "write"
    IRREVERSIBLE = "irreversible"
    EXECUTE = "execute"


class Mode(StrEnum):
    """How a call touches a resource."""

    READ = "read"
    WRITE = "write"


class Access(msgspec.Struct, frozen=True, gc=False):
    """A canonical resource and how it is touched.

    Resources are hierarchical by ``/``: ``file:/src`` covers ``file:/src/a.py``; ``net:host`` stands alone.
    ``*`` is everything.
    """

    resource: str
    mode: Mode

    @classmethod
    def everything(cls, mode: Mode = Mode.WRITE) -> Access:
        """What a tool that declares no accesses is taken to touch."""
        return cls("*", mode)


class Status(StrEnum):
    """What a tool result says happened."""

    OK = "ok"
    ERROR = "error"
    REFUSED = "refused"
    NOT_RUN = "not_run"
    UNKNOWN = "unknown"
    PENDING = "pending"


class Finish(StrEnum):
    """How a turn ended. ``cut``: no end ever came. ``empty``: it ended properly and holds nothing."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    REFUSAL = "refusal"
    FILTERED = "filtered"
    ERROR = "error"
    CUT = "cut"
    EMPTY = "empty"


class CallKind(StrEnum):
    """What sort of call the model made. Only ``function`` calls reach a tool by themselves."""

    FUNCTION = "function"
    CUSTOM = "custom"
    BUILTIN = "builtin"


@dataclass(frozen=True, slots=True)
class Example:
    """A request in plain words and the arguments that answer it."""

    request: str
    arguments: FrozenDict


@dataclass(frozen=True, slots=True)
class Description:
    """What a model needs to know of a tool, kept apart so that it can be linted and lowered.

    ``effect_note`` is written by the effect class, never by the author.
    """

    what: str
    when: str = ""
    when_not: str = ""
    instead: str = ""
    returns: str = ""
    danger: str = ""
    effect_note: str = ""

    def text(self) -> str:
        """The parts as the one description a provider takes."""
        parts = (
            self.what,
            self.when and f"Use when: {self.when}",
            self.when_not and f"Do not use when: {self.when_not}",
            self.instead and f"Use {self.instead} instead then.",
            self.returns and f"Returns: {self.returns}",
            self.danger and f"Danger: {self.danger}",
            self.effect_note,
        )
        return "\n".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What a model is told of a tool and what its calls are judged under.

    ``parameters`` is a JSON Schema (2020-12) object. ``digest`` is the SHA-256 over name, description text
    and parameters in canonical form: a reordered schema is the same definition, any other change is another
    one.
    """

    name: str
    description: Description
    parameters: FrozenDict
    digest: str
    examples: tuple[Example, ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        description: Description | str,
        parameters: FrozenDict,
        examples: tuple[Example, ...] = (),
    ) -> ToolDefinition:
        """A definition with its digest."""
        said = Description(description) if isinstance(description, str) else description
        told = {"name": name, "description": said.text(), "parameters": parameters}
        return cls(name, said, parameters, digest(told), examples)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with a call.

    ``code`` is a row of ``CODES`` and gives the layer and who can mend it. ``where`` is a JSON Pointer (RFC
    6901) into the arguments, or ``""`` for the whole call. ``expected`` and ``mend`` are words for the model;
    neither repeats a value that was sent, which may be a secret.
    """

    code: str
    where: str = ""
    expected: str = ""
    mend: str = ""


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """What the model proposed: one frozen value from parse to execution.

    ``call_id`` is what the provider said; it pairs a result inside its turn and nothing else.
    ``arguments_text`` is kept for the record and never parsed again. ``complete`` is true only when the
    dialect itself closed the call and the arguments were read; ``fault`` says why they were not. ``digest``
    (over tool name, definition digest and canonical arguments) is empty until the gate knows which definition
    the call is judged under.
    """

    name: str
    arguments: FrozenDict = EMPTY
    arguments_text: str = ""
    call_id: str | None = None
    key: CallKey = CallKey()
    complete: bool = True
    fault: Finding | None = None
    kind: CallKind = CallKind.FUNCTION
    digest: str = ""

    def admitted_as(self, key: CallKey, definition_digest: str) -> ToolCall:
        """The same call under its lasting key, with the digest that approvals are bound to."""
        told = call_digest(self.name, definition_digest, self.arguments)
        return ToolCall(
            self.name,
            self.arguments,
            self.arguments_text,
            self.call_id,
            key,
            self.complete,
            self.fault,
            self.kind,
            told,
        )


def call_digest(name: str, definition_digest: str, arguments: FrozenDict) -> str:
    """SHA-256 over tool name, definition digest and canonical arguments, a line feed after the first two.

    No two calls share it: the last two parts hold no line feed, so the text can be split in one way only.
    """
    told = f"{name}\n{definition_digest}\n".encode("utf-8", "surrogatepass") + canonical(arguments)
    return hashlib.sha256(told).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as the provider counted them; ``estimator`` names who estimated where it did not."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    estimator: str = ""

    @property
    def total(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """The answer to the five questions.

    ``findings`` are all of the first layer that failed (at most 8) and, where the call is structurally sound,
    those of the later layers too, so that one answer mends all. ``ask`` holds the reasons why a person must
    decide; it counts only when there are no findings.
    """

    findings: tuple[Finding, ...] = ()
    ask: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the call may run, perhaps after a person said yes."""
        return not self.findings


class Provenance(msgspec.Struct, frozen=True, gc=False):
    """Where the content of a result came from, and whether it may be taken as said by our side."""

    tool: str
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Range:
    """A part of something larger: ``start`` and ``end`` in ``unit`` (``lines``, ``characters``, ``items``).

    ``total`` is the size of the whole, if it is known.
    """

    start: int
    end: int
    unit: str = "characters"
    total: int | None = None


class ToolResult(msgspec.Struct, frozen=True, gc=False):
    """The one answer each call gets, paired by ``key`` (inside its turn by ``call_id``), never by position.

    ``content`` is a JSON value. ``findings`` say how to mend a refusal. ``handle`` pages the rest of a cut
    result. ``evidence`` is the id of what a person can look up in the journal.
    """

    key: CallKey
    call_id: str | None
    name: str
    status: Status
    code: str = ""
    content: Any = None
    findings: tuple[Finding, ...] = ()
    resource: str = ""
    version: str = ""
    truncated: bool = False
    next_range: Range | None = None
    handle: str = ""
    evidence: str = ""
    provenance: Provenance | None = None


class StreamFault(msgspec.Struct, frozen=True, gc=False):
    """Something wrong in a stream: an event when it is met, and listed in the turn.

    ``code`` is ours and stable; ``provider_code`` is the peer's own word. ``retryable``: the request may be
    sent again. ``fatal``: the turn cannot be executed.
    """

    code: str
    message: str = ""
    provider_code: str = ""
    retryable: bool = False
    fatal: bool = True


@dataclass(frozen=True, slots=True)
class ServerCall:
    """A call the provider runs itself. Shown, recorded, never executed here."""

    name: str
    call_id: str | None = None
    arguments_text: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """All of one reply: the only unit that may have an effect, and only when ``executable``.

    ``why_not`` is a code of the turn layer and ``reason`` says it in words. ``kept`` holds, verbatim, what
    the provider wants back in the next request (reasoning items, thinking with its signature).
    ``alternatives`` are the other choices of one response; they are never executable. ``digest`` is
    ``turn_digest``, empty in a turn that nobody heard to its end: one a recovery closed.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = Finish.CUT
    finish_raw: str = ""
    executable: bool = False
    why_not: str = ""
    reason: str = ""
    usage: Usage | None = None
    possibly_truncated: bool = False
    faults: tuple[StreamFault, ...] = ()
    refusal: str = ""
    reasoning: str = ""
    server_calls: tuple[ServerCall, ...] = ()
    kept: FrozenList = field(default_factory=FrozenList)
    alternatives: tuple[Turn, ...] = ()
    response_id: str = ""
    dialect: str = ""
    digest: str = ""


def turn_digest(turn: Turn) -> str:
    """What identifies a turn that is delivered twice: its response, its end, and all that the model said."""
    calls = [
        [call.call_id, call.name, call.arguments_text, str(call.kind), call.complete] for call in turn.calls
    ]
    return digest([turn.response_id, str(turn.finish), turn.finish_raw, turn.text, turn.refusal, calls])
