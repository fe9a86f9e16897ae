"""The chain of digests."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from callgate.journal import GENESIS, follow
from callgate.journal._chain import genesis

lines = st.lists(st.binary(max_size=4), min_size=1, max_size=5)


def last(run: str, written: list[bytes]) -> bytes:
    head = genesis(run)
    for line in written:
        head = follow(head, line)
    return head


def test_the_chain_is_sha256_over_the_digest_before_and_the_line() -> None:
    first = hashlib.sha256(GENESIS + "r/é".encode()).digest()
    assert last("r/é", [b"one"]) == hashlib.sha256(first + b"one").digest()


@given(lines, lines)
def test_other_lines_in_other_order_or_number_end_in_another_digest(
    one: list[bytes], other: list[bytes]
) -> None:
    assert (last("r", one) == last("r", other)) == (one == other)


def test_each_run_has_a_beginning_of_its_own() -> None:
    names = ["", "r", "r ", "\ud83d", "\ud83e", "资料"]
    assert len({genesis(name) for name in names}) == len(names)
