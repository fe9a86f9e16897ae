"""What the wire promises, on small exact inputs: streams that real servers sent and clients broke on."""

import json
import time
from typing import Any

import pytest

from callgate.calls import CallDone, Finish, ToolCall, Turn, canonical
from callgate.wire import Decoder, SseParser, StreamLimits
from tests.growth import grows_linearly
from tests.wire.bodies import (
    MESSAGE_START,
    anthropic,
    call,
    chat,
    chunk,
    completed,
    decode,
    delta,
    feed,
    function,
    item,
    more,
    piece,
    responses,
    sse,
    stop,
    tool,
    ways,
)

ERROR = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n'


def one(body: bytes, dialect: str = "openai-chat", **options: Any) -> ToolCall:
    """The only call of a body, the same in every way of cutting it."""
    turn = every_way(body, dialect, **options)
    (found,) = turn.calls
    return found


def every_way(body: bytes, dialect: str = "openai-chat", **options: Any) -> Turn:
    first, *others = (decode(dialect, pieces, **options) for pieces in ways(body))
    assert all(other == first for other in others)
    return first


def arguments(text: str, **fields: Any) -> bytes:
    """A finished chat reply with one call of these arguments."""
    return chat(chunk(piece(0, id="c1", name="t", arguments=text, **fields)))


# ---------------------------------------------------------------- which fragments are one call


def test_two_fragments_of_one_index_inside_one_chunk_are_one_call() -> None:
    """R001: also for a later choice."""
    for choice in (0, 1):
        body = chat(
            chunk(piece(0, id="c1", name="ls"), piece(0, arguments='{"p"'), choice=choice),
            chunk(piece(0, arguments=':"."}'), choice=choice),
            chunk(finish="tool_calls", choice=choice),
        )
        turn = every_way(body)
        (found,) = (turn if choice == 0 else turn.alternatives[0]).calls
        assert (found.call_id, found.name, found.arguments) == ("c1", "ls", {"p": "."})


def test_calls_that_all_carry_index_0_are_told_apart_by_their_ids() -> None:
    """R003."""
    body = chat(
        chunk(piece(0, id="k1", name="read", arguments='{"path":"a"}')),
        chunk(piece(0, id="k2", name="read", arguments='{"path":"b"}')),
    )
    turn = every_way(body)
    assert [(c.call_id, c.arguments) for c in turn.calls] == [("k1", {"path": "a"}), ("k2", {"path": "b"})]
    assert turn.executable


def test_interleaved_fragments_under_one_index_go_to_the_call_of_their_id() -> None:
    """R003."""
    parts = [("k1", '{"a"'), ("k2", '{"b"'), ("k1", ":1}"), ("k2", ":2}")]
    turn = every_way(chat(*(chunk(piece(0, id=i, name="t", arguments=text)) for i, text in parts)))
    assert [(c.call_id, c.arguments) for c in turn.calls] == [("k1", {"a": 1}), ("k2", {"b": 2})]


def test_arguments_that_are_sent_again_whole_count_once_with_a_warning() -> None:
    """R003: one id, the same delta twice."""
    same = chunk(piece(0, id="k1", name="read", arguments='{"path":"a"}'))
    turn = every_way(chat(same, same))
    (found,) = turn.calls
    assert (found.arguments, found.arguments_text, found.complete) == ({"path": "a"}, '{"path":"a"}', True)
    assert [(fault.code, fault.fatal) for fault in turn.faults] == [("ARGUMENTS_REPEATED", False)]
    assert turn.executable


def test_two_different_arguments_under_one_id_are_no_call_at_all() -> None:
    """R003: the model is told; nothing is chosen for it."""
    texts = ('{"path":"a"}', '{"path":"b"}')
    found = one(chat(*(chunk(piece(0, id="k1", name="read", arguments=text)) for text in texts)))
    assert (found.complete, found.arguments) == (False, {})
    assert found.fault is not None
    assert found.fault.code == "TWO_ARGUMENTS"


def test_whole_calls_without_any_id_under_one_index_are_told_apart_by_their_names() -> None:
    """R003: with no ids at all; the same one again counts once."""
    texts = ('{"p":"a"}', '{"p":"b"}')
    turn = every_way(chat(*(chunk(piece(0, name="read", arguments=text)) for text in texts)))
    assert [c.arguments for c in turn.calls] == [{"p": "a"}, {"p": "b"}]
    again = every_way(chat(*(chunk(piece(0, name="read", arguments=texts[0])) for _ in "12")))
    assert [c.arguments for c in again.calls] == [{"p": "a"}]
    other = every_way(chat(*(chunk(piece(0, name=name, arguments="{}")) for name in ("a", "b"))))
    assert [c.name for c in other.calls] == ["a", "b"]


