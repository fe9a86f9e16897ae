"""Recorded streams: the same turn however the bytes are cut, and no turn from half of them."""

import base64
import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import (
    CallDone,
    CallKey,
    CallKind,
    CallStarted,
    Finish,
    Status,
    StreamFault,
    TextDelta,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Turn,
    freeze,
)
from callgate.errors import LocalProtocolError, UnknownDialectError
from callgate.wire import DIALECTS, Decoder, StreamLimits, encode
from callgate.wire._names import wire_name
from tests.corpus import CORPUS, needs_corpus
from tests.wire import odd
from tests.wire.bodies import (
    anthropic,
    call,
    chat,
    chunk,
    decode,
    delta,
    feed,
    function,
    item,
    more,
    piece,
    responses,
    say,
    sized,
    small,
    sse,
    start,
    stop,
    tool,
    ways,
)

STREAMS: Final = CORPUS / "streams"
FOLDERS: Final = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
}
SMALL: Final = 16 * 1024
"""A body of so many bytes is cut at each."""
# The words of the corpus for how a turn ended, where they are not ours.
ENDS: Final = {"pause": "stop", "incomplete": "cut", "none": "cut", "content_filter": "filtered"}


class Case(NamedTuple):
    """A recorded body, its dialect, and what it should give."""

    dialect: str
    path: Path

    @property
    def body(self) -> bytes:
        return self.path.read_bytes()

    @property
    def expected(self) -> dict[str, Any]:
        file = self.path.with_name(self.path.stem + ".expected.json")
        value: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return value


@cache
def cases() -> tuple[Case, ...]:
    return tuple(
        Case(dialect, path)
        for folder, dialect in FOLDERS.items()
        for path in sorted((STREAMS / folder).glob("*.sse"))
    )


def every_case(keep: range) -> pytest.MarkDecorator:
    chosen = [case for case in cases() if case.path.stat().st_size in keep]
    return pytest.mark.parametrize("case", chosen, ids=lambda case: f"{case.dialect}/{case.path.stem}")


ANY = range(2**30)


# ---------------------------------------------------------------- what a recorded stream gives


def told(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.call_id,
        "name": call.name,
        "arguments_text": call.arguments_text,
        "complete": call.complete,
    }


def summary(turn: Turn) -> dict[str, Any]:
    every = [call for one in (turn, *turn.alternatives) for call in one.calls]
    return {
        "calls": [told(call) for call in every if call.kind is not CallKind.BUILTIN],
        "builtin": [json.loads(call.arguments_text) for call in every if call.kind is CallKind.BUILTIN],
        "custom": [call.kind is CallKind.CUSTOM for call in every],
        "finish": turn.finish,
        "finish_raw": turn.finish_raw or None,
        "text": turn.text,
        "refusal": turn.refusal,
    }


def wanted(expected: dict[str, Any]) -> dict[str, Any]:
    # One server's finish hides a truncation: the corpus names the true one too.
    finish = expected.get("finish_true", expected["finish"])
    builtin = expected.get("builtin_client_items", [])
    return {
        "calls": [
            {name: call[name] for name in ("id", "name", "arguments_text", "complete")}
            for call in expected["calls"]
        ],
        "builtin": builtin,
        "custom": [call.get("kind") == "custom" for call in expected["calls"]] + [False] * len(builtin),
        "finish": ENDS.get(finish, finish),
        "finish_raw": expected["finish_raw"],
        "text": expected.get("text", ""),
        "refusal": expected.get("refusal_text", ""),
    }


@needs_corpus
@pytest.mark.no_cover
@every_case(ANY)
def test_a_recorded_stream_gives_its_calls_text_and_end(case: Case) -> None:
    body, expected = case.body, case.expected
    whole = decode(case.dialect, body)
    assert summary(whole) == wanted(expected)
    if "server_calls" in expected:
        found = [(call.call_id, call.name, call.arguments_text) for call in whole.server_calls]
        assert found == [(c["id"], c["name"], c["arguments_text"]) for c in expected["server_calls"]]
    if "error" in expected:
        message = expected["error"]["message"]
        assert any(message in fault.message and fault.fatal for fault in whole.faults)
    for pieces in (sized(body, 1), small(body)) if len(body) <= 4 * SMALL else (sized(body, 50),):
        assert decode(case.dialect, pieces) == whole
    assert decode(case.dialect, sized(body, 16384)) == whole


