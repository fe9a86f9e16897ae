"""A language model in this process: the `Engine` protocol, and the engine in NumPy.

In: token ids. Out: logits. Promise: an engine is one sequence of tokens, continued by `eval`, cut by
`truncate`, doubled by `fork`; forks share the weights and nothing else, so that two threads may each use
their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, Self

import numpy as np

from callgate.errors import ModelError

from ._bpe import Tokenizer
from ._gguf import GGUF, Floats
from ._llama import Cache, Llama
from ._threads import blas_threads

# Rows in one pass: bounds the arrays of attention scores and of logits whatever the length of the text.
_BATCH = 256
_LOGIT_ROWS = 32


class Engine(Protocol):
    """What a local model must offer.

    ``token_bytes[id]`` are exact; ``end_ids`` end a turn; ``control_ids`` stand for no text.
    """

    @property
    def token_bytes(self) -> Sequence[bytes]: ...

    @property
    def end_ids(self) -> frozenset[int]: ...

    @property
    def control_ids(self) -> frozenset[int]: ...

    @property
    def length(self) -> int:
        """How many tokens are in the sequence."""

    def encode(self, text: str) -> list[int]:
        """Ids of plain text, in which no control token is recognised.

        Raises `ModelError` for a byte without a token.
        """

    def special(self, name: str) -> int | None:
        """The id of a control token, if there is one of that name."""

    def eval(self, ids: Sequence[int]) -> Floats:
        """Append ids, at least one; logits of what may come next, float32 of (vocabulary,)."""

    def truncate(self, length: int) -> None:
        """Forget what comes after the first ``length`` tokens."""

    def fork(self) -> Self:
        """A second sequence with the same past."""

    def logprobs(self, forks: Sequence[Self], ids: Sequence[int]) -> list[Floats]:
        """Append ids to each of ``forks``; for each the log probabilities (natural) of ``ids[1:]``."""


class NumpyEngine:
    """A Llama GGUF computed by NumPy in float32. Use `open`.

    ``threads`` are those of matrix products, where NumPy stands on OpenBLAS: more than one pays only on an
    idle machine. ``context`` is how many tokens a sequence may have: the model's own limit if absent.
    """

    def __init__(
        self, model: Llama, tokenizer: Tokenizer, *, threads: int = 1, context: int | None = None
    ) -> None:
        limit = model.shape.context
        context = limit if context is None else context
        if threads < 1 or not 1 <= context <= limit:
            raise ModelError(
                "1 thread or more, and a context within the model's", threads=threads, limit=limit
            )
        self._model = model
        self._tokenizer = tokenizer
        self._threads = threads
        self._context = context
        self._cache = Cache(model.shape)
        self.token_bytes: Sequence[bytes] = tokenizer.token_bytes
        self.end_ids = tokenizer.end_ids
        self.control_ids = tokenizer.control_ids | tokenizer.end_ids

    @classmethod
    def open(cls, path: Path, *, threads: int = 1, context: int | None = None) -> NumpyEngine:
        """Load the weights: about a second and four bytes a parameter.

        Raises:
            ModelError: no GGUF file of a Llama model with a byte-level BPE tokenizer, or a damaged one.
        """
        with GGUF(path) as file:
            return cls(Llama(file), Tokenizer(file.metadata), threads=threads, context=context)

    @property
    def length(self) -> int:
        """How many tokens are in the sequence."""
        return self._cache.length

    def encode(self, text: str) -> list[int]:
        """Ids of plain text. Raises `ModelError` for a byte without a token."""
        return self._tokenizer.encode(text)

    def special(self, name: str) -> int | None:
        """The id of a control token, if there is one of that name."""
        return self._tokenizer.special(name)

    def eval(self, ids: Sequence[int]) -> Floats:
        """Append ids; logits of what may come next.

        Raises:
            ModelError: no ids, an id outside the vocabulary, or more than the context holds.
        """
        check_ids(ids, len(self.token_bytes), self.length, self._context)
        with blas_threads(self._threads):
            for start in range(0, len(ids), _BATCH):
                hidden = self._model.forward(ids[start : start + _BATCH], [self._cache])
            return self._model.logits(hidden[0, -1])

    def truncate(self, length: int) -> None:
        """Forget what comes after the first ``length`` tokens. Raises `ModelError` if there are fewer."""
        if not 0 <= length <= self.length:
            raise ModelError("Cannot truncate to what is not there", asked=length, length=self.length)
        self._cache.length = length

    def fork(self) -> NumpyEngine:
        """A second sequence with the same past; it copies the keys and values, not the weights."""
        twin = NumpyEngine(self._model, self._tokenizer, threads=self._threads, context=self._context)
        twin._cache = self._cache.copy()
        return twin

    def logprobs(self, forks: Sequence[NumpyEngine], ids: Sequence[int]) -> list[Floats]:
        """Append ids to each of ``forks`` in one batch; log probabilities of ``ids[1:]`` in each.

        Raises:
            ModelError: as `eval`.
        """
        longest = max((fork.length for fork in forks), default=0)
        check_ids(ids, len(self.token_bytes), longest, self._context)
        step = max(1, _BATCH // max(1, len(forks)))
        caches = [fork._cache for fork in forks]  # noqa: SLF001 - its own class
        with blas_threads(self._threads):
            parts = [self._model.forward(ids[at : at + step], caches) for at in range(0, len(ids), step)]
            hidden = np.concatenate(parts, axis=1)
            return [self._chosen(rows[:-1], ids[1:]) for rows in hidden]

    def _chosen(self, hidden: Floats, ids: Sequence[int]) -> Floats:
        out = np.empty(len(ids), np.float32)
        for at in range(0, len(ids), _LOGIT_ROWS):
            logits = self._model.logits(hidden[at : at + _LOGIT_ROWS])
            logits -= logits.max(axis=1, keepdims=True)
            picked = logits[np.arange(len(logits)), np.asarray(ids[at : at + _LOGIT_ROWS])]
            out[at : at + _LOGIT_ROWS] = picked - np.log(np.exp(logits).sum(axis=1))
        return out


def check_ids(ids: Sequence[int], vocabulary: int, length: int, context: int) -> None:
    """Refuse, with a `ModelError`, ids that no engine could append to a sequence of ``length``."""
    if not ids:
        raise ModelError("There is nothing to evaluate: give at least one token id")
    wrong = [i for i in ids if not 0 <= i < vocabulary]
    if wrong:
        raise ModelError("A token id is outside the vocabulary", id=wrong[0], vocabulary=vocabulary)
    if length + len(ids) > context:
        raise ModelError(
            "The sequence would be longer than the context",
            length=length,
            more=len(ids),
            context=context,
            mend="Shorten the request, or the descriptions and examples of the tools.",
        )
