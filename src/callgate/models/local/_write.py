"""Writing one JSON object, token by token.

In: an engine that has read the prompt, and its logits. Out: bytes as they are decoded, up to the closing
brace. Promise: the most probable token is taken, always; strings prefer what the request says (see
`Copying`); what comes out is the model's, not repaired, and an object that does not close within the budget
stays open.

JSON: RFC 8259.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from ._engine import Engine
from ._gguf import Floats

# A word may be copied from where it starts, and a copy may end where a word ends, past punctuation.
_STARTS = re.compile(rb"(?:(?<![^\s\"'(\[{`])|(?<=\\[nrt]))(?=\S)")
_ENDS = re.compile(rb"(?:[.,;:!?)\]}'\"`]|\\\")*(?:\s|\\[nrt]|\Z)")
_SHUTS = re.compile(rb'"[\s,}\]]*"?')

# Enough text for its first token to be the one that the whole text would begin with.
_AHEAD = 40


class ObjectScan:
    """Where in a JSON object the text stands.

    Only nesting and strings are followed; the rest is the decoder's to judge.
    """

    def __init__(self) -> None:
        self._stack: list[int] = []
        self._string: bytearray | None = None
        self._escaped = False
        self._is_key = False
        self._last = 0  # the last byte outside strings that is no blank
        self._line_ends = 0  # in a row
        self.broken = False  # a raw line break in a string, or a blank line: the model has left the object

    @property
    def value(self) -> bytes | None:
        """The bytes so far of the string value that is open, as written; None outside, and inside a key."""
        return None if self._string is None or self._is_key else bytes(self._string)

    def feed(self, data: bytes) -> int | None:
        """Take bytes; how many of them belong to the object once it is closed, else None."""
        for at, byte in enumerate(data):
            self._line_ends = self._line_ends + 1 if byte == ord("\n") else 0
            self.broken |= self._line_ends > (self._string is None)
            if self._string is not None:
                self._in_string(byte, self._string)
            elif byte == ord('"'):
                self._string = bytearray()
                self._is_key = bool(self._stack) and self._stack[-1] == ord("{") and self._last in b"{,"
            elif byte not in b" \t\r\n":
                self._last = byte
                if byte in b"{[":
                    self._stack.append(byte)
                elif byte in b"}]":
                    self._stack[-1:] = []
                    if not self._stack:
                        return at + 1
        return None

    def _in_string(self, byte: int, string: bytearray) -> None:
        if byte == ord('"') and not self._escaped:
            self._string, self._last = None, byte
            return
        self._escaped = byte == ord("\\") and not self._escaped
        string.append(byte)


class Copying:
    """A preference for string values that occur in the request, or in the examples but not in their requests.

    A small model knows which words it should copy but likes to "correct" them; ``bias`` is added to the
    logits of the token that goes on with a span begun at a word, and of those that close the string where a
    word ends. It is a preference: the model may still write anything.
    """

    def __init__(self, engine: Engine, bias: float) -> None:
        self._engine = engine
        self._bias = np.float32(bias)
        self._shuts = np.array([i for i, raw in enumerate(engine.token_bytes) if _SHUTS.fullmatch(raw)])

    def steer(self, request: str, constants: Collection[str]) -> Callable[[bytes, Floats], Floats]:
        """For one request: from the string value so far and logits to logits."""
        text = _escaped(request)
        spans = [text[match.start() :] for match in _STARTS.finditer(text)]
        spans += [_escaped(constant) for constant in constants]

        def steered(value: bytes, logits: Floats) -> Floats:
            rests = [span[len(value) :] for span in spans if span.startswith(value)]
            onward = {token for rest in rests if (token := self._onward(rest)) is not None}
            out = logits.copy()
            out[list(onward)] += self._bias
            if value and any(_ENDS.match(rest) for rest in rests):
                out[self._shuts] += self._bias
            return out

        return steered

    def _onward(self, rest: bytes) -> int | None:
        if not rest or rest[0] & 0xC0 == 0x80:  # nothing left, or in the middle of a character
            return None
        return self._engine.encode(rest[:_AHEAD].decode(errors="ignore"))[0]


def constants(examples: Sequence[tuple[str, object]]) -> list[str]:
    """String values of (request, arguments) pairs that their own request does not contain."""
    found = {text for request, value in examples for text in _strings(value) if text not in request}
    return sorted(found)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _escaped(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False)[1:-1].encode(errors="replace")


def openers(engine: Engine) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """The tokens with which an object can begin."""
    return np.array([i for i, raw in enumerate(engine.token_bytes) if raw.lstrip(b" ").startswith(b"{")])