@needs_corpus
@every_case(ANY)
def test_a_turn_is_executable_just_when_it_ended_well(case: Case) -> None:
    turn = decode(case.dialect, case.body)
    assert turn.executable == (turn.finish in (Finish.STOP, Finish.TOOL_CALLS))
    assert bool(turn.why_not) != turn.executable
    assert bool(turn.reason) != turn.executable
    assert not any(other.executable for other in turn.alternatives)


@needs_corpus
@every_case(ANY)
def test_the_events_of_a_recorded_stream_tell_what_the_turn_holds(case: Case) -> None:
    events, turn = feed(case.dialect, case.body)
    main = [event for event in events if getattr(event, "choice", 0) == 0]
    assert "".join(event.text for event in main if isinstance(event, TextDelta)) == turn.text
    done = [event.call for event in main if isinstance(event, CallDone)]
    assert all(call in turn.calls or not turn.executable for call in done)
    started = [event.position for event in main if isinstance(event, CallStarted)]
    assert started == list(range(len(turn.calls)))
    assert [event for event in main if isinstance(event, StreamFault)] == list(turn.faults)


# ---------------------------------------------------------------- characters


def utf8_cases() -> list[dict[str, Any]]:
    file = CORPUS / "unicode" / "utf8_cases.json"
    if not file.exists():
        return []
    every: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["cases"]
    # What JSON wants escaped cannot stand raw in a string of it.
    return [case for case in every if not re.search(rb'[\x00-\x1f"\\]', base64.b64decode(case["input_b64"]))]


@needs_corpus
@pytest.mark.no_cover
@pytest.mark.parametrize("case", utf8_cases(), ids=lambda case: str(case["name"]))
def test_characters_in_text_and_arguments_are_those_of_the_encoding_standard(case: dict[str, Any]) -> None:
    raw, wanted_text = base64.b64decode(case["input_b64"]), case.get("expected_bom_kept", case["expected"])
    body = chat(chunk(content="@"), chunk(piece(0, id="c", name="t", arguments='{"t":"@"}'))).replace(
        b"@", raw
    )
    for pieces in ([body], sized(body, 1)):
        turn = decode("openai-chat", pieces)
        (call,) = turn.calls
        assert turn.text == wanted_text
        if case["valid"]:
            assert call.arguments == {"t": wanted_text}
        else:
            assert call.fault is not None
            assert call.fault.code == "TEXT_NOT_UNICODE"


# ---------------------------------------------------------------- cuts


def check_cuts(case: Case, offsets: Iterable[int]) -> None:
    """At each offset: what comes after gives the same turn, and nothing after gives no turn that may run."""
    body = case.body
    whole = decode(case.dialect, body)
    running, at = Decoder(case.dialect), 0
    for offset in sorted(set(offsets)):
        running.feed(body[at:offset])
        at = offset
        rest = running.copy()
        rest.feed(body[offset:])
        assert rest.close() == whole, f"cut at {offset}"
        check_prefix(running.copy().close(), whole, f"truncated at {offset}")


def check_prefix(turn: Turn, whole: Turn, where: str) -> None:
    if turn.executable:
        assert whole.executable, where
        assert (turn.calls, turn.text) == (whole.calls, whole.text), where


def edges(body: bytes) -> set[int]:
    """The end of every event, and inside every character."""
    ends = {match.end() for match in re.finditer(rb"\n\n", body)}
    return ends | {at for at, byte in enumerate(body) if 0x80 <= byte < 0xC0}


@needs_corpus
@pytest.mark.no_cover
@every_case(ANY)
def test_a_cut_anywhere_in_a_stream_changes_nothing(case: Case) -> None:
    """Every offset is cut in one of the rounds; the nightly test cuts each alone."""
    body, step = case.body, 50
    whole = decode(case.dialect, body)
    for phase in range(step):
        assert decode(case.dialect, [body[:phase], *sized(body[phase:], step)]) == whole, phase


@needs_corpus
@pytest.mark.no_cover
@every_case(range(SMALL + 1))
def test_a_cut_or_an_end_anywhere_in_a_short_stream_gives_nothing_else(case: Case) -> None:
    check_cuts(case, range(len(case.body) + 1))


