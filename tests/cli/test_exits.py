"""Every exit code is explained, and none has two meanings."""

from callgate.cli import EXITS
from callgate.cli._exits import Exit


def test_every_code_is_explained_once() -> None:
    assert set(EXITS) == set(Exit)
    assert len(set(EXITS.values())) == len(EXITS)
