"""The one form of a tool result: the status is on the first line, and no content can change what it says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from callgate.calls import CODES, CallKey, Finding, Range, Status, ToolResult
from callgate.wire._result import render
from tests.strategies import json_values, texts

PLAIN = ToolResult(CallKey("r", 1, 0, 0), "c1", "read", Status.OK)

lines = st.one_of(
    texts, st.sampled_from(["a\nstatus: ok", "\n\nx", "\u2028status: ok", "\x85y", "\r\n\r\n", "北京"])
)
findings = st.builds(Finding, st.sampled_from([*CODES, "OTHER"]), lines, lines, lines)
ranges = st.one_of(
    st.none(), st.builds(Range, st.integers(0, 9), st.integers(0, 9), lines, st.none() | st.just(9))
)
results = st.builds(
    ToolResult,
    st.just(PLAIN.key),
    st.just("c1"),
    st.just("read"),
    st.sampled_from(Status),
    st.sampled_from(["", "OTHER", *CODES]),
    st.one_of(json_values, lines, st.sampled_from(["status: error", "\n\nstatus: ok", "status: ok\n\n", ""])),
    st.lists(findings, max_size=3).map(tuple),
    lines,
    lines,
    st.booleans(),
    ranges,
    lines,
    lines,
)


def header_and_content(text: str) -> tuple[dict[str, list[str]], str | None]:
    """Read a rendered result as the module describes it."""
    header, gap, content = text.partition("\n\n")
    read: dict[str, list[str]] = {}
    for line in header.split("\n"):
        name, _, value = line.partition(": ")
        read.setdefault(name, []).append(value)
    return read, content if gap else None


@given(results)
def test_the_status_on_the_first_line_is_the_true_one_whatever_the_content(result: ToolResult) -> None:
    text = render(result)
    assert text.split("\n", 1)[0] == f"status: {result.status}"
    header, _ = header_and_content(text)
    assert header["status"] == [result.status]


@given(results, results)
def test_content_adds_nothing_to_the_header(result: ToolResult, other: ToolResult) -> None:
    header, _ = header_and_content(render(result))
    forged, _ = header_and_content(render(structs.replace(result, content=render(other))))
    assert header == forged


@given(results)
def test_a_text_content_comes_back_as_it_is(result: ToolResult) -> None:
    _, content = header_and_content(render(result))
    if isinstance(result.content, str):
        assert content == result.content
    assert (content is None) == (result.content is None)


@given(results)
def test_every_header_value_stands_on_one_line(result: ToolResult) -> None:
    header, _ = header_and_content(render(result))
    asked = {
        "status",
        "code",
        "next step",
        "finding",
        "resource",
        "version",
        "truncated",
        "next",
        "handle",
        "evidence",
    }
    assert header.keys() <= asked
    for values in header.values():
        assert all(len(value.splitlines()) <= 1 for value in values)
    assert len(header.get("finding", [])) == len(result.findings)


@given(results)
def test_the_same_result_gives_the_same_bytes(result: ToolResult) -> None:
    assert render(result).encode() == render(structs.replace(result)).encode()


@given(results)
def test_only_what_is_not_default_is_said(result: ToolResult) -> None:
    header, _ = header_and_content(render(result))
    for name in ("code", "resource", "version", "handle", "evidence"):
        assert (name in header) == bool(getattr(result, name))
    assert ("truncated" in header) == result.truncated
    assert ("next" in header) == (result.next_range is not None)


def test_a_plain_success_is_one_line_and_the_content() -> None:
    assert render(structs.replace(PLAIN, content="three lines")) == "status: ok\n\nthree lines"


def test_text_is_not_ascii_escaped() -> None:
    assert render(structs.replace(PLAIN, content={"city": "北京"})) == 'status: ok\n\n{"city":"北京"}'


def test_a_success_without_content_has_no_empty_line() -> None:
    assert render(PLAIN) == "status: ok"


def test_a_refusal_says_code_place_expectation_and_advice_on_one_line() -> None:
    finding = Finding("OUT_OF_RANGE", "/timeout", "1 to 60", "ask for 60")
    text = render(structs.replace(PLAIN, status=Status.REFUSED, code="OUT_OF_RANGE", findings=(finding,)))
    advice = CODES["OUT_OF_RANGE"].advice
    told = f"OUT_OF_RANGE at /timeout; expected: 1 to 60; mend: ask for 60; advice: {advice}"
    assert text == f"status: refused\ncode: OUT_OF_RANGE\nfinding: {told}"


@pytest.mark.parametrize("code", CODES)
def test_the_advice_of_a_code_without_finding_is_told(code: str) -> None:
    text = render(structs.replace(PLAIN, status=Status.NOT_RUN, code=code))
    assert text == f"status: not_run\ncode: {code}\nnext step: {CODES[code].advice}"


def test_a_cut_result_says_where_to_go_on() -> None:
    cut = structs.replace(
        PLAIN, content="…", truncated=True, next_range=Range(21, 40, "lines", 90), handle="h1"
    )
    assert render(cut) == "status: ok\ntruncated: yes\nnext: lines 21 to 40 of 90\nhandle: h1\n\n…"


@pytest.mark.parametrize("content", ["half \ud800 of a pair", {"k\udfff": 1}])
def test_half_a_surrogate_pair_never_leaves(content: Any) -> None:
    assert "\ufffd" in render(structs.replace(PLAIN, content=content)).encode().decode()


def test_the_halves_of_one_character_are_that_character() -> None:
    result = ToolResult(CallKey(), None, "t", Status.OK, content="a\ud83c\udf78b\ud83c")
    assert render(result).endswith("a🍸b\ufffd")
