"""The event-stream grammar, against the standard's corpus and against a second reading of the standard."""

import base64
import json
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.wire import ServerEvent, SseParser
from tests.corpus import CORPUS, needs_corpus
from tests.growth import grows_linearly
from tests.wire.bodies import sized, small

FOLDER = CORPUS / "eventsource"


def load(file: str) -> list[dict[str, Any]]:
    return json.loads((FOLDER / file).read_text(encoding="utf-8"))["cases"] if FOLDER.is_dir() else []


def name(case: dict[str, Any]) -> str:
    return str(case["name"])


def parse(pieces: list[bytes], **limits: int) -> tuple[SseParser, list[ServerEvent]]:
    parser = SseParser(**limits)
    return parser, [event for piece in pieces for event in parser.feed(piece)]


def data(*pieces: bytes) -> list[str]:
    return [event.data for event in parse(list(pieces))[1]]


# ---------------------------------------------------------------- the corpus


@needs_corpus
@pytest.mark.parametrize("case", load("cases.json"), ids=name)
def test_a_case_of_the_corpus_gives_its_events_however_it_is_cut(case: dict[str, Any]) -> None:
    body = case["input"].encode() if "input" in case else base64.b64decode(case["input_b64"])
    ways = [[body], sized(body, 1), *(list(small(body, seed)) for seed in range(5))]
    if "chunks_b64" in case:
        ways.append([base64.b64decode(piece) for piece in case["chunks_b64"]])
    wanted = [(e["type"], e["data"], e["lastEventId"]) for e in case["events"]]
    for pieces in ways:
        parser, events = parse(pieces)
        assert [(e.type, e.data, e.last_event_id) for e in events] == wanted
        assert parser.retry == case["retry"]
        assert parser.last_event_id == case["final_last_event_id"]


def check_large(case: dict[str, Any], sizes: list[int | None]) -> None:
    body = b"".join(text.encode() * count for text, count in case["parts"])
    for size in sizes:
        _, events = parse(sized(body, size or len(body)))
        if "event_count" in case:
            wanted = [case["each_event"]["data"]] * case["event_count"]
        else:
            wanted = ["".join(text * n for text, n in event["data_parts"]) for event in case["events"]]
        assert [event.data for event in events] == wanted


@needs_corpus
@pytest.mark.no_cover
@pytest.mark.parametrize("case", load("large_cases.json"), ids=name)
def test_a_large_case_gives_its_events(case: dict[str, Any]) -> None:
    check_large(case, [case.get("chunk_sizes", [None])[-1]])


@needs_corpus
@pytest.mark.no_cover
@pytest.mark.nightly
@pytest.mark.parametrize("case", load("large_cases.json"), ids=name)
def test_a_large_case_gives_its_events_in_every_size_of_chunk(case: dict[str, Any]) -> None:
    check_large(case, [None, *case.get("chunk_sizes", [])])


def utf8_cases() -> list[dict[str, Any]]:
    file = CORPUS / "unicode" / "utf8_cases.json"
    return json.loads(file.read_text(encoding="utf-8"))["cases"] if file.exists() else []


@needs_corpus
@pytest.mark.parametrize("case", utf8_cases(), ids=name)
def test_text_is_decoded_as_the_encoding_standard_says(case: dict[str, Any]) -> None:
    raw = base64.b64decode(case["input_b64"])
    wanted = case.get("expected_bom_kept", case["expected"])
    for pieces in ([raw], sized(raw, 1)):
        _, events = parse([b"data: ", *pieces, b"\n\n"])
        # A line end in the text begins another line, which is no data.
        first = re.split("[\r\n]", wanted)[0]
        assert [event.data for event in events] == [first]


# ---------------------------------------------------------------- rule by rule


def test_a_byte_order_mark_counts_only_at_the_start() -> None:
    assert data(b"\xef", b"\xbb\xbfdata: a\n\n") == ["a"]
    assert data(b"data: a\n\n\xef\xbb\xbfdata: b\n\n") == ["a"]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_every_line_end_ends_a_line(end: bytes) -> None:
    body = end.join((b"data: a", b"data: b", b"", b"data: c", b"", b""))
    for pieces in ([body], sized(body, 1)):
        assert data(*pieces) == ["a\nb", "c"]


