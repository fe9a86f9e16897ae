"""Files as text, and one replacement that keeps the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.errors import ToolError
from callgate.workspace._text import BOM, Replacement, lines_of, text_of

WORDS = st.text(alphabet="ab\n\r ", max_size=20)
PIECES = st.text(alphabet="ab\n", min_size=1, max_size=3)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("资料\n".encode(), "资料\n"),
        (BOM.encode() + b"a", BOM + "a"),
        (b"\x1b[0m\x7f", "\x1b[0m\x7f"),
    ],
)
def test_utf_8_is_text(data: bytes, text: str) -> None:
    assert text_of(data, "f") == text
    assert text_of(data, "f").encode() == data


@pytest.mark.parametrize(
    "data", [b"a\0b", b"\xff\xfea\0", b"caf\xe9", b"\xed\xa0\x80", b"\xc0\xaf", b"\x89PNG"]
)
def test_anything_else_is_not(data: bytes) -> None:
    with pytest.raises(ToolError) as refused:
        text_of(data, "f")
    assert refused.value.tool_code == "NOT_TEXT"


@given(text=st.text(alphabet="ab\n\r\u2028\x0c\x85", max_size=20))
def test_lines_are_the_text_and_only_a_line_feed_ends_one(text: str) -> None:
    lines = lines_of(text)
    assert "".join(lines) == text
    assert all(line.count("\n") == line.endswith("\n") for line in lines)
    assert len(lines) == text.count("\n") + (not text.endswith("\n") and text != "")


@given(before=WORDS, old=PIECES, new=st.text(alphabet="cd\n", max_size=3), after=WORDS)
def test_a_text_that_occurs_once_is_replaced_and_the_rest_kept(
    before: str, old: str, new: str, after: str
) -> None:
    text = before + old + after
    replacement = Replacement(old, new)
    if len(list(replacement.places(text))) > 1:
        with pytest.raises(ToolError) as refused:
            replacement.apply(text, "f")
        assert refused.value.tool_code == "AMBIGUOUS"
    else:
        changed = replacement.apply(text, "f")
        assert changed == before + new + after
        assert not new or text in set(replacement.origins(changed))


def test_overlapping_places_are_two_places() -> None:
    with pytest.raises(ToolError) as refused:
        Replacement("aa", "b").apply("x\naaa", "f")
    assert refused.value.facts == {"path": "f", "count": 2, "lines": [2, 2]}


def test_no_place_is_told_apart_from_several() -> None:
    with pytest.raises(ToolError) as refused:
        Replacement("c", "b").apply("aaa", "f")
    assert (refused.value.tool_code, refused.value.facts["count"]) == ("NO_MATCH", 0)


def test_only_the_first_places_are_named() -> None:
    with pytest.raises(ToolError) as refused:
        Replacement("a", "b").apply("a\n" * 1000, "f")
    assert refused.value.facts["count"] == 1000
    assert refused.value.facts["lines"] == list(range(1, 11))


@pytest.mark.parametrize(
    ("text", "old", "new", "changed"),
    [
        ("a\r\nb\r\n", "a\nb", "x\ny", "x\r\ny\r\n"),
        ("a\r\nb\r\n", "a\r\nb", "x\ny", "x\r\ny\r\n"),
        ("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("a\nb\n", "a", "x\r\ny", "x\r\ny\nb\n"),
        ("a\r\nb\nc", "b\nc", "x\ny", "a\r\nx\ny"),
        ("a\r\nb\nc", "a\r\nb", "x", "x\nc"),
    ],
)
def test_a_replacement_takes_the_line_ends_of_its_file(text: str, old: str, new: str, changed: str) -> None:
    assert Replacement.fitted(text, old, new).apply(text, "f") == changed
