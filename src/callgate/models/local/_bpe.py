"""A byte-exact byte-pair tokenizer.

In: text. Out: token ids, and for every token its exact bytes. Promise: the bytes of the ids are the UTF-8
bytes of the text, always; a byte that has no token is refused with its place, never dropped; text never
becomes a control token, whatever it spells.

Byte alphabet, pre-splitting and merging are those of GPT-2 (Radford et al. 2019, encoder.py of the released
code; BPE after Sennrich et al. 2016, arXiv:1508.07909); the pre-tokenizer ``smollm`` also makes every digit a
piece of its own. Letters and numbers are those of this Python's `unicodedata`: a code point that a later
Unicode assigns may be split otherwise elsewhere.
"""

from __future__ import annotations

import heapq
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from callgate.errors import ModelError

# In `tokenizer.ggml.token_type`.
_CONTROL = 3

# One ASCII stand-in for every kind of character that the splitting rule tells apart. Uppercase, because a
# contraction ('s, 't, ...) is lowercase ASCII only.
_LETTER, _NUMBER, _SPACE, _OTHER = "Z0\t!"

# Unicode White_Space (PropList.txt). `str.isspace` would add U+001C to U+001F.
_WHITE = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000").union(
    map(chr, range(0x2000, 0x200B))
)

# GPT-2's rule on stand-ins. Where digits are cut out first, a run of spaces before a digit is at the end of
# its piece: it keeps its last space, where before a word it leaves that to the word.
_RULE = (
    r"'(?:[sdmt]|ll|ve|re)| ?[A-Za-z]+|%s| ?[^\t\n\v\f\r A-Za-z0-9]+"
    r"|[\t\n\v\f\r ]+(?![^\t\n\v\f\r %s])|[\t\n\v\f\r ]+"
)
_PIECES = {
    "smollm": re.compile(_RULE % ("[0-9]", "0-9")),
    "gpt-2": re.compile(_RULE % (" ?[0-9]+", "")),
}


class _StandIns(dict[int, str]):
    """For `str.translate`: code point to stand-in, found at first use."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = {"L": _LETTER, "N": _NUMBER}.get(unicodedata.category(char)[0], _OTHER)
        self[code] = kind = _SPACE if char in _WHITE else kind
        return kind


def _byte_alphabet() -> dict[str, int]:
    """GPT-2's character for every byte: itself where printable in Latin-1, else the next from U+0100."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


class Tokenizer:
    """Text to token ids by the tables of a GGUF file.

    ``token_bytes[id]`` are the bytes of a token; for a control token the bytes of its name. ``control_ids``
    are the tokens that stand for no text. ``end_ids`` end a turn.

    Raises:
        ModelError: the metadata describes another kind of tokenizer, or its tables do not fit together.
    """

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        tokens: list[str] = _required(metadata, "tokenizer.ggml.tokens")
        merges: list[str] = _required(metadata, "tokenizer.ggml.merges")
        kinds: list[int] = _required(metadata, "tokenizer.ggml.token_type")
        model, split = (metadata.get(f"tokenizer.ggml.{key}") for key in ("model", "pre"))
        if model != "gpt2" or split not in _PIECES:
            raise ModelError(
                "Only byte-level BPE ('gpt2') with a pre-tokenizer that is known is read here",
                found=(model, split),
                known=sorted(_PIECES),
                mend="Use the engine of the extra 'llama'.",
            )
        if len(kinds) != len(tokens):
            raise ModelError("tokenizer.ggml.token_type and tokens differ in length", found=len(kinds))
        self._pieces = _PIECES[split]
        self.control_ids = frozenset(i for i, kind in enumerate(kinds) if kind == _CONTROL)
        self.token_bytes = _token_bytes(tokens, self.control_ids)
        self._ids = {token: i for i, token in enumerate(tokens)}
        self.end_ids = _end_ids(metadata, self._ids)
        single = {raw: i for i, raw in enumerate(self.token_bytes) if i not in self.control_ids}
        self._byte_ids = [single.get(bytes([byte]), -1) for byte in range(256)]
        self._merges = _merges(merges, self._ids)
        self._cache: dict[str, tuple[int, ...]] = {}
        self._stand_ins = _StandIns({code: chr(code) for code in range(128)})
        for code in (*range(9), *range(14, 32), 127):
            self._stand_ins[code] = _OTHER

    def special(self, name: str) -> int | None:
        """The id of a control token, e.g. ``<|im_end|>``, if there is one of that name."""
        found = self._ids.get(name)
        return found if found in self.control_ids else None

    def encode(self, text: str) -> list[int]:
        """The ids of ``text``; the name of a control token inside it is plain text.

        Raises:
            ModelError: a byte of the UTF-8 form has no token, or the text holds a surrogate, which has no
                UTF-8 form.
        """
        shadow = text.translate(self._stand_ins)
        ids: list[int] = []
        for match in self._pieces.finditer(shadow):
            piece = text[match.start() : match.end()]
            known = self._cache.get(piece)
            if known is None:
                known = self._encode_piece(piece, text, match.start())
                # Words recur, long runs do not; the cap bounds memory on hostile text.
                if len(piece) <= 32 and len(self._cache) < 100_000:
                    self._cache[piece] = known
            ids.extend(known)
        return ids

    def _encode_piece(self, piece: str, text: str, start: int) -> tuple[int, ...]:
        try:
            raw = piece.encode()
        except UnicodeEncodeError as error:
            raise ModelError(
                "The text holds a lone surrogate, which has no UTF-8 form",
                character=f"U+{ord(piece[error.start]):04X}",
                offset=start + error.start,
                mend="Replace the character.",
            ) from None
        ids = [self._byte_ids[byte] for byte in raw]
        if -1 in ids:
            at = ids.index(-1)
            raise ModelError(
                "The model has no token for a byte of the text",
                byte=f"0x{raw[at]:02x}",
                byte_offset=len(text[:start].encode()) + at,
                mend="Remove or escape the character.",
            )
        return tuple(_merged(ids, self._merges))