def test_a_carriage_return_at_the_end_of_a_chunk_ends_its_line_at_once() -> None:
    assert data(b"data: a\r\r") == ["a"]
    assert data(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == ["a\nb"]


def test_no_other_character_ends_a_line() -> None:
    for character in "\u2028\u2029\x85\x0b\x0c\x1c":
        assert data(f"data: x{character}y\n\n".encode()) == [f"x{character}y"]


def test_one_space_after_the_colon_is_not_part_of_the_value() -> None:
    assert data(b"data:a\n\n", b"data: a\n\n", b"data:  a\n\n", b"data\n\n", b"data:\n\n") == [
        *("a", "a", " a"),
        *("", ""),
    ]


def test_a_field_that_is_not_known_says_nothing() -> None:
    assert data(b" data: a\nDATA: b\ndatas: c\ndata: d\n\n") == ["d"]


def test_an_event_without_data_is_not_dispatched_and_forgets_its_name() -> None:
    _, events = parse([b"event: a\n\ndata: x\n\n"])
    assert events == [ServerEvent("message", "x")]


def test_the_name_of_an_event_is_the_last_one_given() -> None:
    _, events = parse([b"event: a\nevent: b\ndata: x\n\nevent: a\nevent\ndata: y\n\n"])
    assert [event.type for event in events] == ["b", "message"]


def test_an_id_holds_until_it_is_changed_and_one_with_nul_is_ignored() -> None:
    parser, events = parse([b"id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid\ndata: c\n\nid: 9\n"])
    assert [event.last_event_id for event in events] == ["1", "1", ""]
    assert parser.last_event_id == ""


def test_retry_takes_ascii_digits_only() -> None:
    for value, wanted in ((b"10", 10), (b"1e3", None), (b"-1", None), (b"", None), ("١".encode(), None)):
        assert parse([b"retry: " + value + b"\n"])[0].retry == wanted


def test_what_no_blank_line_follows_is_not_dispatched() -> None:
    assert data(b"data: a\n\ndata: b\n") == ["a"]
    assert data(b"data: a\n\ndata: b") == ["a"]


# ---------------------------------------------------------------- limits


def test_a_line_over_the_limit_is_a_fault_and_nothing_after_it_is_read() -> None:
    body = b"data: a\n\ndata: " + b"x" * 11 + b"\n\ndata: b\n\n"
    for pieces in ([body], sized(body, 1), list(small(body))):
        parser, events = parse(pieces, line_bytes=16)
        assert [event.data for event in events] == ["a"]
        assert parser.fault is not None
        assert parser.fault.code == "TOO_LARGE"
    assert [e.data for e in parse([body], line_bytes=17)[1]] == ["a", "x" * 11, "b"]


def test_a_comment_is_a_line_too() -> None:
    parser, _ = parse(sized(b":" + b"x" * 100, 7), line_bytes=50)
    assert parser.fault is not None


def test_an_event_over_the_limit_is_a_fault() -> None:
    body = b"data: aaaa\n" * 4 + b"\n"
    for pieces in ([body], sized(body, 1)):
        parser, events = parse(pieces, event_bytes=19)
        assert events == []
        assert parser.fault is not None
    assert parse([body], event_bytes=20)[0].fault is None


# ---------------------------------------------------------------- a second reading of the standard


def interpret(body: bytes) -> tuple[list[ServerEvent], str, int | None]:
    """The steps of the standard, word by word, over the decoded text."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = re.split("\r\n|\n|\r", text)[:-1]
    events, buffer, kind, last, current, retry = [], "", "", "", "", None
    for line in lines:
        if not line:
            current = last
            if buffer:
                events.append(ServerEvent(kind or "message", buffer.removesuffix("\n"), current))
            buffer, kind = "", ""
        elif not line.startswith(":"):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "event":
                kind = value
            elif field == "data":
                buffer += value + "\n"
            elif field == "id" and "\0" not in value:
                last = value
            elif field == "retry" and re.fullmatch("[0-9]+", value):
                retry = int(value)
    return events, current, retry


FRAGMENTS = st.sampled_from(
    [
        *(b"\n", b"\r", b"\r\n", b"\n\n", b":", b" ", b"data", b"data: ", b"data: {", b"}\n\n", b"event: "),
        *(
            b"id: ",
            b"retry: ",
            b"7",
            b"error",
            b"\0",
            b"\xef\xbb\xbf",
            b"\xe4\xbd",
            b"\xa0",
            b"\xff",
            b"[DONE]",
        ),
        *(b"{", b'"a"', b"{}\n\ndata: {}", "\u2028".encode()),
    ]
)


@given(parts=st.lists(FRAGMENTS, max_size=30), seed=st.integers(0, 2**16))
def test_any_bytes_in_any_pieces_give_what_the_standard_says(parts: list[bytes], seed: int) -> None:
    body = b"".join(parts)
    events, last, retry = interpret(body)
    for pieces in ([body], parts, list(small(body, seed)), sized(body, 1)):
        parser, found = parse(list(pieces))
        assert found == events
        assert (parser.last_event_id, parser.retry) == (last, retry)


@given(parts=st.lists(FRAGMENTS, max_size=20), at=st.integers(0, 20))
def test_a_copy_goes_on_as_the_original_would(parts: list[bytes], at: int) -> None:
    parser, _ = parse(parts[:at])
    copy = parser.copy()
    parser.feed(b"data: other\n\n")
    rest = [event for piece in parts[at:] for event in copy.feed(piece)]
    assert rest == interpret(b"".join(parts))[0][len(interpret(b"".join(parts[:at]))[0]) :]


@pytest.mark.no_cover
def test_time_grows_with_the_bytes_and_not_with_their_square() -> None:
    def seconds(size: int) -> float:
        pieces = sized(b"data: " + b"x" * size + b"\n\n", 64)
        begin = time.process_time()
        parse(pieces)
        return time.process_time() - begin

    assert grows_linearly(seconds, 200_000)
