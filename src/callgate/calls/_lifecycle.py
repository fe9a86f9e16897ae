"""The life of a call: everything about its states stands in this file.

Rule 1: a state changes only through ``step``. Rule 2: a pair that is not in ``TRANSITIONS`` is an error,
never a guess. Rule 3: ``cancel_requested`` is a fact beside the state, because a cancelled call that returned
success is a success.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from callgate.errors import IllegalTransitionError

from ._values import Status


class State(StrEnum):
    """Where a call stands."""

    CREATED = "created"
    VALIDATED = "validated"
    AWAITING_APPROVAL = "awaiting_approval"
    RUNNING = "running"
    UNKNOWN = "unknown"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REFUSED = "refused"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


class Event(StrEnum):
    """What happens to a call."""

    ADMITTED = "admitted"
    REFUSED = "refused"
    ASKED = "asked"
    APPROVED = "approved"
    DENIED = "denied"
    STARTED = "started"
    RETRIED = "retried"
    RETURNED = "returned"
    RAISED = "raised"
    LOST = "lost"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    HAPPENED = "happened"
    DID_NOT_HAPPEN = "did_not_happen"


_S, _E = State, Event

TRANSITIONS: Final[dict[tuple[State, Event], State]] = {
    (_S.CREATED, _E.ADMITTED): _S.VALIDATED,
    (_S.CREATED, _E.REFUSED): _S.REFUSED,
    (_S.CREATED, _E.CANCELLED): _S.CANCELLED,
    (_S.VALIDATED, _E.ASKED): _S.AWAITING_APPROVAL,
    (_S.VALIDATED, _E.STARTED): _S.RUNNING,
    (_S.VALIDATED, _E.SKIPPED): _S.SKIPPED,
    (_S.VALIDATED, _E.CANCELLED): _S.CANCELLED,
    (_S.AWAITING_APPROVAL, _E.APPROVED): _S.VALIDATED,
    # An approved call is judged again, since the world may have changed meanwhile; it may be refused then.
    (_S.AWAITING_APPROVAL, _E.REFUSED): _S.REFUSED,
    (_S.AWAITING_APPROVAL, _E.DENIED): _S.REFUSED,
    (_S.AWAITING_APPROVAL, _E.CANCELLED): _S.CANCELLED,
    (_S.RUNNING, _E.RETURNED): _S.SUCCEEDED,
    (_S.RUNNING, _E.RAISED): _S.FAILED,
    (_S.RUNNING, _E.LOST): _S.UNKNOWN,
    # The next try of a read or an idempotent tool, with the same idempotency key.
    (_S.RUNNING, _E.RETRIED): _S.RUNNING,
    (_S.UNKNOWN, _E.RETRIED): _S.RUNNING,
    # Only evidence ends the unknown: a late outcome, reconcile, or a person.
    (_S.UNKNOWN, _E.RETURNED): _S.SUCCEEDED,
    (_S.UNKNOWN, _E.RAISED): _S.FAILED,
    (_S.UNKNOWN, _E.HAPPENED): _S.SUCCEEDED,
    (_S.UNKNOWN, _E.DID_NOT_HAPPEN): _S.FAILED,
}
"""(state, event) → next state. A missing pair is an error."""

FINAL: Final = frozenset({_S.SUCCEEDED, _S.FAILED, _S.REFUSED, _S.SKIPPED, _S.CANCELLED})
"""States that nothing leaves."""

STATUS: Final[dict[State, Status]] = {
    _S.CREATED: Status.PENDING,
    _S.VALIDATED: Status.PENDING,
    _S.AWAITING_APPROVAL: Status.PENDING,
    _S.RUNNING: Status.PENDING,
    _S.UNKNOWN: Status.UNKNOWN,
    _S.SUCCEEDED: Status.OK,
    _S.FAILED: Status.ERROR,
    _S.REFUSED: Status.REFUSED,
    _S.SKIPPED: Status.NOT_RUN,
    _S.CANCELLED: Status.NOT_RUN,
}
"""State → what a result of a call in that state is called."""


def step(state: State, event: Event, key: object = None) -> State:
    """The next state.

    Raises:
        IllegalTransitionError: The table has no such pair.
    """
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        message = "a call cannot do that in this state"
        raise IllegalTransitionError(message, state=str(state), event=str(event), key=str(key)) from None