def _merged(ids: list[int], merges: Mapping[tuple[int, int], tuple[int, int]]) -> Iterator[int]:
    """Join neighbours by rank, lowest first and leftmost among equals, in O(n log n)."""
    alive: list[int] = list(ids)  # -1 where a token was joined to its left neighbour
    after = [*range(1, len(ids)), -1]
    before = list(range(-1, len(ids) - 1))
    heap: list[tuple[int, int, int, int, int]] = []

    def offer(left: int, right: int) -> None:
        if left >= 0 and right >= 0 and (found := merges.get((alive[left], alive[right]))):
            heapq.heappush(heap, (found[0], left, found[1], alive[left], alive[right]))

    for left in range(len(ids) - 1):
        offer(left, left + 1)
    while heap:
        _, left, joined, first, second = heapq.heappop(heap)
        right = after[left]
        if alive[left] != first or right < 0 or alive[right] != second:
            continue  # one of the two has been joined to something else since
        alive[left], alive[right] = joined, -1
        after[left] = after[right]
        if after[left] >= 0:
            before[after[left]] = left
        offer(before[left], left)
        offer(left, after[left])
    return (token for token in alive if token >= 0)


def _required(metadata: Mapping[str, Any], key: str) -> list[Any]:
    value = metadata.get(key)
    if not isinstance(value, list) or not value:
        raise ModelError("The model file has no tokenizer table", key=key, mend="Convert the model again.")
    return value


def _token_bytes(tokens: list[str], control: frozenset[int]) -> list[bytes]:
    alphabet = _byte_alphabet()
    found: list[bytes] = []
    for i, token in enumerate(tokens):
        if i in control:
            found.append(token.encode())
            continue
        try:
            found.append(bytes([alphabet[char] for char in token]))
        except KeyError as error:
            raise ModelError("A token is not in the byte alphabet", id=i, character=error.args[0]) from None
    return found


def _merges(lines: list[str], ids: Mapping[str, int]) -> dict[tuple[int, int], tuple[int, int]]:
    """(left id, right id) to (rank, joined id)."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for rank, line in enumerate(lines):
        left, _, right = line.partition(" ")
        try:
            found.setdefault((ids[left], ids[right]), (rank, ids[left + right]))
        except KeyError as error:
            missing = error.args[0]
            raise ModelError("A merge names a token that is not there", rank=rank, token=missing) from None
    return found


def _end_ids(metadata: Mapping[str, Any], ids: Mapping[str, int]) -> frozenset[int]:
    declared = {metadata.get(f"tokenizer.ggml.{key}_token_id") for key in ("eos", "eot")}
    named = {ids.get(name) for name in ("<|im_end|>", "<|endoftext|>", "<|eot_id|>")}
    return frozenset(i for i in declared | named if isinstance(i, int) and 0 <= i < len(ids))
