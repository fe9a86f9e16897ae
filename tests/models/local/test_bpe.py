import json
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callgate.errors import ModelError
from callgate.models.local import NumpyEngine
from callgate.models.local._bpe import Tokenizer
from tests.models.local import tiny

TINY = Tokenizer(tiny.metadata())
GOLDEN = json.loads((Path(__file__).parent / "golden" / "tokens.json").read_text(encoding="utf-8"))


def sayable(text: str) -> bool:
    return not any(byte in tiny.MISSING for byte in text.encode())


def joined(ids: Sequence[int], tokenizer: Tokenizer = TINY) -> bytes:
    return b"".join(tokenizer.token_bytes[i] for i in ids)


texts = st.text().filter(sayable)


@given(texts)
@example('hello world {"a": 10}')
@example("<|im_end|>")
@example("a" * 3000)
def test_the_bytes_of_the_ids_are_the_bytes_of_the_text(text: str) -> None:
    assert joined(TINY.encode(text)) == text.encode()


@given(texts)
def test_no_text_becomes_a_control_token(text: str) -> None:
    assert not TINY.control_ids & set(TINY.encode(f"{text}<|im_end|>{text}<|endoftext|>"))


def naive(ids: list[int]) -> list[int]:
    """Join the leftmost pair of the lowest rank until there is none, by the definition."""
    words = tiny.tokens()
    ranks = {tuple(map(words.index, merge.split(" "))): i for i, merge in enumerate(tiny.MERGES)}
    while True:
        found = [(ranks[pair], i) for i, pair in enumerate(pairwise(ids)) if pair in ranks]
        if not found:
            return ids
        _, at = min(found)
        ids = [*ids[:at], words.index(words[ids[at]] + words[ids[at + 1]]), *ids[at + 2 :]]


@given(st.text(alphabet="helowrd", min_size=1))
def test_pairs_are_joined_by_rank_and_from_the_left(word: str) -> None:
    single = [TINY.token_bytes.index(bytes([byte])) for byte in word.encode()]
    assert TINY.encode(word) == naive(single)


def pieces(text: str) -> list[str]:
    """GPT-2's rule by hand, after each number has been cut out: a slow, plain reading."""
    found: list[str] = []
    run = ""
    for char in text:
        if unicodedata.category(char)[0] == "N":
            found += [*plain(run), char]
            run = ""
        else:
            run += char
    return [*found, *plain(run)]


WHITE = set("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | set(map(chr, range(0x2000, 0x200B)))


def kind(char: str) -> str:
    if char in WHITE:
        return "white"
    return "letter" if unicodedata.category(char)[0] == "L" else "other"


def plain(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        size = next(
            (len(end) for end in ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d") if text.startswith(end, at)), 0
        )
        if not size:
            start = at + (text[at] == " " and at + 1 < len(text) and kind(text[at + 1]) != "white")
            size = start - at
            while at + size < len(text) and kind(text[at + size]) == kind(text[start]):
                size += 1
            # A run of blanks leaves its last one to what follows.
            if kind(text[start]) == "white" and at + size < len(text) and size > 1:
                size -= 1
        found.append(text[at : at + size])
        at += size
    return found


kinds = st.sampled_from(" \t\n\xa0\u3000\x1c\x1f\x85aZé字ß1٣½²一'\"{!🎉\u200b_")
mixed = st.lists(kinds | st.sampled_from(["'s", "'ll", "  ", "it's", " 10"])).map("".join)


@given(mixed)
def test_text_is_split_by_letters_numbers_and_white_space_of_unicode(text: str) -> None:
    shadow = text.translate(TINY._stand_ins)
    assert [text[m.start() : m.end()] for m in TINY._pieces.finditer(shadow)] == pieces(text)


@pytest.mark.parametrize("text", ["a\x04b", "né\x04"])
def test_a_byte_without_a_token_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(ModelError) as caught:
        TINY.encode(text)
    assert caught.value.facts["byte"] == "0x04"
    assert caught.value.facts["byte_offset"] == text.encode().index(4)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(ModelError, match=r"U\+D83D"):
        TINY.encode("ab\ud83d")


def test_control_tokens_are_had_by_name_only() -> None:
    assert TINY.special("<|im_end|>") == 2
    assert TINY.special("hello") is None
    assert TINY.special("<|nothing|>") is None
    assert TINY.end_ids == {0, 2}


WRONG = {
    "another model": {"ggml.model": "llama"},
    "another pre-tokenizer": {"ggml.pre": "llama-bpe"},
    "no merges": {"ggml.merges": None},
    "types for other tokens": {"ggml.token_type": [1, 1]},
    "a merge of nothing": {"ggml.merges": ["h q q"]},
    "a token outside the alphabet": {"ggml.tokens": [*tiny.tokens()[:-1], "\u4e00"]},
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_tables_that_do_not_fit_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ModelError):
        Tokenizer(tiny.metadata(**changes))


def test_long_runs_cost_no_more_than_their_length() -> None:
    assert joined(TINY.encode("hello" * 5_000)) == b"hello" * 5_000


def test_the_published_vocabulary_encodes_as_its_reference_does(smollm: NumpyEngine) -> None:
    for text, ids in GOLDEN["texts"]:
        assert smollm.encode(text) == ids
        assert b"".join(smollm.token_bytes[i] for i in ids) == text.encode()


def test_the_published_vocabulary_has_49152_tokens_and_17_controls(smollm: NumpyEngine) -> None:
    assert len(smollm.token_bytes) == 49_152
    assert smollm.control_ids == set(range(17))
    single = {raw[0] for raw in smollm.token_bytes if len(raw) == 1}
    assert sorted(set(range(256)) - single) == GOLDEN["bytes_without_a_token"]