def test_calls_without_an_index_are_opened_by_a_name_and_go_on_without_one() -> None:
    """Stream rule 1."""
    body = chat(
        chunk(piece(None, name="a", arguments="{")),
        chunk(piece(None, arguments="}")),
        chunk(piece(None, id="", name="b", arguments='{"x":1}')),
    )
    assert [(c.name, c.arguments) for c in every_way(body).calls] == [("a", {}), ("b", {"x": 1})]


# ---------------------------------------------------------------- no arguments


@pytest.mark.parametrize("fields", [{"arguments": ""}, {"arguments": "   "}, {}, {"arguments": None}])
def test_a_call_without_arguments_has_the_empty_object(fields: dict[str, Any]) -> None:
    """R004: empty, blank, absent and null."""
    found = one(chat(chunk(piece(0, id="c1", name="now", **fields))))
    assert (found.arguments, found.complete, found.fault) == ({}, True, None)


@pytest.mark.parametrize("finish", ["length", "content_filter", None])
def test_an_empty_text_is_no_arguments_only_where_the_reply_ended_well(finish: str | None) -> None:
    """R004, R006: the same bytes, cut before the first argument."""
    found = one(chat(chunk(piece(0, id="c1", name="now", arguments="")), finish=finish))
    assert not found.complete
    assert found.fault is not None
    assert found.fault.code == "CALL_INCOMPLETE"


# ---------------------------------------------------------------- half-received calls

CUT = ('{"cmds":["make build","make te', '{"cmds":["make build","make test"', '{"path":"a.md"')


@pytest.mark.parametrize("text", CUT)
def test_cut_arguments_are_never_repaired(text: str) -> None:
    """R006: in a string, after an item, before the next key; in each dialect and for each way to end."""
    cut = {
        "openai-chat": [
            chat(chunk(piece(0, id="c", name="t", arguments=text)), finish=finish)
            for finish in ("length", "stop", "tool_calls", None)
        ],
        "anthropic": [
            anthropic(tool(0, "c", "t"), more(0, text), finish="max_tokens"),
            anthropic(tool(0, "c", "t"), more(0, text), stop(0), finish="max_tokens"),
            anthropic(tool(0, "c", "t"), more(0, text), stop(0)),
            sse(MESSAGE_START, tool(0, "c", "t"), more(0, text), named=True),
        ],
        "openai-responses": [
            responses(item("added", 0, function()), delta(0, text)),
            responses(*call(0, text, status="incomplete"), end=completed("incomplete")),
            responses(*call(0, text)),
        ],
    }
    for dialect, bodies in cut.items():
        for body in bodies:
            found = one(body, dialect)
            assert (found.complete, found.arguments) == (False, {})
            assert found.fault is not None


def test_a_closed_brace_is_not_the_end_of_a_reply() -> None:
    """R006: the arguments look whole, the reply is not."""
    half = {
        "openai-chat": chat(chunk(piece(0, id="c", name="t", arguments='{"a":1}')), finish=None),
        "anthropic": sse(MESSAGE_START, tool(0, "c", "t"), more(0, '{"a":1}'), named=True),
        "openai-responses": responses(*call(0, '{"a":1}'))[:-400],
    }
    for dialect, body in half.items():
        turn = every_way(body, dialect)
        assert (turn.executable, turn.finish, turn.why_not) == (False, Finish.CUT, "TURN_CUT")
        assert [c.name for c in turn.calls] in (["t"], ["ls"])


def test_a_broken_call_does_not_take_the_others_with_it() -> None:
    """R006: each call is judged by itself; the reply ended well."""
    body = chat(
        chunk(
            piece(0, id="c1", name="t", arguments='{"a":1}'), piece(1, id="c2", name="t", arguments="{'a':1}")
        )
    )
    turn = every_way(body)
    assert turn.executable
    assert [c.complete for c in turn.calls] == [True, False]
    assert not turn.possibly_truncated


CAPPED = chat(
    chunk(piece(0, id="c1", name="t", arguments='{"p":1}')),
    chunk(piece(1, id="c2", name="t", arguments='{"q": "ab')),
    usage={"prompt_tokens": 9, "completion_tokens": 300},
)


