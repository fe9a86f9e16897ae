"""What the journal holds: one frozen entry for each thing that became so.

An entry carries all that ``evolve`` needs, so that recovery consults neither the tools nor the policy. Times
are Unix seconds, read from the shell's clock. The codec (``journal``) tags each entry with its class name; a
field is only ever added, with a default, so that old journals stay readable.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from ._frozen import FrozenDict, FrozenList
from ._keys import CallKey
from ._values import EMPTY, Access, Effect, Finding, Finish, Range, ServerCall, StreamFault, ToolCall, Usage


class AttemptKind(StrEnum):
    """How an attempt at a turn came about."""

    FIRST = "first"
    RESUMED = "resumed"
    RESENT = "resent"
    REGENERATED = "regenerated"


class Offered(msgspec.Struct, frozen=True, gc=False):
    """A tool as it was offered: its name and the digest of its definition."""

    name: str
    digest: str


class RunStarted(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """A run began.

    ``task`` is what the user asked, ``system`` the system prompt; both empty when the gate is used alone.
    ``writes`` is how its writes are scheduled, for as long as it lives.
    """

    run: str
    at: float
    task: str = ""
    system: str = ""
    policy: str = ""
    writes: str = "by-resource"


class TurnAsked(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """A request was sent: the model, what was really sent, which tools were offered under which definitions.

    ``tool_bytes`` and ``tool_tokens`` are the size of the tool part; ``tokens_by`` names the estimator when
    they are estimated.
    """

    run: str
    turn: int
    attempt: int
    kind: AttemptKind
    model: str
    dialect: str
    at: float
    parameters: FrozenDict = EMPTY
    offered: tuple[Offered, ...] = ()
    tool_bytes: int = 0
    tool_tokens: int = 0
    tokens_by: str = ""
    messages_digest: str = ""


class TurnHeard(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """A reply ended. It carries the calls themselves; what was decided of each follows as entries of its own.

    ``body_digest`` is the SHA-256 of the raw body where it passed through our hands; ``body`` the body
    itself, by option. ``why_not`` is empty for a turn that may be executed.
    """

    run: str
    turn: int
    attempt: int
    at: float
    finish: Finish
    digest: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    why_not: str = ""
    reason: str = ""
    finish_raw: str = ""
    usage: Usage | None = None
    possibly_truncated: bool = False
    faults: tuple[StreamFault, ...] = ()
    refusal: str = ""
    server_calls: tuple[ServerCall, ...] = ()
    kept: FrozenList = msgspec.field(default_factory=FrozenList)
    response_id: str = ""
    dialect: str = ""
    body_digest: str = ""
    body: bytes = b""


class Admitted(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """A call passed the checks.

    ``accesses`` are the resources its concrete arguments touch, as they were found then.
    ``serial``: it runs alone among its kind, in call order. ``held``: it keeps its place but waits for a
    person.
    """

    key: CallKey
    at: float
    digest: str
    definition: str
    effect: Effect
    idempotent: bool = False
    accesses: tuple[Access, ...] = ()
    serial: bool = False
    held: bool = False


class Refused(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """A call did not pass. ``findings`` say why; the first one's code is the result's."""

    key: CallKey
    at: float
    findings: tuple[Finding, ...]


class ApprovalAsked(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """A call waits for a person, who decides about ``digest`` and nothing else."""

    key: CallKey
    at: float
    digest: str
    reasons: tuple[str, ...] = ()
    expires_at: float | None = None


class Decided(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """Someone outside decided.

    ``code`` is the refusal's code when not approved (denied, expired, no approver).
    An approved call is judged again; ``findings`` are what that judgement found, and any of them refuses it
    all the same.
    """

    key: CallKey
    at: float
    digest: str
    approved: bool
    by: str
    reason: str = ""
    code: str = ""
    findings: tuple[Finding, ...] = ()


class Started(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """The tool is about to run: durable before it does.

    ``attempt`` counts tries from 1; ``lease`` is the fencing token.
    """

    key: CallKey
    at: float
    idempotency_key: str
    lease: int = 0
    attempt: int = 1


class Returned(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """The tool returned.

    ``content`` is the whole value as JSON; what the model sees is cut to ``limit`` characters from it.
    ``late``: the call had been given up as unknown before. ``note`` is a code when the value could not be
    converted. ``kept`` is for the record alone, such as what was deleted.
    """

    key: CallKey
    at: float
    content: Any = None
    limit: int = 0
    resource: str = ""
    version: str = ""
    next_range: Range | None = None
    trusted: bool = False
    late: bool = False
    note: str = ""
    kept: Any = None


class Raised(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """The tool failed, and that is known. ``message`` is for the model; ``detail`` stays in the record."""

    key: CallKey
    at: float
    code: str
    message: str = ""
    detail: str = ""
    evidence: str = ""
    facts: FrozenDict = EMPTY
    late: bool = False


class LostSight(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """Started, and nobody can say whether it happened: timed out, cancelled, process died, reply lost."""

    key: CallKey
    at: float
    cause: str
    detail: str = ""
    evidence: str = ""


class Reconciled(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """Evidence ended the unknown: the tool's ``reconcile``, or a person with a note."""

    key: CallKey
    at: float
    happened: bool
    by: str
    content: Any = None
    note: str = ""
    limit: int = 0
    resource: str = ""
    version: str = ""
    kept: Any = None


class CancelRequested(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """Someone asked to stop; a call that had started may succeed all the same.

    Without ``key`` it means the whole run.
    """

    run: str
    at: float
    by: str = ""
    key: CallKey | None = None


class RunEnded(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """A run ended, with its named reason."""

    run: str
    at: float
    reason: str
    text: str = ""


Entry = (
    RunStarted
    | TurnAsked
    | TurnHeard
    | Admitted
    | Refused
    | ApprovalAsked
    | Decided
    | Started
    | Returned
    | Raised
    | LostSight
    | Reconciled
    | CancelRequested
    | RunEnded
)
