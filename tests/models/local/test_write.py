import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import FrozenDict
from callgate.models.local._write import Copying, ObjectScan, constants, openers
from tests.models.local.parrot import VOCABULARY, Parrot

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), values, max_size=3)


@given(objects, st.text(), st.integers(1, 3), st.booleans())
def test_the_closing_brace_is_found_wherever_the_bytes_are_cut(
    value: dict[str, object], after: str, size: int, ascii_only: bool
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    raw, rest = text.encode(errors="surrogatepass"), after.encode(errors="surrogatepass")
    scan = ObjectScan()
    at = 0
    while (closed := scan.feed((raw + rest)[at : at + size])) is None:
        at += size
    assert at + closed == len(raw)
    assert not scan.broken


@given(st.dictionaries(st.text(), st.text(), min_size=1, max_size=3))
def test_the_open_string_value_is_known_and_keys_are_none(value: dict[str, str]) -> None:
    raw = json.dumps(value).encode()
    scan = ObjectScan()
    seen = []
    for i in range(len(raw)):
        before = scan.value
        scan.feed(raw[i : i + 1])
        if before is not None and scan.value is None:
            seen.append(before)
    assert [json.loads(b'"' + each + b'"') for each in seen] == list(value.values())


@pytest.mark.parametrize(
    ("raw", "broken"),
    [
        (b'{"a": "b\n', True),
        (b'{"a": "b"\n\n', True),
        (b'{\n  "a": "b"\n', False),
        (b'{"a": "b\\n', False),
    ],
)
def test_a_line_break_in_a_string_and_a_blank_line_leave_the_object(raw: bytes, broken: bool) -> None:
    scan = ObjectScan()
    assert scan.feed(raw) is None
    assert scan.broken is broken


def test_strings_in_lists_and_nested_objects_are_values() -> None:
    for raw, value in ((b'{"a": ["x', b"x"), (b'{"a": {"b": "x', b"x"), (b'{"a": ["x", {"k', None)):
        scan = ObjectScan()
        scan.feed(raw)
        assert scan.value == value


def preferred(request: str, value: str, others: tuple[str, ...] = ()) -> set[str]:
    steered = Copying(Parrot({}), 3.0).steer(request, others)
    out = steered(value.encode(), np.zeros(VOCABULARY, np.float32))
    assert set(out.tolist()) <= {0.0, 3.0}
    return {chr(i) for i in np.flatnonzero(out)}


def test_a_string_begins_where_a_word_of_the_request_begins() -> None:
    assert preferred("Delete src/old.log", "") == {"D", "s"}
    assert preferred('put "two words" in (a)', "") == {"p", '"', "t", "w", "i", "(", "a"} - {'"'} | {"\\"}


def test_a_copy_goes_on_and_may_end_only_where_a_word_ends() -> None:
    assert preferred("In a.ini replace debug=true.", "debug") == {"="}
    assert preferred("In a.ini replace debug=true.", "debug=true") == {".", '"'}
    assert preferred("replace one two", "one") == {" ", '"'}
    assert preferred("replace one two", "two") == {'"'}


def test_what_is_not_in_the_request_is_not_preferred_but_for_constants_of_the_examples() -> None:
    assert preferred("weather in Rome", "cel") == set()
    assert preferred("weather in Rome", "cel", ("celsius",)) == {"s"}
    shown = [
        ("in Rome", FrozenDict({"city": "Rome", "unit": "celsius", "tags": ["x", {"deep": "y"}], "n": 1}))
    ]
    assert constants(shown) == ["celsius", "x", "y"]


def test_a_text_is_copied_in_the_form_that_json_writes() -> None:
    assert preferred('say "hi"\nnow', 'say \\"hi\\"') == {"\\", '"'}
    assert preferred("one\ntwo", "") == {"o", "t"}
    assert preferred("one\ntwo", "one") == {"\\", '"'}
    assert preferred("北京", "") == {chr("北".encode()[0])}
    steered = Copying(Parrot({}), 3.0).steer("北京", ())
    assert not steered("北".encode()[:1], np.zeros(VOCABULARY, np.float32)).any()


def test_an_object_begins_with_a_brace_whatever_the_model_likes() -> None:
    engine = Parrot({})
    assert [engine.token_bytes[i] for i in openers(engine)] == [b"{"]