@needs_corpus
@pytest.mark.no_cover
@every_case(range(SMALL + 1, 2**30))
def test_a_cut_or_an_end_at_any_edge_of_a_long_stream_gives_nothing_else(case: Case) -> None:
    """And at many places between; the nightly test cuts at each."""
    body = case.body
    chance = Random(len(body))
    check_cuts(case, {*edges(body), *(chance.randrange(len(body)) for _ in range(500))})


@needs_corpus
@pytest.mark.no_cover
@pytest.mark.nightly
@every_case(range(SMALL + 1, 2**30))
def test_a_cut_or_an_end_anywhere_in_a_long_stream_gives_nothing_else(case: Case) -> None:
    check_cuts(case, range(len(case.body) + 1))


# ---------------------------------------------------------------- transforms that keep the meaning


def events_of(body: bytes) -> list[bytes]:
    """The events of a recorded body, each with its blank line."""
    return [part + b"\n\n" for part in body.split(b"\n\n") if part.strip()]


def with_comments(case: Case) -> bytes:
    return b":\n" + case.body.replace(b"\n", b"\n: still here\n")


def with_pings(case: Case) -> bytes:
    ping = b'event: ping\ndata: {"type":"ping"}\n\n'
    return ping + b"".join(event + ping for event in events_of(case.body))


def with_crlf(case: Case) -> bytes:
    return case.body.replace(b"\n", b"\r\n")


def with_cr(case: Case) -> bytes:
    return case.body.replace(b"\n", b"\r")


def with_byte_order_mark(case: Case) -> bytes:
    return b"\xef\xbb\xbf" + case.body


def with_ids(case: Case) -> bytes:
    return b"".join(b"id: %d\nretry: 5\n" % n + event for n, event in enumerate(events_of(case.body)))


def without_the_last_blank_line(case: Case) -> bytes:
    return case.body.rstrip(b"\n")


def with_numbered_events_doubled(case: Case) -> bytes:
    return b"".join(event * (2 if b'"sequence_number"' in event else 1) for event in events_of(case.body))


KEEPING: Final = (
    with_comments,
    with_pings,
    with_crlf,
    with_cr,
    with_byte_order_mark,
    with_ids,
    without_the_last_blank_line,
    with_numbered_events_doubled,
)


@needs_corpus
@pytest.mark.no_cover
@pytest.mark.parametrize("transform", KEEPING, ids=lambda transform: transform.__name__)
@every_case(ANY)
def test_what_keeps_the_meaning_keeps_the_turn(case: Case, transform: Callable[[Case], bytes]) -> None:
    wanted_turn = decode(case.dialect, case.body)
    body = transform(case)
    for pieces in ([body], small(body) if len(body) <= 4096 else sized(body, 100)):
        assert decode(case.dialect, pieces) == wanted_turn


# ---------------------------------------------------------------- transforms that break it

ERRORS: Final = {
    "openai-chat": (
        b'event: error\ndata: {"error":{"message":"m"}}\n\n',
        b'data: {"error":{"message":"m"}}\n\n',
    ),
    "openai-responses": (b'event: error\ndata: {"type":"error","code":"c","message":"m"}\n\n',),
    "anthropic": (
        b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"m"}}\n\n',
        b'data: {"type":"error","error":{"type":"overloaded_error","message":"m"}}\n\n',
    ),
}


@needs_corpus
@pytest.mark.no_cover
@every_case(ANY)
def test_an_error_event_anywhere_leaves_nothing_to_execute(case: Case) -> None:
    events, running = events_of(case.body), Decoder(case.dialect)
    for place in range(len(events) + 1):
        # In a long stream mostly its end alone follows, so that the cost stays linear.
        rest = events[place:] if len(events) - place < 100 or place % 20 == 0 else events[-3:]
        for error in (*ERRORS[case.dialect], b'{"error": {\n  "message": "m"\n}}\n\n'):
            broken = running.copy()
            broken.feed(error + b"".join(rest))
            turn = broken.close()
            assert not turn.executable
            assert turn.why_not == "TURN_FAILED"
            assert "m" in [fault.message for fault in turn.faults]
        if place < len(events):
            running.feed(events[place])


ENDING: Final = {
    "openai-chat": rb'"finish_reason": ?"',
    "openai-responses": rb'"type":"response\.(completed|incomplete|failed)"',
    "anthropic": rb'"type": ?"message_(delta|stop)"',
}


