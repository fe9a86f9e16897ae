import gc
from typing import Any, Final, get_args

import msgspec
import pytest

from callgate import calls
from callgate.calls import CallKey, Decided, Entry, Finding, Refused, Returned, RunStarted, freeze

ENTRIES: Final = get_args(Entry)


def test_the_entries_are_those_of_the_design() -> None:
    assert [kind.__name__ for kind in ENTRIES] == [
        "RunStarted",
        "TurnAsked",
        "TurnHeard",
        "Admitted",
        "Refused",
        "ApprovalAsked",
        "Decided",
        "Started",
        "Returned",
        "Raised",
        "LostSight",
        "Reconciled",
        "CancelRequested",
        "RunEnded",
    ]


def test_every_entry_of_the_room_is_one_of_them() -> None:
    tagged = [
        kind
        for kind in vars(calls).values()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind.__struct_config__.tag
    ]
    assert set(tagged) == set(ENTRIES)


@pytest.mark.parametrize("kind", ENTRIES)
def test_an_entry_is_frozen_untracked_and_tagged_with_its_name(kind: type[msgspec.Struct]) -> None:
    config = kind.__struct_config__
    assert config.frozen
    assert not config.gc
    assert (config.tag_field, config.tag) == ("type", kind.__name__)


@pytest.mark.parametrize("kind", ENTRIES)
def test_an_entry_tells_its_time_and_whose_it_is(kind: type[msgspec.Struct]) -> None:
    names = {field.name for field in msgspec.structs.fields(kind)}
    assert "at" in names
    assert names & {"run", "key"}


@pytest.mark.parametrize("kind", ENTRIES)
def test_what_was_added_later_can_be_left_out(kind: type[msgspec.Struct]) -> None:
    """A field that is required comes before those that are not, so that an old journal stays readable."""
    required = [field.required for field in msgspec.structs.fields(kind)]
    assert required == sorted(required, reverse=True)


# The fields an entry had in the first version: without a default for any other, old journals are unreadable.
REQUIRED: Final[dict[str, str]] = {
    "RunStarted": "run at",
    "TurnAsked": "run turn attempt kind model dialect at",
    "TurnHeard": "run turn attempt at finish digest",
    "Admitted": "key at digest definition effect",
    "Refused": "key at findings",
    "ApprovalAsked": "key at digest",
    "Decided": "key at digest approved by",
    "Started": "key at idempotency_key",
    "Returned": "key at",
    "Raised": "key at code",
    "LostSight": "key at cause",
    "Reconciled": "key at happened by",
    "CancelRequested": "run at",
    "RunEnded": "run at reason",
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_no_field_became_required(kind: type[msgspec.Struct]) -> None:
    required = [field.name for field in msgspec.structs.fields(kind) if field.required]
    assert required == REQUIRED[kind.__name__].split()


KEY: Final = CallKey("r", 0, 0, 0)

SOME: Final[list[Any]] = [
    RunStarted("r", 1.0, "task"),
    Refused(KEY, 1.0, (Finding("NOT_JSON"),)),
    Decided(KEY, 1.0, "d", approved=True, by="ann"),
    Returned(KEY, 1.0, freeze({"a": [1]})),
]


@pytest.mark.parametrize("entry", SOME, ids=lambda entry: type(entry).__name__)
def test_an_entry_cannot_be_changed_and_costs_the_collector_nothing(entry: Any) -> None:
    with pytest.raises(AttributeError):
        entry.at = 2.0
    assert not gc.is_tracked(entry)
    assert hash(entry) == hash(msgspec.structs.replace(entry))
