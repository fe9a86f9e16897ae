"""The defaults of a gate are the safe ones."""

import dataclasses

import pytest

from callgate.gate import GateOptions


def test_the_defaults_ask_bound_and_separate() -> None:
    options = GateOptions()
    assert options.can_ask
    assert options.timeout_seconds <= options.timeout_ceiling
    assert options.lease_seconds > options.poll_seconds * 10
    assert options.writes == "by-resource"


def test_options_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        GateOptions().concurrency = 1  # type: ignore[misc]
