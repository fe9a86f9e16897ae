"""How far a run may go."""

import pytest

from callgate.agent import Limits, Outcome, Reason
from callgate.errors import ConfigurationError


@pytest.mark.parametrize(
    ("name", "value"), [("turns", 0), ("tokens", -1), ("repeats", 0), ("stuck_rounds", 0)]
)
def test_a_bound_that_is_none_is_refused(name: str, value: int) -> None:
    with pytest.raises(ConfigurationError, match=name):
        Limits(**{name: value})


def test_no_calls_and_no_resends_are_bounds() -> None:
    assert (Limits(calls=0, resends=0).calls, Limits(tokens=None).tokens) == (0, None)


def test_only_an_answer_is_ok() -> None:
    assert [reason for reason in Reason if Outcome(run="r", reason=reason).ok] == [Reason.ANSWERED]
