"""One JSON object in plain text: the same turn for every cut of the bytes, complete by its line break."""

import json
import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import CallDone, Finish, StreamEvent, TextDelta, ToolCall, Turn
from callgate.wire import Decoder, StreamLimits
from tests.strategies import json_objects, names, texts, typed
from tests.wire.bodies import decode, sized


def played(body: bytes, *cuts: int) -> tuple[list[StreamEvent], Turn]:
    decoder = Decoder("json-mode")
    edges = sorted({0, *(cut % (len(body) + 1) for cut in cuts), len(body)})
    events = [event for start, end in pairwise(edges) for event in decoder.feed(body[start:end])]
    return events, decoder.close()


def turn_of(text: str) -> Turn:
    return played(text.encode())[1]


def call_of(text: str) -> ToolCall:
    (call,) = turn_of(text).calls
    return call


tools = st.one_of(names, st.sampled_from(["read_file", "北京", "a\\b", 'quo"te'])).filter(bool)
spaces = st.sampled_from(["", " ", "\n ", "\t", "\r\n"])
ascii_or_not = st.booleans()


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any], str]:
    """A tool, arguments, and a text that calls it so."""
    tool, arguments, gap = draw(tools), draw(json_objects), draw(spaces)
    escape = draw(ascii_or_not)
    members = [
        f'"tool"{gap}:{gap}{json.dumps(tool, ensure_ascii=escape)}',
        f'"arguments":{gap}{json.dumps(arguments, ensure_ascii=escape)}',
    ]
    body = f",{gap}".join(draw(st.permutations(members)))
    return tool, arguments, f"{{{gap}{body}{gap}}}"


bodies = st.one_of(
    calls().map(lambda one: one[2] + "\n"),
    texts.map(lambda text: json.dumps({"text": text}) + "\n"),
    texts.map(lambda text: "Here:\n```json\n" + json.dumps({"text": text}, ensure_ascii=False) + "\n```\n"),
    st.tuples(texts, calls()).map(lambda both: both[0] + both[1][2] + " \r\n\n"),
    st.text(alphabet='{}[]",:\\ud8ctoltexargumns\n ', max_size=60),
    st.lists(
        st.sampled_from(
            [
                *(
                    "{",
                    "}",
                    "[",
                    "]",
                    '"',
                    ",",
                    ":",
                    "\\",
                    "\n",
                    "`",
                    "```",
                    " ",
                    '"tool"',
                    '"text"',
                    '"arguments"',
                ),
                *("null", "1", '"x"', "\\ud83d", "\\ude00", "\\u12", "€", '{"', '"}'),
            ]
        ),
        max_size=20,
    ).map("".join),
).map(str.encode)


@given(bodies, st.lists(st.integers(0, 500), max_size=6))
def test_the_turn_is_the_same_however_the_bytes_are_cut(body: bytes, cuts: list[int]) -> None:
    whole = played(body)[1]
    assert played(body, *cuts)[1] == whole
    assert played(body, *range(len(body)))[1] == whole


@given(st.binary(max_size=40), st.lists(st.integers(0, 40), max_size=6))
def test_bytes_that_are_no_utf8_give_the_same_turn_for_every_cut_and_never_raise(
    noise: bytes, cuts: list[int]
) -> None:
    body = b'{"tool": "x", "arguments": {"a": "' + noise + b'"}}\n'
    assert played(body, *cuts)[1] == played(body)[1] == played(body, *range(len(body)))[1]


@given(bodies)
def test_what_is_shown_is_what_the_turn_says(body: bytes) -> None:
    events, turn = played(body, *range(len(body)))
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    # Text in which no object ever began is known to be all of it only at the end.
    assert shown in (turn.text, "")
    done = [event.call for event in events if isinstance(event, CallDone)]
    assert not done or tuple(done) == turn.calls


@given(calls())
def test_a_call_comes_out_as_it_was_written(one: tuple[str, dict[str, Any], str]) -> None:
    tool, arguments, text = one
    turn = turn_of(text + "\n")
    assert (turn.executable, turn.finish) == (True, Finish.TOOL_CALLS)
    assert turn.calls[0].name == tool
    assert typed(turn.calls[0].arguments) == typed(arguments)
    assert (turn.calls[0].complete, turn.calls[0].call_id, turn.calls[0].key.position) == (True, None, 0)


@given(calls())
def test_a_turn_cut_anywhere_before_the_line_break_is_never_executable(
    one: tuple[str, dict[str, Any], str],
) -> None:
    body = (one[2] + "\n").encode()
    decoder = Decoder("json-mode")
    for place in range(len(body)):
        turn = decoder.copy().close()
        assert (turn.executable, turn.finish, turn.why_not) == (False, Finish.CUT, "TURN_CUT")
        assert not any(call.complete for call in turn.calls)
        decoder.feed(body[place : place + 1])
    assert decoder.close().executable


