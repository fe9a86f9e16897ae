"""An engine of single bytes that says what it was told to say."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Self

import numpy as np

from callgate.errors import ModelError
from callgate.models.local._gguf import Floats

END: Final = 256
START: Final = 257
VOCABULARY: Final = 258


class Parrot:
    """After a prompt whose text ends with a key of ``sayings`` it says the value, byte by byte, then ends.

    The log probability of a text is given by ``likes``, a function of what came before and the text.
    """

    def __init__(
        self,
        sayings: Mapping[str, bytes | Sequence[int]],
        likes: Callable[[str, str], float] = lambda _, __: 0.0,
    ) -> None:
        self.token_bytes = [bytes([i]) for i in range(256)] + [b"<|im_end|>", b"<|im_start|>"]
        self.end_ids = frozenset({END})
        self.control_ids = frozenset({END, START})
        self.sayings = sayings
        self.likes = likes
        self.ids: list[int] = []
        self.evaluated: list[int] = []

    @property
    def length(self) -> int:
        return len(self.ids)

    @property
    def text(self) -> str:
        return b"".join(self.token_bytes[i] for i in self.ids).decode(errors="replace")

    def encode(self, text: str) -> list[int]:
        if "\x04" in text:
            raise ModelError("The model has no token for a byte of the text", byte="0x04")
        return list(text.encode())

    def special(self, name: str) -> int | None:
        return {"<|im_end|>": END, "<|im_start|>": START}.get(name)

    def eval(self, ids: Sequence[int]) -> Floats:
        self.ids += ids
        self.evaluated.append(len(ids))
        logits = np.zeros(VOCABULARY, np.float32)
        raw = b"".join(self.token_bytes[i] for i in self.ids)
        for key, saying in self.sayings.items():
            _, found, said = raw.rpartition(key.encode())
            if found:
                rest = list(saying)[len(said) :] if list(saying)[: len(said)] == list(said) else []
                logits[rest[0] if rest else END] = 2.0
                break
        return logits

    def truncate(self, length: int) -> None:
        del self.ids[length:]

    def fork(self) -> Self:
        twin = type(self)(self.sayings, self.likes)
        twin.ids, twin.evaluated = list(self.ids), self.evaluated
        return twin

    def logprobs(self, forks: Sequence[Self], ids: Sequence[int]) -> list[Floats]:
        said = bytes(ids[1:]).decode()
        found = [np.array([fork.likes(fork.text, said)], np.float32) for fork in forks]
        for fork in forks:
            fork.ids += ids
        return found
