"""How far a run may go, and how it ended.

In: numbers. Out: the values ``Limits``, ``Reason`` and ``Outcome``. Promise: every run ends, and with a
reason from this list; after any of them it can be taken up again by its id.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from callgate.calls import ToolResult, Usage
from callgate.errors import ConfigurationError
from callgate.wire import Exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of a run. ``None`` is no bound; turns always have one.

    Args:
        turns: Requests whose reply is used, over the whole run. The calls of the last one are answered but
            not run, since no turn is left to hear their results.
        tokens: Input and output together, over the whole run, estimated where the provider does not count.
        calls: Calls that are admitted, over the whole run. Reserved before any of a batch starts.
        seconds: Wall time from ``run`` or ``resume`` on.
        context: Tokens of one request, estimated. Older exchanges are left out whole to keep it; the task
            and the newest exchange never are.
        repeats: How often the same calls may give the same results. A round that brings anything new starts
            the count again.
        repeats_warned: From how many on the model is told.
        stuck_rounds: Rounds in a row in which no call was admitted though the model could mend one.
        stuck_unmendable_rounds: The same, where it could mend none.
        resends: How often a reply that broke off, failed in passing or was empty is asked for again.

    Raises:
        ConfigurationError: A bound is negative, or there is no turn.
    """

    turns: int = 25
    tokens: int | None = 500_000
    calls: int | None = 200
    seconds: float | None = 3600.0
    context: int | None = None
    repeats: int = 5
    repeats_warned: int = 3
    stuck_rounds: int = 4
    stuck_unmendable_rounds: int = 2
    resends: int = 1

    def __post_init__(self) -> None:
        """Refuse what is no bound."""
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0 if field.name in {"resends", "calls", "tokens", "seconds"} else 1
            if value is not None and value < least:
                raise ConfigurationError("a limit is too small", limit=field.name, got=value, least=least)


class Reason(StrEnum):
    """Why a run ended."""

    ANSWERED = "answered"
    """The model answered in text and called nothing."""
    MAX_TURNS = "max_turns"
    MAX_TOKENS = "max_tokens"
    MAX_CALLS = "max_calls"
    MAX_SECONDS = "max_seconds"
    CONTEXT = "context"
    """The task and the newest exchange alone are larger than one request may be."""
    REPEATED = "repeated"
    """The same calls gave the same results again and again."""
    STUCK_MENDABLE = "stuck_mendable"
    """No call was admitted for several rounds; the model was told how to mend them."""
    STUCK_UNMENDABLE = "stuck_unmendable"
    """No call was admitted for several rounds, and the model can do nothing about it."""
    PENDING = "pending"
    """A call waits for a person."""
    REFUSED = "refused"
    """The model refused."""
    FILTERED = "filtered"
    """The provider's content filter stopped the reply."""
    LENGTH = "length"
    """The answer hit the length limit; ``text`` is its beginning."""
    EMPTY = "empty"
    """The reply held nothing, also when asked again."""
    CUT = "cut"
    """The reply broke off, also when asked again."""
    MODEL_ERROR = "model_error"
    """The model's server reported an error inside the reply."""
    TRANSPORT = "transport"
    """The model could not be reached, or its server declined the request."""
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended.

    ``text`` is what the model said last; ``detail`` says more about the reason where there is more.
    ``results`` are those of the last turn's calls, and ``exchanges`` all turns that count, with their
    results: a history any provider takes. ``turns`` and ``calls`` count the whole run, earlier processes
    included. ``usage.estimator`` is set when any part of it was estimated.
    """

    run: str
    reason: Reason
    text: str = ""
    detail: str = ""
    turns: int = 0
    calls: int = 0
    usage: Usage = Usage()  # noqa: RUF009 - frozen
    results: tuple[ToolResult, ...] = ()
    exchanges: tuple[Exchange, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the model answered."""
        return self.reason is Reason.ANSWERED
