"""What a model's server says when it does not reply."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.models._answer import error_in, may_pass, retry_after

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"error":{"type":"invalid_request_error","message":"no"}}', ("invalid_request_error", "no")),
        ('{"type":"error","error":{"type":"overloaded_error","message":"no"}}', ("overloaded_error", "no")),
        ('{"error":{"code":"model_not_found","message":"no","type":null}}', ("model_not_found", "no")),
        ('{"error":{"code":404,"message":"no","status":"NOT_FOUND"}}', ("NOT_FOUND", "no")),
        ('[{"error":{"message":"no","status":"INVALID"}}]', ("INVALID", "no")),
        ('{"error":"no"}', ("", "no")),
        ('{"detail":"no"}', ("", "no")),
        ('{"message":"no","code":"x"}', ("x", "no")),
        ("no", ("", "no")),
        ("<html>a whole page</html>", ("", "")),
        ("", ("", "")),
    ],
)
def test_the_error_is_found_in_the_shapes_servers_use(body: str, told: tuple[str, str]) -> None:
    assert error_in(body.encode()) == told


@given(
    st.one_of(st.binary(max_size=60), st.recursive(st.none() | st.text(), st.lists).map(repr).map(str.encode))
)
def test_no_body_breaks_the_reader(body: bytes) -> None:
    kind, said = error_in(body)
    assert isinstance(kind, str)
    assert isinstance(said, str)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0 "}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:30 GMT"}, 10.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 01 Jan 2024 00:00:05 GMT", "date": "Mon, 01 Jan 2024 00:00:00 GMT"}, 5.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "Tue, 99 Nov 2023 99:13:30 GMT"}, None),
        ({}, None),
    ],
)
def test_the_wait_a_server_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@given(st.text(max_size=40))
def test_no_header_breaks_the_reader(text: str) -> None:
    told = retry_after({"retry-after": text, "date": text, "retry-after-ms": text}, NOW)
    assert told is None or told >= 0


def test_the_server_has_the_last_word_on_whether_to_ask_again() -> None:
    assert may_pass(400, {"x-should-retry": "true"}, "")
    assert not may_pass(529, {"x-should-retry": "false"}, "")
    assert may_pass(529, {"x-should-retry": "maybe"}, "")
