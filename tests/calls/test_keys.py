import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import CallKey, call_digest, freeze, idempotency_key
from callgate.errors import LocalProtocolError
from tests.strategies import json_objects

counts: Final = st.integers(0, 10**9)
keys: Final = st.builds(CallKey, st.text(), counts, counts, counts)


@given(keys)
def test_a_key_is_read_back_from_what_is_written(key: CallKey) -> None:
    assert CallKey.parse(str(key)) == key


def test_a_run_may_hold_what_separates() -> None:
    assert CallKey.parse("2024/a.b/3.0.12") == CallKey("2024/a.b", 3, 0, 12)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "r",
        "r/1",
        "r/1.2",
        "r/1.2.3.4",
        "r/1.2.x",
        "r/-1.0.0",
        "r/1.0.²",
        "r/1.0.0\n",
        "r/1. 0.0",
        "r/" + "9" * 5000,
    ],
    ids=lambda text: text[:12],
)
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(LocalProtocolError, match=r"run/turn\.attempt\.position"):
        CallKey.parse(text)


GOLDEN: Final = {
    CallKey("r1", 0, 0, 0): "cg_ca52dc67f3146c142012e1b86ef83be7",
    CallKey("r1", 0, 0, 1): "cg_5048291d6e833e48370517cad1c25f30",
    CallKey("资料", 12, 3, 4): "cg_c0e801afa8d5aa7a94c6ea03a2859e79",
}


@pytest.mark.parametrize("key", GOLDEN, ids=str)
def test_the_idempotency_key_never_changes(key: CallKey) -> None:
    """A key that changed between two versions would let an effect happen twice after an upgrade."""
    assert idempotency_key(key, "0f" * 32) == GOLDEN[key]


@given(keys, keys, st.sampled_from(["a" * 64, "b" * 64]), st.sampled_from(["a" * 64, "b" * 64]))
def test_two_calls_never_share_an_idempotency_key(
    one: CallKey, other: CallKey, said: str, heard: str
) -> None:
    same = (one, said) == (other, heard)
    assert (idempotency_key(one, said) == idempotency_key(other, heard)) == same


@given(keys)
def test_an_idempotency_key_fits_where_such_keys_go(key: CallKey) -> None:
    assert re.fullmatch(r"cg_[0-9a-f]{32}", idempotency_key(key, "a" * 64))


def test_neighbouring_numbers_are_not_confused() -> None:
    made = {
        idempotency_key(key, digest)
        for digest in ("", "1")
        for key in (
            CallKey("1", 1, 11, 1),
            CallKey("1", 11, 1, 1),
            CallKey("", 1, 1, 11),
            CallKey("1\n1", 1, 1, 1),
        )
    }
    assert len(made) == 8


@given(json_objects, json_objects)
def test_a_reused_call_id_changes_no_key(one: dict[str, object], other: dict[str, object]) -> None:
    """R044: the identity of a call is its place in the run; the provider's id is no part of it."""
    first = idempotency_key(CallKey("r", 0, 0, 0), call_digest("t", "d", freeze(one)))
    second = idempotency_key(CallKey("r", 1, 0, 0), call_digest("t", "d", freeze(other)))
    assert first != second
