import codecs
import json
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import (
    CODES,
    EMPTY,
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_DIGITS,
    Finding,
    FrozenDict,
    Layer,
    canonical,
    freeze_arguments,
    parse_arguments,
    pointer,
    steps,
)
from tests.corpus import CORPUS, needs_corpus
from tests.strategies import json_objects, json_values, typed

SUITE: Final = CORPUS / "json_test_suite" / "test_parsing"

# Names that stand twice are legal JSON; arguments in which the last one wins are not what anyone approved.
DUPLICATES: Final = frozenset({"y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"})


def suite(kind: str) -> list[Any]:
    return [pytest.param(path, id=path.name) for path in sorted(SUITE.glob(f"{kind}_*.json"))]


def read(path: Path) -> str:
    """The bytes as text; what is no UTF-8 becomes halves of surrogate pairs."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


def refused(text: str) -> Finding:
    finding = parse_arguments(text)
    assert isinstance(finding, Finding)
    return finding


def nested(depth: int, inner: str = "1") -> str:
    return '{"a":' + "[" * (depth - 1) + inner + "]" * (depth - 1) + "}"


# ---------------------------------------------------------------- the JSON test suite


@needs_corpus
@pytest.mark.parametrize("path", suite("y"))
def test_what_the_suite_accepts_is_accepted(path: Path) -> None:
    text = read(path)
    expected = json.loads(text)
    if path.name in DUPLICATES:
        assert refused(text) == Finding("DUPLICATE_KEY", "/a", "each name once")
        return
    wrapped = parse_arguments(f'{{"v":{text}}}')
    assert isinstance(wrapped, FrozenDict)
    assert typed(wrapped) == typed({"v": expected})
    bare = parse_arguments(text)
    assert bare == expected if isinstance(expected, dict) else isinstance(bare, Finding)


@needs_corpus
@pytest.mark.parametrize("path", suite("n"))
def test_what_the_suite_rejects_is_refused(path: Path) -> None:
    """But for no text at all, which means no arguments."""
    text = read(path)
    finding = parse_arguments(text)
    if text.strip():
        assert isinstance(finding, Finding)
        assert CODES[finding.code].layer is Layer.SYNTAX
    else:
        assert finding == EMPTY
    assert isinstance(parse_arguments(f'{{"v":{text}}}'), Finding)


@needs_corpus
@pytest.mark.parametrize("path", suite("i"))
def test_what_the_suite_leaves_open_is_accepted_exactly_or_refused(path: Path) -> None:
    value = parse_arguments(f'{{"v":{read(path)}}}')
    if isinstance(value, FrozenDict):
        assert canonical(value)
        assert typed(value) == typed(json.loads(f'{{"v":{read(path)}}}'))


@needs_corpus
def test_the_suite_is_whole() -> None:
    assert [len(suite(kind)) for kind in "yni"] == [95, 188, 35]


# ---------------------------------------------------------------- no arguments


@pytest.mark.parametrize("text", ["", " ", "\n", "\t\r\n  ", "{}", " {}\n"])
def test_no_text_means_no_arguments(text: str) -> None:
    """R004: an empty argument string is a call without parameters."""
    assert parse_arguments(text) == {}
    assert isinstance(parse_arguments(text), FrozenDict)


@pytest.mark.parametrize("text", ["\xa0", "\u2028", "\x0b", "\x00", "\ufeff{}"])
def test_only_the_white_space_of_json_is_blank(text: str) -> None:
    assert refused(text).code == "NOT_JSON"


# ---------------------------------------------------------------- what is refused, and where

REFUSED: Final = [
    ("[]", "NOT_AN_OBJECT", ""),
    ("null", "NOT_AN_OBJECT", ""),
    ('"{}"', "NOT_AN_OBJECT", ""),
    ("1", "NOT_AN_OBJECT", ""),
    ('{"a":1,"a":1}', "DUPLICATE_KEY", "/a"),
    ('{"a":1,"\\u0061":2}', "DUPLICATE_KEY", "/a"),
    ('{"x":[{},{"a/b":{"~":1,"~":2}}]}', "DUPLICATE_KEY", "/x/1/a~1b/~0"),
    ('{"a":{"b":NaN}}', "NUMBER_NOT_FINITE", "/a/b"),
    ('{"a":[0,Infinity]}', "NUMBER_NOT_FINITE", "/a/1"),
    ('{"a":-Infinity}', "NUMBER_NOT_FINITE", "/a"),
    ('{"a":[1e308,1e309]}', "NUMBER_NOT_FINITE", "/a/1"),
    ('{"a":-1e400}', "NUMBER_NOT_FINITE", "/a"),
    ('{"a":"\\ud83d"}', "TEXT_NOT_UNICODE", "/a"),
    ('{"a":["","x\\ude00y"]}', "TEXT_NOT_UNICODE", "/a/1"),
    ('{"a":"\\ude00\\ud83d"}', "TEXT_NOT_UNICODE", "/a"),
    ('{"a":"\ud83d"}', "TEXT_NOT_UNICODE", "/a"),
    ('{"\\ud83d":1}', "TEXT_NOT_UNICODE", "/\ufffd"),
    ('{"a":1e5,"b":' + "9" * (MAX_DIGITS + 1) + "}", "TOO_LARGE", "/b"),
    ('{"a":-' + "9" * 5000 + "}", "TOO_LARGE", "/a"),
    (nested(MAX_DEPTH + 1), "TOO_DEEP", "/a" + "/0" * (MAX_DEPTH - 1)),
    (nested(150), "TOO_DEEP", "/a" + "/0" * (MAX_DEPTH - 1)),
    ('{"a":' * 129 + "1" + "}" * 129, "TOO_DEEP", "/a" * MAX_DEPTH),
    (nested(100_000), "TOO_DEEP", ""),
    ('{"a":"' + "x" * MAX_CHARACTERS + '"}', "TOO_LARGE", ""),
]


@pytest.mark.parametrize(("text", "code", "where"), REFUSED, ids=lambda part: str(part)[:20])
def test_the_refusal_names_the_place(text: str, code: str, where: str) -> None:
    finding = refused(text)
    assert (finding.code, finding.where) == (code, where)
    assert finding.expected


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1,}', "line 1 column 9"),
        ('{\n "a": tru}', "line 2 column 7"),
        ('{"a": 1} {"a": 2}', "line 1 column 10"),
        ('{"a": "x', "line 1 column 7"),
        ("{'a': 1}", "line 1 column 2"),
        ('{"a": 01}', "line 1 column 8"),
        ('{"a": "\n"}', "line 1 column 8"),
    ],
)
def test_broken_text_is_refused_with_line_and_column(text: str, place: str) -> None:
    finding = refused(text)
    assert (finding.code, finding.where) == ("NOT_JSON", "")
    assert finding.expected.startswith("one JSON object; ")
    assert finding.expected.endswith(place)


def test_the_limits_themselves_are_within_the_limits() -> None:
    objects = '{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH
    for text in (objects, nested(MAX_DEPTH), f'{{"a":{"9" * MAX_DIGITS},"b":-{"9" * MAX_DIGITS}}}'):
        assert parse_arguments(text) == json.loads(text)


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert parse_arguments(r'{"a":"\ud83d\ude00","资料":"\u2028"}') == {"a": "\U0001f600", "资料": "\u2028"}


def test_a_refusal_does_not_repeat_what_was_sent() -> None:
    """R038: the value may be a secret."""
    for text in (
        '{"a":"hunter2","b":NaN}',
        '{"a":"hunter2",}',
        '["hunter2"]',
        '{"a":hunter2}',
        'hunter2{"a":1}',
    ):
        assert "hunter2" not in str(refused(text))


def test_a_small_number_becomes_nought_and_a_long_one_is_exact() -> None:
    text = '{"a":1e-400,"b":12345678901234567890,"c":-0.0,"d":1.0,"e":-0}'
    assert typed(parse_arguments(text)) == typed(
        {"a": 0.0, "b": 12345678901234567890, "c": -0.0, "d": 1.0, "e": 0}
    )


# ---------------------------------------------------------------- properties


@given(json_objects, st.booleans())
def test_any_object_is_read_as_it_is(value: dict[str, Any], ascii_only: bool) -> None:
    read_back = parse_arguments(json.dumps(value, ensure_ascii=ascii_only))
    assert isinstance(read_back, FrozenDict)
    assert typed(read_back) == typed(value)


@given(json_objects)
def test_the_canonical_text_of_arguments_gives_the_same_arguments(value: dict[str, Any]) -> None:
    read_back = parse_arguments(canonical(value).decode())
    assert isinstance(read_back, FrozenDict)
    assert canonical(read_back) == canonical(value)


@given(json_objects, st.data())
def test_an_object_that_is_cut_short_is_refused(value: dict[str, Any], data: st.DataObject) -> None:
    """R006: a truncated argument text is never mended."""
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text) - 1))
    assert isinstance(parse_arguments(text[:cut]), Finding)


ANY_TEXT: Final = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.text(st.sampled_from('{}[]",:\\0123456789eE+-.truefalsnNIiy \n\ud83d\ude00')),
    st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape")),
    st.binary().map(lambda raw: raw.decode("latin-1")),
)


@given(ANY_TEXT)
def test_no_text_makes_the_parser_raise(text: str) -> None:
    for candidate in (text, f'{{"v":{text}}}', f'{{"v":"{text}"}}', f'{{"{text}":1}}'):
        value = parse_arguments(candidate)
        if isinstance(value, Finding):
            assert CODES[value.code].layer is Layer.SYNTAX
            value.where.encode()
            value.expected.encode()
        else:
            assert canonical(value)


@given(json_objects, st.data())
def test_a_changed_character_never_makes_the_parser_raise(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    place = data.draw(st.integers(0, len(text) - 1))
    character = data.draw(st.characters(exclude_categories=()))
    value_or_finding = parse_arguments(text[:place] + character + text[place + 1 :])
    assert isinstance(value_or_finding, Finding) or canonical(value_or_finding)


@given(st.binary(max_size=40))
def test_bytes_that_are_no_utf8_are_refused(raw: bytes) -> None:
    text = raw.decode("utf-8", "surrogateescape")
    if raw != raw.decode("utf-8", "replace").encode():
        assert refused(json.dumps({"v": text}, ensure_ascii=False)).code == "TEXT_NOT_UNICODE"


# ---------------------------------------------------------------- arguments that arrive as a value


@given(json_objects)
def test_a_value_is_frozen_as_it_is(value: dict[str, Any]) -> None:
    frozen = freeze_arguments(value)
    assert isinstance(frozen, FrozenDict)
    assert typed(frozen) == typed(value)


@given(json_values)
def test_a_value_is_judged_as_its_text_is(value: Any) -> None:
    assert freeze_arguments(value) == parse_arguments(json.dumps(value))


@pytest.mark.parametrize(
    ("value", "code", "where"),
    [
        ([], "NOT_AN_OBJECT", ""),
        (None, "NOT_AN_OBJECT", ""),
        ({"a": [float("nan")]}, "NUMBER_NOT_FINITE", "/a/0"),
        ({"a": {"b\ud800": 1}}, "TEXT_NOT_UNICODE", "/a/b\ufffd"),
        ({"a": 10**MAX_DIGITS}, "TOO_LARGE", "/a"),
        (json.loads(nested(MAX_DEPTH + 1)), "TOO_DEEP", "/a" + "/0" * (MAX_DEPTH - 1)),
        ({"a": {1: 2}}, "NOT_JSON", "/a"),
        ({"a": [codecs.BOM_UTF8]}, "NOT_JSON", "/a/0"),
        ({"a": {"b": (1,)}}, "NOT_JSON", "/a/b"),
    ],
    ids=lambda part: str(part)[:20],
)
def test_a_value_that_is_not_json_is_refused_at_its_place(value: Any, code: str, where: str) -> None:
    finding = freeze_arguments(value)
    assert isinstance(finding, Finding)
    assert (finding.code, finding.where) == (code, where)


def test_a_pointer_escapes_as_rfc_6901_says() -> None:
    assert pointer(()) == ""
    assert pointer(("foo", 0)) == "/foo/0"
    assert pointer(("", "a/b", "m~n", " ")) == "//a~1b/m~0n/ "


@given(st.lists(st.text()))
def test_the_steps_of_a_pointer_are_those_it_was_made_of(path: list[str]) -> None:
    assert steps(pointer(tuple(path))) == path
