from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import freeze
from callgate.checks import Sources
from callgate.tools import Parameter
from tests.strategies import json_objects


def parameter(where: str, source: str) -> Parameter:
    return Parameter(where.rpartition("/")[2], where=where, source=source)


def unfounded(value: Any, source: str, request: str = "", *results: Any) -> list[str]:
    """The places of values that stand nowhere they should."""
    findings = Sources(request, results).findings([parameter("/v", source)], freeze({"v": value}))
    assert {finding.code for finding in findings} <= {"VALUE_NOT_FROM_SOURCE"}
    return [finding.where for finding in findings]


HOLDS: Final = [
    ("T-1", "close T-1 please", True),
    ("t-1", "close T-1 please", True),
    ("T-1", "close T-12 please", False),
    ("T-1", "close XT-1 please", False),
    ("T-1", "T-12, then T-1", True),
    ("a.py", "read data.py", False),
    ("a.py", "read src/a.py.", True),
    ("12", "412 and 120", False),
    (12, "12 of them", True),
    (12, "120 of them", False),
    (-3, "it was -3 degrees", True),
    (0.5, "take 0.5", True),
    ("北京", "我想知道北京的天气", True),
    ("東京", "我想知道北京的天气", False),
    ("STRASSE", "in der Straße", True),
    ("x", "", False),
    (5, "take 0.5", False),
    (5, "take .5 of it", False),
    (5, "5.5 of them", False),
    (5, "it is -5 there", False),
    (5, "-5", False),
    (500, "1,500 of them", False),
    (1, "1,500 of them", False),
    (500, "Take 500.", True),
    (5, "pages 3-5", True),
    (6, "rows 5,6,7", True),
    (500, "take 500, 600 or 700", True),
    ("T-5", "close T-5, please", True),
    ("Ан", "это Иван", False),
    ("Иван", "это Иван.", True),
    ("caf", "the café", False),
    ("cafe", "the cafe\u0301", False),
    ("café", "the cafe\u0301", True),
    ("ναι", "είναι", False),
    ("5", "要5个", True),
    ("กรุงเทพ", "อากาศในกรุงเทพวันนี้", True),
    ("서울", "서울의 날씨", True),
    ("東京", "東京タワーへ", True),
]


@pytest.mark.parametrize(("value", "text", "holds"), HOLDS)
@pytest.mark.parametrize("source", ["request", "result", "any"])
def test_a_value_must_stand_whole_in_its_source(value: Any, text: str, holds: bool, source: str) -> None:
    said: tuple[Any, ...] = (text,) if source == "request" else ("", {"rows": [{"text": text}]})
    assert unfounded(value, source, *said) == ([] if holds else ["/v"])


def test_each_source_is_looked_for_where_it_is() -> None:
    assert unfounded("T-1", "request", "", "T-1") == ["/v"]
    assert unfounded("T-1", "result", "T-1") == ["/v"]
    assert unfounded("T-1", "any", "", "T-1") == []
    assert unfounded("T-1", "any", "T-1") == []
    assert unfounded("T-1", "", "nothing") == []


@pytest.mark.parametrize("value", [None, True, False, "", [], {}])
def test_what_says_nothing_needs_no_source(value: Any) -> None:
    assert unfounded(value, "request") == []


def test_numbers_and_names_of_a_result_count_as_its_text() -> None:
    result = {"T-1": {"amount": 12, "open": True, "left": None}, "rows": [[0.5]]}
    assert unfounded([12, 0.5, "T-1", "amount"], "result", "", result) == []
    assert unfounded(["True", "None", 1], "result", "", result) == ["/v/0", "/v/1"]


def test_every_item_is_looked_for_and_named() -> None:
    assert unfounded(["a", "b", {"c/d": "e"}], "request", "a") == ["/v/1", "/v/2/c~1d"]


def test_a_place_inside_a_parameter_is_found() -> None:
    arguments = freeze({"people": [{"id": "u1", "note": "x"}, {"id": "u2"}], "a/b": {"~": "u3"}})
    marked = [parameter("/people/*/id", "request"), parameter("/a~1b/~0", "request")]
    findings = Sources("u1").findings(marked, arguments)
    assert [finding.where for finding in findings] == ["/people/1/id", "/a~1b/~0"]


def test_the_finding_says_where_the_value_should_have_come_from_and_not_what_it_was() -> None:
    for source, words in (
        ("request", "the user's request"),
        ("result", "an earlier result"),
        ("any", " or "),
    ):
        (finding,) = Sources().findings([parameter("/v", source)], freeze({"v": "hunter2"}))
        assert words in finding.expected
        assert "hunter2" not in str(finding)


@given(json_objects, st.sampled_from(["request", "result", "any"]))
def test_a_value_that_was_a_result_always_stands_in_it(value: dict[str, Any], source: str) -> None:
    arguments = freeze({"v": value})
    findings = Sources("", (value,)).findings([parameter("/v", source)], arguments)
    assert source == "request" or findings == ()


@given(st.text(min_size=1), st.text(), st.text())
def test_looking_for_a_value_never_fails(value: str, before: str, after: str) -> None:
    assert unfounded(value, "request", f"{before} {value} {after}") == []
