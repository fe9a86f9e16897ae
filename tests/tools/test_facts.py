"""What was looked up in the world."""

import dataclasses

import pytest

from callgate.tools import NO_FACTS, Facts, Located


def test_no_facts_are_no_facts() -> None:
    assert Facts() == NO_FACTS
    assert not NO_FACTS.located
    assert not NO_FACTS.versions


def test_what_was_found_does_not_change() -> None:
    located = Located("./a", "a", "file:/a", exists=True, version="7")
    with pytest.raises(dataclasses.FrozenInstanceError):
        located.version = "8"  # type: ignore[misc]
