"""How many tokens a text is, roughly."""

import json
import re
from pathlib import Path
from statistics import median

from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import ToolCall, Turn
from callgate.models import estimate_reply, estimate_tokens
from tests.corpus import CORPUS, needs_corpus


@given(st.text(max_size=200))
def test_a_text_that_is_not_empty_is_at_least_one_token(text: str) -> None:
    assert estimate_tokens(text) >= bool(text)
    assert estimate_tokens(text) <= len(text)


@given(st.text(max_size=99), st.text(max_size=99))
def test_more_text_is_never_less(one: str, two: str) -> None:
    assert estimate_tokens(one + two) >= max(estimate_tokens(one), estimate_tokens(two))


def test_chinese_counts_by_the_character() -> None:
    assert estimate_tokens("北京的天气") == 5
    assert estimate_tokens("the weather in B") == 4


def test_a_call_counts_with_its_frame() -> None:
    assert estimate_reply(Turn(calls=(ToolCall("ls"),))) > estimate_tokens("ls") > 0


def _written(case: Path) -> tuple[int, Turn] | None:
    """What the provider counted for a recorded reply, and what was in it; none where reasoning is counted
    in."""
    expected = json.loads(case.read_text(encoding="utf-8"))
    body = case.with_name(case.name.replace(".expected.json", ".sse")).read_text("utf-8", "replace")
    counts = re.findall(r'"(?:completion_tokens|output_tokens)":\s*(\d+)', body)
    if not counts or re.search(r'"reasoning_tokens":\s*[1-9]|"thinking|"reasoning(_content)?":\s*"', body):
        return None
    calls = tuple(
        ToolCall(call["name"] or "", arguments_text=call["arguments_text"] or "")
        for call in expected["calls"]
    )
    return int(counts[-1]), Turn(text=expected["text"], calls=calls)


@needs_corpus
def test_recorded_replies_are_estimated_within_a_factor_of_two_in_the_middle() -> None:
    cases = [
        path
        for path in (CORPUS / "streams").glob("*/*.expected.json")
        if path.with_name(path.name.replace(".expected.json", ".sse")).exists()
    ]
    told = [written for case in cases if (written := _written(case)) and written[0] and written[1].calls]
    ratios = [counted / estimate_reply(turn) for counted, turn in told]
    assert len(ratios) > 40
    assert 0.5 < median(ratios) < 2