@needs_corpus
@every_case(ANY)
def test_a_missing_end_leaves_nothing_to_execute(case: Case) -> None:
    kept = [event for event in events_of(case.body) if not re.search(ENDING[case.dialect], event)]
    turn = decode(case.dialect, b"".join(kept))
    assert not turn.executable
    if not turn.faults:
        assert (turn.finish, turn.why_not) == (Finish.CUT, "TURN_CUT")


@needs_corpus
@pytest.mark.no_cover
@every_case(ANY)
def test_an_event_that_is_not_whole_json_leaves_nothing_to_execute(case: Case) -> None:
    events, running = events_of(case.body), Decoder(case.dialect)
    for place, event in enumerate(events):
        cut = re.sub(rb"^(data:.*)\}", rb"\1", event, flags=re.MULTILINE)
        if cut != event:
            broken = running.copy()
            broken.feed(cut + b"".join(events[place + 1 :]))
            assert not broken.close().executable
        running.feed(event)


# ---------------------------------------------------------------- the public face, without a corpus

WEATHER: Final = chat(
    chunk(piece(0, id="c1", name="weather", arguments='{"city":"')),
    chunk(piece(0, arguments="北京")),
    chunk(piece(0, arguments='"}')),
)


def test_a_stream_gives_its_turn_however_it_is_cut() -> None:
    whole = decode("openai-chat", WEATHER)
    assert [(c.name, c.arguments, c.complete) for c in whole.calls] == [("weather", {"city": "北京"}, True)]
    assert whole.executable
    for pieces in ways(WEATHER):
        assert decode("openai-chat", pieces) == whole
    for at in range(len(WEATHER) + 1):
        assert decode("openai-chat", [WEATHER[:at], WEATHER[at:]]) == whole
        cut = decode("openai-chat", WEATHER[:at])
        check_prefix(cut, whole, f"truncated at {at}")
        assert cut.faults == ()


def test_an_unknown_dialect_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(UnknownDialectError, match="openai-chat"):
        Decoder("openai-chatt")


def test_a_closed_decoder_takes_nothing_more_and_says_the_same_turn() -> None:
    decoder = Decoder("openai-chat")
    decoder.feed(WEATHER)
    assert decoder.close() is decoder.close()
    with pytest.raises(LocalProtocolError, match="closed"):
        decoder.feed(b"")


def test_a_copy_and_its_original_do_not_touch_each_other() -> None:
    decoder = Decoder("openai-chat")
    decoder.feed(WEATHER[:200])
    copy = decoder.copy()
    copy.feed(b"data: {broken\n\n")
    decoder.feed(WEATHER[200:])
    assert decoder.close() == decode("openai-chat", WEATHER)
    assert [fault.code for fault in copy.close().faults] == ["EVENT_UNREADABLE"]


def test_no_bytes_at_all_are_a_cut_turn() -> None:
    for dialect in DIALECTS:
        turn = decode(dialect, b"")
        assert (turn.finish, turn.why_not, turn.calls) == (Finish.CUT, "TURN_CUT", ())
        assert turn.dialect == dialect


def test_the_same_turn_has_the_same_digest_and_another_turn_another() -> None:
    first, again = decode("openai-chat", WEATHER), decode("openai-chat", small(WEATHER))
    other = decode("openai-chat", WEATHER.replace(b"c1", b"c2"))
    assert first.digest == again.digest != other.digest


@pytest.mark.parametrize("line", ['{"id":"r1"}{"id":"r2"}', '{"choices":[', '{"id":"r1"} x'])
def test_a_line_that_is_not_one_object_is_unreadable_among_others_too(line: str) -> None:
    for body in (sse(line) + WEATHER, WEATHER[:-14] + sse(line, line) + WEATHER[-14:]):
        for pieces in ways(body):
            turn = decode("openai-chat", pieces)
            assert [fault.code for fault in turn.faults] == ["EVENT_UNREADABLE"]
            assert not turn.executable


def test_a_json_answer_to_a_stream_request_is_named_as_that() -> None:
    body = b'{"id": "r1", "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}'
    for pieces in ([body], sized(body, 7)):
        turn = decode("openai-chat", pieces)
        assert [fault.code for fault in turn.faults] == ["NOT_A_STREAM"]
        assert turn.why_not == "TURN_FAILED"