def test_a_reply_of_as_many_tokens_as_it_was_allowed_is_a_capped_one() -> None:
    """R007: the server says ``tool_calls`` all the same."""
    turn = every_way(CAPPED, max_tokens=300)
    assert [c.complete for c in turn.calls] == [True, False]
    assert (turn.executable, turn.why_not, turn.possibly_truncated) == (False, "TURN_CAPPED", True)
    below = every_way(CAPPED, max_tokens=301)
    assert below.executable
    assert not below.calls[1].complete
    # The last call breaks off: that much is told without knowing the cap.
    assert below.possibly_truncated


def test_whether_the_cap_was_hit_must_be_known_before_anything_runs() -> None:
    """R007: a stream that breaks off before its usage, without its last word."""
    for end, runs in ((b"data: [DONE]\n\n", True), (b"", False)):
        body = sse(chunk(piece(0, id="c", name="t", arguments="{}")), chunk(finish="tool_calls")) + end
        assert decode("openai-chat", body, max_tokens=300).executable is runs
        assert decode("openai-chat", body).executable


@pytest.mark.parametrize("native", ["length", "MAX_TOKENS", "max_output_tokens"])
def test_the_reason_of_the_model_behind_a_gateway_counts(native: str) -> None:
    """R007: ``finish_reason`` says ``tool_calls``, ``native_finish_reason`` knows better."""
    end = chunk(finish="tool_calls")
    end["choices"][0]["native_finish_reason"] = native
    turn = every_way(sse(chunk(piece(0, id="c", name="t", arguments='{"a":1}')), end, "[DONE]"))
    assert (turn.finish, turn.why_not, turn.possibly_truncated) == (Finish.LENGTH, "TURN_CAPPED", True)


# ---------------------------------------------------------------- errors in a stream


def test_an_error_in_the_middle_discards_what_was_received() -> None:
    """R009: typed, with the provider's word, and whether it is worth another try."""
    body = sse(MESSAGE_START, tool(0, "t1", "pay"), more(0, '{"to":"x"}'), named=True) + ERROR
    turn = every_way(body, "anthropic")
    (fault,) = turn.faults
    assert (fault.code, fault.provider_code, fault.message) == ("PROVIDER_ERROR", "overloaded_error", "busy")
    assert (fault.retryable, fault.fatal) == (True, True)
    assert (turn.finish, turn.finish_raw, turn.why_not) == (Finish.ERROR, "", "TURN_FAILED")
    assert [(c.call_id, c.complete) for c in turn.calls] == [("t1", False)]


def test_an_error_after_a_good_end_still_counts() -> None:
    """R009."""
    for dialect, body in (
        ("openai-chat", arguments("{}")),
        ("anthropic", anthropic(tool(0, "c", "t"), stop(0))),
    ):
        assert decode(dialect, body).executable
        assert not decode(dialect, body + ERROR).executable


@pytest.mark.parametrize(
    ("code", "retryable"),
    [
        ("rate_limit_exceeded", True),
        (529, True),
        ("server_error", True),
        ("invalid_request_error", False),
        (400, False),
    ],
)
def test_an_error_says_whether_the_same_request_may_succeed_later(code: object, retryable: bool) -> None:
    """R009."""
    turn = decode("openai-chat", sse({"error": {"message": "m", "code": code}}))
    assert [fault.retryable for fault in turn.faults] == [retryable]


# ---------------------------------------------------------------- bytes and characters


def test_a_three_byte_character_may_be_cut_in_three() -> None:
    """R010: and at every other place."""
    text = json.dumps({"path": "资料/说明.md"}, ensure_ascii=False)
    value = json.dumps(chunk(piece(0, id="c", name="read", arguments=text)), ensure_ascii=False)
    body = sse(value, chunk(finish="tool_calls"), "[DONE]")
    assert one(body).arguments == {"path": "资料/说明.md"}
    for at in range(len(body)):
        pieces = [body[:at], body[at : at + 1], body[at + 1 : at + 2], body[at + 2 :]]
        assert decode("openai-chat", pieces).calls[0].arguments == {"path": "资料/说明.md"}


