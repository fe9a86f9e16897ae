"""The tolerant reading: what it makes of events that typed decoding refuses."""

import time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.wire._loose import Loose, fit, has_half, joined, opened, read, verbatim, whole
from tests.growth import grows_linearly


class Inner(msgspec.Struct):
    text: str | None = None


class Outer(msgspec.Struct):
    name: str | None = None
    count: int | None = None
    inner: Inner | None = None
    every: list[Inner] | None = None
    raw: msgspec.Raw = msgspec.Raw()
    raws: list[msgspec.Raw] | None = None
    anything: Any = None


def fitted(text: str) -> Outer:
    loose = read(text.encode())
    assert loose is not None
    return fit(Outer, loose)


def test_what_fits_is_kept_and_what_does_not_is_left_out() -> None:
    found = fitted('{"name":3,"count":"x","inner":[],"every":{},"other":1}')
    assert found == Outer()
    found = fitted('{"name":"n","count":2,"inner":{"text":"t"},"every":[{"text":"a"},5,{"text":7}]}')
    assert found == Outer("n", 2, Inner("t"), [Inner("a"), Inner()])


@pytest.mark.parametrize(
    ("told", "wanted"), [('"7"', 7), ("7.0", 7), ("NaN", None), ("Infinity", None), ("null", None)]
)
def test_a_number_in_another_form_is_that_number(told: str, wanted: int | None) -> None:
    assert fitted(f'{{"count":{told}}}').count == wanted


def test_an_object_where_text_was_declared_is_its_verbatim_text() -> None:
    told = '{"b": [1,  2], "a":{"name":1}}'
    found = fitted(f'{{"anything":"\\"name\\":{{}}","name" : {told},"raw":{told}}}')
    assert found.name == told
    assert bytes(found.raw).decode() == told


def test_a_scalar_is_kept_raw_as_json() -> None:
    assert bytes(fitted('{"raw":"a"}').raw) == b'"a"'
    assert fitted('{"raws":["a" , 1e2,{"x": 1}]}').raws == [
        msgspec.Raw(b'"a"'),
        msgspec.Raw(b"1e2"),
        msgspec.Raw(b'{"x": 1}'),
    ]


@pytest.mark.parametrize(
    "told", ["true", "1", "1.0", "-0.0", "0", "NaN", "1e999", '"x"', '{"a":1,"a":2}', '{"a":2}', "[ 1 ]"]
)
def test_a_verbatim_text_is_that_of_its_own_place_whatever_else_is_equal(told: str) -> None:
    others = ['{"n":true}', '{"n":1}', '{"n":1.0}', '{"n":0}', '{"n":{"a":2}}', '{"n":"x"}']
    every = [*others, f'{{"n":{told}}}', *others]
    listed = ",".join(f' {{"text" : {text} }}' for text in every)
    found = fitted(f'{{"every":[{listed}],"anything":{{"text":{{"n":1}},"every":[]}},"count":"1"}}')
    assert [inner.text for inner in found.every or ()] == every


def test_a_name_written_with_escapes_has_its_verbatim_text_too() -> None:
    assert fitted(r'{"n\u0061me":{"a" :1}}').name == '{"a" :1}'
    assert fitted('{"name":{"a":1},"name":{"a":2}}').name == '{"a":2}'


def test_verbatim_texts_take_time_that_grows_with_the_event_and_no_faster() -> None:
    def seconds(size: int) -> float:
        text = ",".join(f'{{"text":{{"n":{number}}}}}' for number in range(size))
        begin = time.process_time()
        fitted(f'{{"every":[{text}]}}')
        return time.process_time() - begin

    assert grows_linearly(seconds, 500)


@pytest.mark.parametrize("data", [b"", b"[1]", b"1", b"{", b"null", b'{"a":1}x'])
def test_what_is_no_object_is_nothing(data: bytes) -> None:
    assert read(data) is None


def test_what_is_nested_too_deeply_is_told_apart_from_what_is_no_object() -> None:
    with pytest.raises(RecursionError):
        read(b'{"a":' + b"[" * 100_000)


def test_broken_utf_8_is_replaced_and_reported() -> None:
    assert read(b'{"a":"\xff"}') == Loose({"a": "\ufffd"}, '{"a":"\ufffd"}', damaged=True)
    assert read(b'{"a":"x"}') == Loose({"a": "x"}, '{"a":"x"}')


def test_a_field_kept_raw_is_opened_typed_or_else_tolerantly() -> None:
    assert opened(Inner, msgspec.Raw(b'{"text":"a"}')) == (Inner("a"), None)
    found, loose = opened(Inner, msgspec.Raw(b'{"text":"\xff","x":1}'))
    assert found == Inner("\ufffd")
    assert loose is not None
    assert loose.damaged
    # What a struct skips is looked at too.
    assert opened(Inner, msgspec.Raw(b'{"x":"\xff"}'))[1] is not None
    assert opened(Inner, msgspec.Raw(b"")) == (Inner(), Loose({}, ""))


def test_a_field_kept_raw_can_always_be_encoded_again() -> None:
    assert verbatim(msgspec.Raw(b'{"a":[1,"x"]}')) == {"a": [1, "x"]}
    assert verbatim(msgspec.Raw(rb'{"\ud800":["\ud800","\ud83c\udf78"]}')) == {"\ufffd": ["\ufffd", "🍸"]}
    assert verbatim(msgspec.Raw(b"{")) is None


@given(st.text(st.sampled_from("aé🍸\ud800\udbff\udc00\udfff\ufffd")))
def test_halves_are_joined_where_they_meet_and_replaced_where_they_do_not(text: str) -> None:
    clean = whole(text)
    clean.encode()
    assert not has_half(clean)
    assert has_half(text) == any("\ud800" <= letter <= "\udfff" for letter in text)
    assert whole(joined(text)) == clean
    if not has_half(text):
        assert clean == text


def test_a_pair_is_one_character() -> None:
    assert joined("a\ud83c\udf78b") == "a🍸b"
    assert whole("\udf78\ud83c") == "\ufffd\ufffd"