def test_a_bare_json_error_is_the_provider_s_error() -> None:
    body = b'{\n  "error": {\n    "message": "slow down",\n    "code": 429\n  }\n}\n'
    for pieces in ([body], sized(body, 1)):
        (fault,) = decode("anthropic", pieces).faults
        assert (fault.code, fault.message, fault.provider_code) == ("PROVIDER_ERROR", "slow down", "429")
        assert fault.retryable


@pytest.mark.parametrize(
    ("tail", "code", "message"),
    [
        (b"event: error\ndata: overloaded", "PROVIDER_ERROR", "overloaded"),
        (b"event: error\r\ndata: overloaded\r\n", "PROVIDER_ERROR", "overloaded"),
        (b'event: error\ndata: {"error":{"mess', "PROVIDER_ERROR", '{"error":{"mess'),
        (b"event: error", "PROVIDER_ERROR", "reported an error"),
        (b"event: error\n", "PROVIDER_ERROR", "reported an error"),
        (b"event: error\r", "PROVIDER_ERROR", "reported an error"),
        (b"event: error\ndat", "PROVIDER_ERROR", "reported an error"),
        (b"event: error\nid: 7\ndata:\n", "PROVIDER_ERROR", "reported an error"),
        (b'data: {"x":' + b"[" * 3000, "TOO_DEEP", "deeply"),
        (b'data: {"error": {"message":"m', "EVENT_UNREADABLE", "not JSON"),
        (b'{"error": {"mess', "EVENT_UNREADABLE", '{"error": {"mess'),
        (b'{"error": {"mess\n\n', "EVENT_UNREADABLE", '{"error": {"mess'),
        (b'{"error":{"message":"m"}}', "PROVIDER_ERROR", "m"),
        (b'[{"error":{"message":"m"}}]', "PROVIDER_ERROR", "m"),
        (b'[{"error":{"message":"m"}}]\n\n', "PROVIDER_ERROR", "m"),
        (b'[\n{"error": {\n"message": "m"}\n}\n]\n', "PROVIDER_ERROR", "m"),
        (b"[1]", "NOT_A_STREAM", "JSON"),
    ],
)
def test_an_error_at_the_end_of_the_body_counts_though_its_own_end_is_missing(
    tail: bytes, code: str, message: str
) -> None:
    for dialect, body in WHOLE.items():
        told = [decode(dialect, pieces) for pieces in ways(body + tail)]
        assert all(other == told[0] for other in told)
        (fault,) = told[0].faults
        assert (fault.code, fault.fatal) == (code, True)
        assert message in fault.message
        assert told[0].why_not == "TURN_FAILED"
        assert told[0].calls == decode(dialect, body).calls


def test_of_bare_text_that_is_no_json_so_much_is_told_as_a_person_reads() -> None:
    (fault,) = decode("openai-chat", WEATHER + b"{" + b"x" * 100_000).faults
    assert "xxx" in fault.message
    assert len(fault.message) < 1000


def test_an_event_that_is_cut_at_the_end_of_the_body_is_no_fault() -> None:
    for tail in (
        b"da",
        b'data: {"id":"r1"',
        b'data: {"error":nul',
        b'data: {"error":null,"id"',
        b"event: err",
    ):
        for pieces in ways(WEATHER + tail):
            assert decode("openai-chat", pieces) == decode("openai-chat", WEATHER)


def test_events_of_other_kinds_and_odd_data_do_no_harm() -> None:
    odd = b'event: later\ndata: {"x":1}\n\ndata:\n\ndata: ping\n\ndata: 3\n\ndata: null\n\n'
    turn = decode("openai-chat", odd + WEATHER)
    assert turn.executable
    assert {fault.code for fault in turn.faults} == {"EVENT_IGNORED"}
    assert not any(fault.fatal for fault in turn.faults)


def test_an_event_over_the_limit_fails_the_turn() -> None:
    for pieces in ([WEATHER], sized(WEATHER, 3)):
        turn = decode("openai-chat", pieces, limits=StreamLimits(line_bytes=90))
        assert [fault.code for fault in turn.faults] == ["TOO_LARGE"]
        assert not turn.executable