@given(texts)
def test_an_answer_is_text(text: str) -> None:
    turn = turn_of(json.dumps({"text": text}) + "\n")
    assert (turn.text, turn.calls) == (text, ())
    assert turn.executable
    assert turn.finish == (Finish.STOP if text else Finish.EMPTY)


def test_a_closing_brace_is_not_the_end() -> None:
    assert turn_of('{"tool": "now", "arguments": {}}').why_not == "TURN_CUT"
    assert turn_of('{"tool": "now", "arguments": {}}  \r').why_not == "TURN_CUT"
    assert turn_of('{"tool": "now", "arguments": {}}\n').executable


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "now"}\n',
        '{"tool": "now", "arguments": null}\n',
        '{"arguments": null, "tool": "now"}\n',
        '{"tool": "now", "arguments": {}}\n',
    ],
)
def test_no_arguments_are_an_empty_object(text: str) -> None:
    call = call_of(text)
    assert (call.arguments, call.complete) == ({}, True)


@pytest.mark.parametrize("text", ['{"tool": null}\n', '{"tool": null, "arguments": {}}\n'])
def test_no_tool_is_no_call(text: str) -> None:
    turn = turn_of(text)
    assert (turn.calls, turn.finish, turn.executable) == ((), Finish.EMPTY, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('Let me look.\n{"tool": "now"}\n', "Let me look."),
        ('I use {x} and {{ here: {"tool": "now"}\n', "I use {x} and {{ here:"),
        ('```json\n{"tool": "now"}\n```\n', ""),
        ('Look:\n```\n{"tool": "now"}\n```', "Look:"),
        ('{"tool": "now", "text": "One moment."}\n', "One moment."),
        ('First.\n{"text": "Then.", "tool": "now"}\n', "First.\n\nThen."),
    ],
)
def test_text_around_a_call_is_text_of_the_turn(text: str, said: str) -> None:
    turn = turn_of(text)
    assert (turn.text, [call.name for call in turn.calls], turn.executable) == (said, ["now"], True)


def test_text_alone_is_a_cut_turn_that_still_shows_the_text() -> None:
    turn = turn_of("I think so.\n")
    assert (turn.text, turn.finish, turn.executable) == ("I think so.\n", Finish.CUT, False)


@pytest.mark.parametrize(
    "tail", ['{"tool": "now"}\n', "x", "```", "so\n", '\n\n{"tool": "pay", "arguments": {}}\n', "}"]
)
def test_more_than_white_space_after_the_object_makes_the_turn_unfit(tail: str) -> None:
    turn = turn_of('{"tool": "now"}\n' + tail)
    assert (turn.executable, turn.why_not) == (False, "TURN_FAILED")
    assert [fault.code for fault in turn.faults] == ["FORM_BROKEN"]


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": 5, "arguments": {}}\n',
        '{"tool": "", "arguments": {}}\n',
        '{"name": "now", "arguments": {}}\n',
        '{"arguments": {"a": 1}}\n',
        '{"text": 5}\n',
        '{"text": null}\n',
        '{"text": "a\\x"}\n',
        '{"text": "a", "text": "b"}\n',
    ],
)
def test_an_object_of_another_form_without_a_call_is_a_fault_that_says_the_form(text: str) -> None:
    turn = turn_of(text)
    assert (turn.executable, turn.calls) == (False, ())
    (fault,) = turn.faults
    assert fault.code == "FORM_BROKEN"
    assert fault.message in turn.reason


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ('{"tool": "now", "arguments": [1]}\n', "NOT_AN_OBJECT", ""),
        ('{"tool": "now", "arguments": }\n', "NOT_JSON", ""),
        ('{"tool": "now", "arguments": nul}\n', "NOT_JSON", ""),
        ('{"tool": "now", "arguments": {"a": 1} 2}\n', "NOT_JSON", ""),
        ('{"tool": "now", "arguments": {"a": 1, "a": 2}}\n', "DUPLICATE_KEY", "/a"),
        ('{"tool": "now", "arguments": {"a": NaN}}\n', "NUMBER_NOT_FINITE", "/a"),
        ('{"tool": "now", "arguments": {"a": "\\ud800"}}\n', "TEXT_NOT_UNICODE", "/a"),
        ('{"tool": "now", "tool": "pay", "arguments": {}}\n', "DUPLICATE_KEY", "/tool"),
        ('{"tool": "now", "arguments": {}, "arguments": {}}\n', "DUPLICATE_KEY", "/arguments"),
        ('{"tool": "now", "parameters": {"a": 1}}\n', "NOT_JSON", "/parameters"),
        ('{"tool": "now" "arguments": {}}\n', "NOT_JSON", ""),
        ('{"tool": "now", "arguments": {}, "text": 5}\n', "NOT_JSON", ""),
    ],
)
def test_a_call_that_is_not_well_formed_is_one_the_model_is_told_about(
    text: str, code: str, where: str
) -> None:
    call = call_of(text)
    assert not call.complete
    assert call.fault is not None
    assert (call.fault.code, call.fault.where) == (code, where)
    assert call.arguments == {}