BROKEN = (b"\xff", b"\xe4\xbd", b"\xc0\xaf", b"\xed\xa0\xbc", b"\x80")


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_utf_8_in_arguments_is_an_error_of_that_call_alone(broken: bytes) -> None:
    """R010: not a silent U+FFFD in a file name."""
    bodies = {
        "openai-chat": chat(
            chunk(piece(0, id="c1", name="t", arguments='{"p":"@@"}')),
            chunk(piece(1, id="c2", name="t", arguments='{"p":"x"}')),
        ),
        "anthropic": anthropic(
            *(tool(0, "c1", "t"), more(0, '{"p":"@@"}'), stop(0)),
            *(tool(1, "c2", "t"), more(1, '{"p":"x"}'), stop(1)),
        ),
        "openai-responses": responses(
            *call(0, '{"p":"@@"}', call_id="c1"), *call(1, '{"p":"x"}', call_id="c2")
        ),
    }
    for dialect, body in bodies.items():
        turn = every_way(body.replace(b"@@", broken), dialect)
        bad, good = turn.calls
        assert (bad.complete, bad.fault and bad.fault.code) == (False, "TEXT_NOT_UNICODE")
        assert "\ufffd" in bad.arguments_text
        assert (good.arguments, good.complete) == ({"p": "x"}, True)
        assert turn.executable


def test_broken_utf_8_in_text_is_replaced_and_harms_no_call() -> None:
    """R010."""
    body = chat(chunk(content="a@b"), chunk(piece(0, id="c", name="t", arguments='{"p":"\ufffd"}')))
    turn = every_way(body.replace(b"@", b"\xff"))
    assert turn.text == "a\ufffdb"
    # A replacement character that the model itself wrote is text like any other.
    assert turn.calls[0].arguments == {"p": "\ufffd"}


def test_comments_and_bare_colons_are_no_events() -> None:
    """R012: anywhere, also between the lines of one event."""
    body = b': PROCESSING\n:\ndata: {"ok":1}\n\n: keepalive\n'
    assert [event.data for event in SseParser().feed(body)] == ['{"ok":1}']
    assert [e.data for e in SseParser().feed(b"data: a\n:x\ndata: b\n\n")] == ["a\nb"]


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    "parts",
    [
        ("read_file", "read_file", "read_file"),
        ("read_", "file"),
        ("read_", "file", ""),
        ("read_file", "", "read_file"),
        ("", "read_file"),
        ("read_", "file", "read_file"),
    ],
)
def test_a_name_that_is_repeated_or_sent_in_parts_is_one_name(parts: tuple[str, ...]) -> None:
    """R014."""
    first = chunk(piece(0, id="c", name=parts[0], arguments=""))
    body = chat(first, *(chunk(piece(0, name=part, arguments="")) for part in parts[1:]))
    assert one(body).name == "read_file"


def test_a_name_that_fits_no_tool_stays_as_it_was_sent() -> None:
    """R014: no guessing; the gate will say that it is not offered."""
    body = chat(chunk(piece(0, id="c", name="read_")), chunk(piece(0, name="fil")))
    assert one(body).name == "read_fil"


# ---------------------------------------------------------------- surrogates


def escaped(*parts: str) -> bytes:
    """Arguments as fragments whose escapes stand in the event itself."""
    chunks = [chunk(piece(0, id="c", name="t", arguments="@")) for _ in parts]
    whole = json.dumps([*chunks], separators=(",", ":"))
    for part in parts:
        whole = whole.replace("@", part, 1)
    return sse(*_values(whole, len(parts)), chunk(finish="tool_calls"), "[DONE]")


def _values(text: str, count: int) -> list[str]:
    values, at = [], 1
    for _ in range(count):
        _, end = json.JSONDecoder().raw_decode(text, at)
        values.append(text[at:end])
        at = end + 1
    return values


def test_a_surrogate_pair_is_one_character_wherever_it_is_cut() -> None:
    """R015: as an escape of the arguments, of the event, and with its halves in two deltas."""
    assert one(arguments('{"t":"\\ud83c\\udf78"}')).arguments == {"t": "🍸"}
    assert one(escaped(r"{\"t\":\"\ud83c\udf78\"}")).arguments == {"t": "🍸"}
    assert one(escaped(r"{\"t\":\"\ud83c", r"\udf78\"}")).arguments == {"t": "🍸"}
    assert one(escaped(r"{\"t\":\"\\ud83c", r"\\udf78\"}")).arguments == {"t": "🍸"}


