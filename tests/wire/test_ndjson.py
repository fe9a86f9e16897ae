"""Lines of JSON, however they are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.wire import NdjsonParser
from tests.wire.bodies import sized, small


def lines(pieces: list[bytes], **limits: int) -> tuple[NdjsonParser, list[bytes]]:
    parser = NdjsonParser(**limits)
    return parser, [line for piece in pieces for line in parser.feed(piece)]


def test_a_line_ends_in_lf_or_crlf_and_blank_ones_are_nothing() -> None:
    body = b'{"a":1}\n\n \t\r\n{"b":2}\r\n{"c":3}'
    for pieces in ([body], sized(body, 1), list(small(body))):
        parser, found = lines(pieces)
        assert found == [b'{"a":1}', b'{"b":2}']
        assert parser.blocks(b"\n") == [(b"", b'{"c":3}')]


def test_no_other_character_ends_a_line() -> None:
    body = '{"a":"x\u2028y\x85z"}\n'.encode()
    assert lines([body])[1] == [body.rstrip(b"\n")]


@given(
    parts=st.lists(st.sampled_from([b"{}", b"\n", b"\r\n", b" ", b"12", b'{"a"', b":1}"])),
    seed=st.integers(0, 999),
)
def test_any_bytes_in_any_pieces_give_the_same_lines(parts: list[bytes], seed: int) -> None:
    body = b"".join(parts)
    wanted = [line.strip() for line in body.split(b"\n")[:-1] if line.strip()]
    for pieces in ([body], parts, list(small(body, seed)), sized(body, 1)):
        assert lines(pieces)[1] == wanted


@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_line_over_the_limit_is_a_fault_and_nothing_after_it_is_read(size: int) -> None:
    parser, found = lines(sized(b"{}\n" + b"x" * 11 + b"\n{}\n", size), line_bytes=10)
    assert found == [b"{}"]
    assert parser.fault is not None
    assert parser.fault.code == "TOO_LARGE"
    assert parser.feed(b"{}\n") == []


def test_a_chunk_that_is_one_line_of_json_is_taken_as_it_is() -> None:
    parser = NdjsonParser()
    assert parser.plain(b'{"a":1}\n') == b'{"a":1}\n'
    for chunk in (b'{"a":1}', b"{}\n{}\n", b" {}\n", b"1\n"):
        assert parser.plain(chunk) is None
    parser.feed(b'{"a"')
    assert parser.plain(b"{}\n") is None


def test_a_copy_goes_on_by_itself() -> None:
    parser, _ = lines([b'{"a"'])
    copy = parser.copy()
    parser.feed(b":2}\n")
    assert copy.feed(b":1}\n") == [b'{"a":1}']
