"""The quick way gives what the grammar gives."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.wire._runs import DONE, Run, run_of, take
from callgate.wire._sse import SseParser
from tests.wire.bodies import sized, small

Blocks = list[tuple[bytes, bytes]]


def quick(pieces: list[bytes]) -> tuple[Blocks, int]:
    """The events as ``take`` gives them, runs taken apart, and how many came in runs that read as JSON."""
    parser, in_runs = SseParser(), 0
    found: Blocks = []
    for piece in pieces:
        data = parser.plain(piece)
        parts = take(parser, piece) if data is None else [Run(data, (_name(piece),))]
        for part in parts:
            if isinstance(part, Run):
                lines = part.blob.split(b"\r")
                assert len(lines) == len(part.names)
                found += zip(part.names, lines, strict=True)
                in_runs += len(lines)
            else:
                found.append(part)
    return found, in_runs


def _name(piece: bytes) -> bytes:
    return piece[7 : piece.find(b"\n")] if piece.startswith(b"event: ") else b""


def slow(body: bytes) -> Blocks:
    return SseParser().blocks(body)


ONE = b'data: {"a":1}\n\n'
NAMED = b'event: x\ndata: {"a":"b c"}\n\n'


@pytest.mark.parametrize("event", [ONE, NAMED])
def test_events_of_one_kind_are_one_run(event: bytes) -> None:
    found, in_runs = quick([event * 5])
    assert found == slow(event * 5)
    assert in_runs == 5


def test_events_of_several_kinds_are_one_run_too() -> None:
    body = ONE + NAMED + b"event: ping\ndata: {}\n\n" + ONE
    assert quick([body]) == (slow(body), 4)


def test_the_last_word_of_a_chat_stream_does_not_spoil_the_run_before_it() -> None:
    body = ONE * 3 + b"data: [DONE]\n\n"
    found, in_runs = quick([body])
    assert (found[-1], in_runs) == ((b"", DONE), 3)


def test_a_long_body_in_one_piece_is_taken_in_portions() -> None:
    body = NAMED + b"event: start\ndata: {}\n\n" + NAMED * 5000 + b"event: end\ndata: {}\n\n"
    assert quick([body]) == (slow(body), 5003)


def test_an_error_event_is_never_part_of_a_run() -> None:
    for body in (b"event: error\ndata: {}\n\n", NAMED + b"event: error\ndata: {}\n\n" + NAMED):
        for pieces in ([body], [part + b"\n\n" for part in body.split(b"\n\n")[:-1]]):
            found, in_runs = quick([b"data: {}\n\n", *pieces])
            assert found[1:] == slow(body)
            assert (b"error", b"{}") in found
            assert in_runs <= 3


TRICKS = [
    b'data: {"a":1,\n"b":2}\n\n',
    b'data: {"a":1}\n{"b":2}\n\n',
    b'data: {"a":[{}\n\ndata: {}]}\n\n',
    b'data: {"a":"x}\n\ndata: {y"}\n\n',
    b'data: {"a":\ndata: 1}\n\n',
    b'data: {"a":1}\n:c\n\n',
    b'data: {"a":\r1}\n\n',
    b'data: {"a":1,\r"b":2}\n\n',
    b'data: {"a":1}\nevent: late\n\n',
    b'event: x\nid: 3\ndata: {"a":1}\n\n',
    b'event: x\nfoo data: {"a":1}\n\n',
    b'xdata: {"a":1}\n\n',
    b'data:{"a":1}\n\n',
    b'data: {"a":1} \n\n',
    b'data: {"a":1}\r\n\r\n',
    b'data: {"a":1}\n\n\n',
    b'\ndata: {"a":1}\n\n',
    b'event: x\n\ndata: {"a":1}\n\n',
    b"data: {}\n\ndata: 1\n\n",
    b": comment\n\n",
]


@pytest.mark.parametrize("begun", [b"da", b"event: y\n", b"data", b":"])
def test_an_event_that_has_begun_is_finished_before_a_plain_one_is_seen(begun: bytes) -> None:
    pieces = [ONE, ONE + begun, ONE, NAMED]
    assert quick(pieces)[0] == slow(b"".join(pieces))


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("plain", [ONE, NAMED])
def test_what_is_not_plain_is_read_by_the_grammar(trick: bytes, plain: bytes) -> None:
    for body in (trick, plain + trick, trick + plain, plain * 2 + trick + plain * 2, trick * 2):
        for pieces in ([body], [plain, body], sized(body, 5), sized(body, 1)):
            assert quick(list(pieces))[0] == slow(b"".join(pieces))


PARTS = st.sampled_from(
    [
        *TRICKS,
        *(ONE, NAMED, b"event: y\ndata: {}\n\n", b"data: [DONE]\n\n", b"event: error\ndata: {}\n\n"),
        *(b"\n", b"\r", b"}", b"{", b"data: {", b"}\n\n", b"event: x\n", b"\xef\xbb\xbf"),
    ]
)


@given(parts=st.lists(PARTS, max_size=12), seed=st.integers(0, 2**16), size=st.integers(1, 60))
def test_any_body_in_any_pieces_gives_what_the_grammar_gives(
    parts: list[bytes], seed: int, size: int
) -> None:
    body = b"".join(parts)
    wanted = slow(body)
    for pieces in ([body], parts, list(small(body, seed)), sized(body, size)):
        assert quick(list(pieces))[0] == wanted


@given(parts=st.lists(PARTS, max_size=8))
def test_lines_of_a_run_that_reads_as_so_many_values_are_a_value_each(parts: list[bytes]) -> None:
    for part in take(SseParser(), b"".join(parts)):
        if isinstance(part, Run):
            values, end, text = 0, 0, part.blob.decode()
            while end < len(text):
                try:
                    _, end = json.JSONDecoder().raw_decode(text, end)
                except ValueError:
                    return
                values, end = values + 1, end + 1
            if values == len(part.names):
                assert all(isinstance(json.loads(line), dict) for line in part.blob.split(b"\r"))


def test_lines_that_are_no_objects_are_no_run() -> None:
    assert run_of([b"{}", b"{}"], [b"", b""]) == Run(b"{}\r{}", [b"", b""])
    assert run_of([b"{}", b"1"], [b"", b""]) is None
    assert run_of([], []) is None


def test_a_limit_holds_on_the_quick_way_too() -> None:
    body = b'data: {"a":"' + b"x" * 40 + b'"}\n\n'
    for pieces in ([body * 2], [b"data: {}\n\n", body], sized(body, 9)):
        parser = SseParser(line_bytes=30)
        found = [part for piece in pieces for part in ([] if parser.plain(piece) else take(parser, piece))]
        assert all(not isinstance(part, Run) or part.blob == b"{}" for part in found)
        assert parser.fault is not None
