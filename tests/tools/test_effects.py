"""The effect class: from the verb, and what MCP hints may do to it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import Effect, Mode
from callgate.tools import MODES, NOTES, RANK, said_by_name, words
from callgate.tools._effects import raised_by_hints

R, W, D, X = Effect


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("read_file", R),
        ("getUser", R),
        ("list", R),
        ("search-text", R),
        ("create_issue", W),
        ("UpdateRow", W),
        ("write_file", W),
        ("delete_file", D),
        ("drop.table", D),
        ("send_mail", D),
        ("deploy_app", D),
        ("pay_invoice", D),
        ("run_command", X),
        ("exec", X),
        ("reader", None),
        ("file_delete", None),
        ("getter_x", None),
        ("数", None),
        ("", None),
    ],
)
def test_the_first_word_says_the_class(name: str, effect: Effect | None) -> None:
    assert said_by_name(name) is effect


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("HTTPServer", ["http", "server"]),
        ("get_v2URL", ["get", "v", "2", "url"]),
        ("a-b.c d", ["a", "b", "c", "d"]),
    ],
)
def test_the_words_of_a_name(name: str, expected: list[str]) -> None:
    assert words(name) == expected


@pytest.mark.parametrize(
    ("effect", "hints", "raised"),
    [
        (R, {}, R),
        (R, {"readOnlyHint": True, "destructiveHint": True}, R),
        (R, {"readOnlyHint": False, "destructiveHint": False}, W),
        (R, {"readOnlyHint": False}, D),
        (R, {"destructiveHint": True}, D),
        (W, {"readOnlyHint": True}, W),
        (X, {"destructiveHint": True}, X),
        (R, {"readOnlyHint": "false"}, R),
    ],
)
def test_hints_raise_a_class(effect: Effect, hints: dict[str, Any], raised: Effect) -> None:
    assert raised_by_hints(effect, hints) is raised


@given(
    st.sampled_from(Effect),
    st.dictionaries(
        st.sampled_from(["readOnlyHint", "destructiveHint", "openWorldHint"]), st.booleans() | st.none()
    ),
)
def test_no_hint_lowers_a_class(effect: Effect, hints: dict[str, Any]) -> None:
    assert RANK[raised_by_hints(effect, hints)] >= RANK[effect]


def test_each_class_has_its_note_and_mode() -> None:
    assert set(NOTES) == set(MODES) == set(RANK) == set(Effect)
    assert len(set(NOTES.values())) == len(Effect)
    assert [effect for effect in Effect if MODES[effect] is Mode.READ] == [R]