@pytest.mark.parametrize(
    "parts",
    [(r"{\"t\":\"bad \\ud800 half\"}",), (r"{\"t\":\"bad \ud800 half\"}",), (r"{\"t\":\"\ud83c", r" x\"}")],
)
def test_a_lone_half_is_refused_with_its_place_and_goes_no_further(parts: tuple[str, ...]) -> None:
    """R015: nothing that cannot be encoded reaches journal, history, tool or screen."""
    events, turn = feed("openai-chat", escaped(*parts))
    (found,) = turn.calls
    assert (found.complete, found.arguments) == (False, {})
    assert found.fault is not None
    assert (found.fault.code, found.fault.where) == ("TEXT_NOT_UNICODE", "/t")
    for text in (found.arguments_text, *(str(event) for event in events)):
        text.encode()
    canonical(found.arguments_text)


def test_halves_of_text_in_two_deltas_are_shown_as_one_character() -> None:
    """R015."""
    raw = [json.dumps(chunk(content="@")).replace("@", half) for half in (r"a\ud83c", r"\udf78b", r"\ud83c")]
    for pieces in ways(sse(*raw, chunk(finish="stop"))):
        events, turn = feed("openai-chat", pieces)
        assert turn.text == "a🍸b\ufffd"
        assert [event.text for event in events if hasattr(event, "text")] == ["a", "🍸b"]


def test_a_half_that_ordinary_text_follows_is_shown_as_a_replacement() -> None:
    """R015: also in arguments."""
    raw = [json.dumps(chunk(content="@")).replace("@", text) for text in (r"a\ud83c", "b", "c")]
    for pieces in ways(sse(*raw, chunk(finish="stop"))):
        events, turn = feed("openai-chat", pieces)
        assert turn.text == "a\ufffdbc"
        assert "".join(event.text for event in events if hasattr(event, "text")) == turn.text
    events, _ = feed("openai-chat", escaped(r"{\"t\":\"\ud83c", r" x\"}"))
    assert "".join(e.text for e in events if hasattr(e, "text")) == '{"t":"\ufffd x"}'


# ---------------------------------------------------------------- cost


def seconds(count: int) -> float:
    opened, first, more_, last, end = (
        sse(value)
        for value in (
            chunk(piece(0, id="c", name="t")),
            *(chunk(piece(0, arguments=text)) for text in ('{"s":"', "a", '"}')),
            chunk(finish="tool_calls"),
        )
    )
    decoder = Decoder("openai-chat")
    begin = time.process_time()
    for event in (opened, first, *[more_] * count, last, end):
        decoder.feed(event)
    turn = decoder.close()
    spent = time.process_time() - begin
    assert turn.calls[0].arguments == {"s": "a" * count}
    return spent


@pytest.mark.no_cover
def test_time_grows_with_the_number_of_fragments_and_not_with_its_square() -> None:
    """R016: twice the input takes less than two and a half times as long."""
    assert grows_linearly(seconds, 3_000)


def test_arguments_over_the_limit_end_the_call_with_an_error() -> None:
    """R016: a peer that never stops; the other calls are untouched."""
    limits = StreamLimits(argument_characters=20)
    body = chat(
        chunk(
            piece(0, id="c1", name="t", arguments='{"a":1}'), piece(1, id="c2", name="t", arguments='{"b":"')
        ),
        *(chunk(piece(1, arguments="x" * 9)) for _ in range(5)),
        chunk(piece(1, arguments='"}')),
    )
    good, bad = every_way(body, limits=limits).calls
    assert good.complete
    assert (bad.complete, bad.fault and bad.fault.code, bad.arguments_text) == (False, "TOO_LARGE", "")


# ---------------------------------------------------------------- empty replies


def test_a_reply_that_says_it_makes_calls_and_has_none_is_an_error() -> None:
    """R020: an error to report, not an empty turn."""
    for dialect, body in (("openai-chat", chat()), ("anthropic", anthropic())):
        turn = every_way(body, dialect)
        assert (turn.executable, turn.finish, turn.why_not) == (False, Finish.ERROR, "TURN_FAILED")
        assert [fault.code for fault in turn.faults] == ["CALLS_MISSING"]


def test_a_call_is_announced_done_before_the_turn_and_is_the_one_of_the_turn() -> None:
    events, turn = feed("anthropic", anthropic(tool(0, "c", "t"), more(0, '{"a":1}'), stop(0)))
    assert [type(event).__name__ for event in events] == [
        "CallStarted",
        "ArgumentsDelta",
        "CallDone",
        "TurnDone",
    ]
    done = next(event for event in events if isinstance(event, CallDone))
    assert (done.call,) == turn.calls
