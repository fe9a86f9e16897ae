"""The nearest name: alike in spelling or in its separators, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.schema import nearest


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("dryrun", "dry_run"),
        ("dryRun", "dry_run"),
        ("DRY-RUN", "dry_run"),
        ("pth", "path"),
        ("timout_seconds", "timeout_seconds"),
        ("zzz", ""),
        ("", ""),
    ],
)
def test_the_name_that_was_meant(name: str, meant: str) -> None:
    assert nearest(name, ["path", "dry_run", "timeout_seconds"]) == meant


def test_a_very_long_name_is_not_compared() -> None:
    assert nearest("path" * 1000, ["path" * 1000]) == ""


@given(st.text(max_size=20), st.lists(st.text(max_size=20)))
def test_only_names_that_exist_are_named(name: str, names: list[str]) -> None:
    found = nearest(name, names)
    assert found == "" or found in names