@pytest.mark.parametrize("field", ["index", "id", "choices", "usage"])
def test_a_field_of_another_type_is_read_as_far_as_it_goes(field: str) -> None:
    changed = {"index": '"0"', "id": "7", "choices": "{}", "usage": '"none"'}[field]
    raw = json.dumps({**chunk(content="a"), "usage": None}, separators=(",", ":"))
    odd = re.sub(rf'"{field}":("[^"]*"|\d|null|\[.*\])', f'"{field}":{changed}', raw)
    assert odd != raw
    turn = decode("openai-chat", sse(odd, chunk(content="b", finish="stop")))
    assert turn.text == ("b" if field == "choices" else "ab")
    assert turn.executable


# ---------------------------------------------------------------- damage

WHOLE: Final = {
    "openai-chat": chat(
        chunk(content="Hé", reasoning="x"),
        chunk(piece(0, id="c0", name="a", arguments='{"p":')),
        chunk(piece(0, arguments='"é"}'), piece(1, id="c1", name="b")),
        usage={"prompt_tokens": 1, "completion_tokens": 2},
    ),
    "anthropic": anthropic(
        start(0, type="text"), say(0, "Hé"), stop(0), tool(1, "c", "a"), more(1, "{}"), stop(1)
    ),
    "openai-responses": responses(delta(0, "Hé", "output_text"), *call(1, '{"p":', '"é"}')),
}
DAMAGE: Final = st.sampled_from(
    [
        *(
            b"{",
            b"}",
            b"[",
            b'"',
            b",",
            b":",
            b"\\",
            b"\n",
            b"\r",
            b"\n\n",
            b"null",
            b"1",
            b"{}",
            b"[]",
            b'"x"',
        ),
        *(b"\xff", b"\xc3", rb"\ud83c", rb"\udf78", b"1e999", b"\0", b"data: ", b"event: error\n", b"[DONE]"),
    ]
)


@given(
    dialect=st.sampled_from(sorted(WHOLE)),
    damage=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), DAMAGE), min_size=1, max_size=4),
    seed=st.integers(0, 999),
)
def test_a_damaged_stream_raises_nothing_and_is_the_same_in_every_cut(
    dialect: str, damage: list[tuple[float, int, bytes]], seed: int
) -> None:
    body = WHOLE[dialect]
    for place, size, put in damage:
        at = int(place * len(body))
        body = body[:at] + put + body[at + size :]
    turn = decode(dialect, body)
    json.dumps(turn.kept, ensure_ascii=False).encode()
    "".join((turn.text, turn.reasoning, turn.reason, *(call.arguments_text for call in turn.calls))).encode()
    for pieces in (sized(body, 1), small(body, seed), sized(body, 97)):
        assert decode(dialect, pieces) == turn


ODD: Final[dict[str, list[dict[str, Any]]]] = {
    "openai-chat": [
        chunk(reasoning_details="@"),
        chunk(content="@"),
        {"x": "@"},
        {"error": "@"},
        {"error": {"message": "@"}},
        {"error": "@", "id": 5},
    ],
    "anthropic": [
        start(5, type="odd", x="@"),
        tool(5, "c", "t", input="@"),
        {"type": "error", "error": "@"},
    ],
    "openai-responses": [
        item("done", 5, {"type": "odd", "x": "@"}),
        item("done", 5, {"type": "odd_call", "x": "@"}),
        {"type": "error", "error": "@"},
    ],
}
DEEP: Final = 3000
"""So deep that nothing here reads it, whatever the stack it is read on."""