def test_broken_utf8_in_arguments_is_a_fault_of_the_call_and_elsewhere_a_mark() -> None:
    _, turn = played(b'{"tool": "x", "arguments": {"a": "\xff"}}\n')
    assert turn.calls[0].fault is not None
    assert turn.calls[0].fault.code == "TEXT_NOT_UNICODE"
    assert played(b'{"text": "\xff"}\n')[1].text == "\ufffd"


@pytest.mark.parametrize("written", ["\\ud83c\\udf78", "\U0001f378", "\\uD83C\\uDF78"])
def test_a_surrogate_pair_is_one_character(written: str) -> None:
    assert turn_of(f'{{"text": "{written}"}}\n').text == "\U0001f378"
    assert call_of(f'{{"tool": "t", "arguments": {{"a": "{written}"}}}}\n').arguments == {"a": "\U0001f378"}


def test_half_a_pair_in_an_answer_is_replaced_and_makes_the_turn_unfit() -> None:
    turn = turn_of('{"text": "a\\ud800b"}\n')
    assert (turn.text, turn.executable) == ("a\ufffdb", False)
    assert [fault.code for fault in turn.faults] == ["FORM_BROKEN"]


def test_text_is_shown_while_it_is_written() -> None:
    decoder = Decoder("json-mode")
    assert decoder.feed(b'{"text": "so') == [TextDelta("so")]
    assert decoder.feed(b"on\\n\\ud83c") == [TextDelta("on"), TextDelta("\n")]
    assert decoder.feed(b'\\udf78"') == [TextDelta("\U0001f378")]


def test_a_reply_that_never_stops_is_given_up() -> None:
    decoder = Decoder("json-mode", limits=StreamLimits(event_bytes=1_000))
    for _ in range(100):
        decoder.feed(b"x" * 100)
    turn = decoder.close()
    assert [fault.code for fault in turn.faults] == ["TOO_LARGE"]
    assert not turn.executable


def test_a_copy_goes_on_by_itself() -> None:
    body = b'Look.\n{"text": "a\\ud83c\\udf78", "tool": "t\xe2\x82\xac", "arguments": {"k": ["\\\\", nul'
    decoder = Decoder("json-mode")
    for place in range(len(body)):
        decoder.feed(body[place : place + 1])
        one, other = decoder.copy(), decoder.copy()
        one.feed(b'"}}\n')
        other.feed(body[place + 1 :])
        assert other.close() == played(body)[1]


@pytest.mark.parametrize(
    "body", [b'{"tool": "w", "arguments": {"s": "%s"}}\n', b'{"text": "%s"}\n', b"%s", b"{%s"]
)
def test_the_work_grows_with_the_bytes_not_their_square(body: bytes) -> None:
    chance = random.Random(5)

    def steps(size: int) -> int:
        """Characters that the machine looks at: what is fed, and what is looked at again."""
        decoder = Decoder("json-mode")
        looked = 0
        for byte in body % bytes(chance.choice(b" ab") for _ in range(size)):
            decoder.feed(bytes([byte]))
            state: Any = decoder._state
            looked += 1 + len(state.tail) + len("".join(state.waiting))
        return looked

    assert steps(2_000) < 2.5 * steps(1_000)


def test_what_came_before_the_limit_counts_in_every_cut() -> None:
    body = b'{"tool":"t","arguments":{}}\n' + b" " * 20
    for limit in range(len(body) + 1):
        told = [
            decode("json-mode", pieces, limits=StreamLimits(event_bytes=limit))
            for pieces in ([body], sized(body, 1), sized(body, 7), sized(body, 30))
        ]
        assert all(other == told[0] for other in told)
        assert [fault.code for fault in told[0].faults] == ["TOO_LARGE"] * (limit < len(body))
        assert [call.name for call in told[0].calls] == ["t"] * (limit >= len('{"tool":"t"'))
