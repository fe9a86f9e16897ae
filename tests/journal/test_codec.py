"""Entries as lines: round trips, frozen values, old lines, lines from elsewhere."""

import json
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import CallKey, Entry, FrozenDict, FrozenList, Raised, Returned, RunStarted, TurnHeard
from callgate.errors import JournalCorruptError, JournalVersionError, LocalProtocolError
from callgate.journal import FORMAT, decode_entry, encode_entry
from tests.journal.examples import EVERY, KEY, entries
from tests.strategies import json_values, typed

GOLDEN = Path(__file__).with_name("golden")


def lines(name: str) -> list[bytes]:
    return (GOLDEN / name).read_bytes().splitlines()


def plain(entry: Entry) -> str:
    """Everything in an entry as text, which tells 1, 1.0 and True apart."""
    return json.dumps(msgspec.to_builtins(entry), sort_keys=True)


def changeable(value: Any) -> list[object]:
    """What in a value could be changed."""
    if isinstance(value, dict):
        return [item for inner in value.values() for item in changeable(inner)] + (
            [] if isinstance(value, FrozenDict) else [value]
        )
    if isinstance(value, list):
        return [item for inner in value for item in changeable(inner)] + (
            [] if isinstance(value, FrozenList) else [value]
        )
    if isinstance(value, tuple):
        return [item for inner in value for item in changeable(inner)]
    names: tuple[str, ...] = getattr(value, "__struct_fields__", ())
    names = names or tuple(getattr(type(value), "__dataclass_fields__", ()))
    return [item for name in names for item in changeable(getattr(value, name))]


@pytest.mark.parametrize("entry", EVERY, ids=lambda entry: type(entry).__name__)
def test_an_entry_of_each_kind_is_read_as_it_was_written(entry: Entry) -> None:
    again = decode_entry(encode_entry(entry))
    assert again == entry
    assert plain(again) == plain(entry)
    assert changeable(again) == []


@given(entries)
def test_any_entry_is_read_as_it_was_written(entry: Entry) -> None:
    line = encode_entry(entry)
    again = decode_entry(line)
    assert type(again) is type(entry)
    assert plain(again) == plain(entry)
    assert changeable(again) == []
    assert encode_entry(again) == line
    assert b"\n" not in line


def test_the_examples_are_of_every_kind_and_leave_no_field_at_its_default() -> None:
    assert {type(entry) for entry in EVERY} == set(get_args(Entry))
    for entry in EVERY:
        for field in msgspec.structs.fields(entry):
            # A field that is new gets a value in examples.py, and the golden file stays as it is.
            assert getattr(entry, field.name) != field.default, (type(entry), field.name)


def test_lines_of_format_1_are_read_for_ever() -> None:
    """The golden file is as format 1 was first written; entries may have gained fields since."""
    golden = lines("format-1.jsonl")
    assert len(golden) == len(EVERY)
    for line, entry in zip(golden, EVERY, strict=True):
        again = decode_entry(line)
        for name in json.loads(line).keys() - {"v", "type"}:
            assert getattr(again, name) == getattr(entry, name), (entry, name)
        assert covers(json.loads(encode_entry(again)), json.loads(line))


def covers(new: Any, old: Any) -> bool:
    """Whether what an old line said stands in the new one, which may say more."""
    if isinstance(old, dict):
        return all(name in new and covers(new[name], item) for name, item in old.items())
    if isinstance(old, list):
        return len(old) == len(new) and all(map(covers, new, old))
    return bool(new == old)


def test_what_a_line_leaves_out_means_for_ever_what_it_meant() -> None:
    """A default is not written, so it may never change: each stands in the golden file beside its line."""
    shortest, meant = lines("format-1-shortest.jsonl"), lines("format-1-defaults.jsonl")
    assert [json.loads(line)["type"] for line in shortest] == [type(entry).__name__ for entry in EVERY]
    for line, defaults in zip(shortest, map(json.loads, meant), strict=True):
        entry = decode_entry(line)
        assert json.loads(line).keys().isdisjoint(defaults)
        for name, value in defaults.items():
            assert json.loads(msgspec.json.encode(getattr(entry, name))) == value


def test_a_field_that_is_not_known_is_passed_over() -> None:
    line = encode_entry(EVERY[0])
    assert decode_entry(line[:-1] + b',"mood":{"of":["the day"]}}') == EVERY[0]


def test_a_line_of_a_newer_format_is_told_from_a_broken_one() -> None:
    line = encode_entry(EVERY[0])
    newer = line.replace(b'{"v":%d,' % FORMAT, b'{"v":%d,' % (FORMAT + 1))
    with pytest.raises(JournalVersionError) as caught:
        decode_entry(newer)
    assert caught.value.facts == {"found": FORMAT + 1, "known": FORMAT}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"null",
        b"\xff",
        b'{"v":1,"type":"Unheard","run":"r"}',
        b'{"v":1,"type":"RunStarted","run":"r"}',
        b'{"v":1,"type":"Started","key":["r",0,"0",0],"at":1.0,"idempotency_key":"k"}',
        b'{"v":1,"type":"Raised","key":["r",0,0,0],"at":1.0,"code":"TOOL_ERROR","facts":[]}',
        b'{"v":1,"type":"Returned","key":["r",0,0,0],"at":1.0,"content":' + b"[" * 2000 + b"]" * 2000 + b"}",
    ],
)
def test_what_is_no_entry_is_refused(line: bytes) -> None:
    with pytest.raises(JournalCorruptError):
        decode_entry(line)


@given(st.sampled_from(EVERY), st.data())
def test_a_line_that_was_cut_is_never_an_entry(entry: Entry, data: st.DataObject) -> None:
    line = encode_entry(entry)
    with pytest.raises(JournalCorruptError):
        decode_entry(line[: data.draw(st.integers(0, len(line) - 1))])


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_cannot_carry_is_refused_and_not_made_null(number: float) -> None:
    for entry in (
        Returned(KEY, 1.0, content=FrozenDict(a=FrozenList([1, number]))),
        Returned(KEY, 1.0, content=number),
        Raised(KEY, 1.0, "TOOL_ERROR", facts=FrozenDict(a=number)),
    ):
        with pytest.raises(LocalProtocolError, match="cannot carry"):
            encode_entry(entry)


def test_a_value_that_json_cannot_carry_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for content in (object(), endless):
        with pytest.raises(LocalProtocolError, match="cannot carry"):
            encode_entry(Returned(KEY, 1.0, content=content))


def test_half_a_surrogate_pair_is_kept_as_it_came() -> None:
    """R015: providers cut pairs apart; the record keeps what was sent."""
    entry = TurnHeard(**{**msgspec.structs.asdict(EVERY[2]), "text": "a\ud83d"})
    line = encode_entry(entry)
    assert line.isascii()
    assert plain(decode_entry(line)) == plain(entry)


@given(json_values)
def test_content_comes_back_with_its_types(value: Any) -> None:
    entry = decode_entry(encode_entry(Returned(CallKey("r"), 1.0, content=value)))
    assert isinstance(entry, Returned)
    assert typed(entry.content) == typed(value)


def test_the_type_and_the_format_stand_first() -> None:
    assert encode_entry(RunStarted("r", 1.0)).startswith(b'{"v":1,"type":"RunStarted",')