@pytest.mark.parametrize("depth", [100, 300, 700, DEEP, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("dialect", sorted(ODD))
def test_an_event_nested_however_deep_raises_nothing_and_leaves_the_rest_as_it_is(
    dialect: str, depth: int, opening: str
) -> None:
    deep = opening * depth + "1" + ("]" if opening == "[" else "}") * depth
    around, plain = WHOLE[dialect].split(b"\n\n"), decode(dialect, WHOLE[dialect])
    assert plain.executable
    for value in ODD[dialect]:
        event = b"data: " + json.dumps(value).replace('"@"', deep).encode()
        body = b"\n\n".join((*around[:2], event, event, *around[2:]))
        cuts = ways(body) if depth < DEEP else ([body], sized(body, 9000), events_of(body))
        turn, *others = (decode(dialect, cut) for cut in cuts)
        assert all(other == turn for other in others)
        if depth >= DEEP:
            assert [fault.code for fault in turn.faults] == ["TOO_DEEP"]
            assert (turn.text, turn.reasoning) == (plain.text, plain.reasoning)
            assert [call.arguments_text for call in turn.calls] == [
                call.arguments_text for call in plain.calls
            ]
            assert not turn.executable


# ---------------------------------------------------------------- odd streams


@pytest.mark.parametrize("seeds", [range(at, at + 100) for at in range(0, 300, 100)], ids=str)
@pytest.mark.parametrize("dialect", sorted(odd.EVENT))
def test_a_stream_however_odd_is_the_same_in_every_cut_and_copy_and_can_be_answered(
    dialect: str, seeds: range
) -> None:
    for seed in seeds:
        chance = Random(seed)
        body = odd.body_of(chance, dialect)
        options: dict[str, Any] = {
            "limits": chance.choice(odd.LIMITS),
            "max_tokens": chance.choice((None, 10)),
        }
        told, turn = feed(dialect, body, **options)
        for cut in ways(body)[1:]:
            assert feed(dialect, cut, **options) == (told, turn), (seed, body)
        at, running = chance.randint(0, len(body)), Decoder(dialect, **options)
        before = running.feed(body[:at])
        for one in (running.copy(), running):
            assert [*before, *one.feed(body[at:])] == told, (seed, body)
            assert one.close() == turn, (seed, body)
        results = [
            ToolResult(CallKey("r", 0, 0, place), call.call_id, call.name, Status.OK, content="x")
            for place, call in enumerate(turn.calls)
        ]
        for written in DIALECTS:
            assert len(encode(written, turn, results)) >= bool(results), (seed, body)


# ---------------------------------------------------------------- names and the strict form

TOOLS: Final = (
    ToolDefinition.of(
        "files/read",
        "Read.",
        freeze(
            {
                "type": "object",
                "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
                "required": ["path"],
            }
        ),
    ),
)


def strictly(arguments: str, **options: Any) -> ToolCall:
    name = wire_name("files/read")
    body = chat(chunk(piece(0, id="c", name=name, arguments=arguments)))
    (call,) = decode("openai-chat", body, **options).calls
    return call


def test_a_tool_whose_name_had_to_change_on_the_wire_comes_back_under_its_own() -> None:
    assert strictly('{"path":"a"}', tools=TOOLS).name == "files/read"


def test_null_for_an_optional_parameter_of_a_strict_tool_means_absent() -> None:
    text = '{"path":"a","limit":null}'
    assert strictly(text, tools=TOOLS, strict=True).arguments == {"path": "a"}
    assert strictly(text, tools=TOOLS).arguments == {"path": "a", "limit": None}
    assert strictly('{"path":null,"limit":1}', tools=TOOLS, strict=True).arguments["path"] is None


# ---------------------------------------------------------------- interleaved calls

TEXTS: Final = ('{"path":"a.txt"}', '{"path":"b","deep":{"x":[1,2]}}')


def split(text: str) -> list[str]:
    return [text[at : at + 3] for at in range(0, len(text), 3)]


@given(order=st.permutations([0] * len(split(TEXTS[0])) + [1] * len(split(TEXTS[1]))))
def test_deltas_of_two_calls_may_come_in_any_order(order: list[int]) -> None:
    parts = [iter(split(text)) for text in TEXTS]
    mixed = [(index, next(parts[index])) for index in order]
    bodies = {
        "openai-chat": chat(
            chunk(piece(0, id="c0", name="a"), piece(1, id="c1", name="b")),
            *(chunk(piece(index, arguments=text)) for index, text in mixed),
        ),
        "anthropic": anthropic(
            tool(0, "c0", "a"), tool(1, "c1", "b"), *(more(i, text) for i, text in mixed), stop(0), stop(1)
        ),
        "openai-responses": responses(
            *(item("added", n, function(call_id=f"c{n}", name="ab"[n])) for n in (0, 1)),
            *(delta(index, text) for index, text in mixed),
            *(item("done", n, function(TEXTS[n], call_id=f"c{n}", name="ab"[n])) for n in (0, 1)),
        ),
    }
    for dialect, body in bodies.items():
        for pieces in ([body], sized(body, 40)):
            turn = decode(dialect, pieces)
            assert [(c.call_id, c.name, c.arguments) for c in turn.calls] == [
                ("c0", "a", json.loads(TEXTS[0])),
                ("c1", "b", json.loads(TEXTS[1])),
            ]
            assert turn.executable
