"""The engine over ``llama-cpp-python``, for any GGUF file that llama.cpp computes.

In: token ids. Out: logits. Promise: that of `Engine`. The sequences take turns in one llama.cpp context: one
is resident, the others wait as saved states, so that a fork costs a copy and no second context. Text whose
bytes llama.cpp would drop (those without a token) is refused.

The functions of llama.h as that package exports them (extra ``llama``); this file alone imports it.
"""

from __future__ import annotations

import ctypes
import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from callgate.errors import ModelError

from ._engine import check_ids
from ._gguf import Floats

_BATCH = 256


def _library() -> Any:
    try:
        import llama_cpp  # noqa: PLC0415 - an optional library, in the one file that owns it
    except (ImportError, OSError, RuntimeError) as error:  # the last two: its compiled part does not load
        raise ModelError(
            "llama-cpp-python cannot be loaded",
            why=str(error),
            mend="Run: pip install 'callgate[llama]' (it compiles for minutes); or use the default engine.",
        ) from error
    logger = logging.getLogger("llama-cpp-python")
    if logger.level == logging.NOTSET:  # it prints all that llama.cpp says to stderr at this level
        logger.setLevel(logging.ERROR)
    return llama_cpp


class _Context:
    """A model and one llama.cpp context, in which one sequence is resident."""

    def __init__(self, path: Path, threads: int, context: int | None) -> None:
        self.library = library = _library()
        library.llama_backend_init()
        self.model = library.llama_model_load_from_file(
            str(path).encode(), library.llama_model_default_params()
        )
        if not self.model:
            raise ModelError(
                "llama.cpp cannot load the file", model=str(path), mend="Check that it is a GGUF file."
            )
        self.size = context or library.llama_model_n_ctx_train(self.model)
        params = library.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = self.size, _BATCH, _BATCH
        params.n_threads = params.n_threads_batch = threads
        self.handle = library.llama_init_from_model(self.model, params)
        if not self.handle:
            library.llama_model_free(self.model)
            raise ModelError("llama.cpp cannot make a context", model=str(path), context=self.size)
        self.batch = library.llama_batch_init(_BATCH, 0, 1)
        weakref.finalize(self, _free, library, self.batch, self.handle, self.model)
        self.memory = library.llama_get_memory(self.handle)
        self.lock = threading.RLock()
        self.resident: weakref.ref[LlamaCppEngine] | None = None
        self._read_vocabulary()

    def _read_vocabulary(self) -> None:
        library = self.library
        self.vocabulary = library.llama_model_get_vocab(self.model)
        count = library.llama_vocab_n_tokens(self.vocabulary)
        self.token_bytes = [self._piece(i) for i in range(count)]
        self.end_ids = self._where(library.llama_vocab_is_eog, count)
        self.control_ids = self._where(library.llama_vocab_is_control, count) | self.end_ids
        self.special = {self.token_bytes[i].decode(errors="replace"): i for i in self.control_ids}

    def _where(self, holds: Callable[..., bool], count: int) -> frozenset[int]:
        return frozenset(i for i in range(count) if holds(self.vocabulary, i))

    def _piece(self, token: int) -> bytes:
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            found = self.library.llama_token_to_piece(self.vocabulary, token, buffer, size, 0, True)
            if found >= 0:
                return buffer.raw[:found]
            size = -found

    def evaluate(self, ids: Sequence[int], past: int, *, every: bool) -> list[Floats]:
        """Append at most a batch of ids; the logits of each, or of the last."""
        for i, token in enumerate(ids):
            self.batch.token[i], self.batch.pos[i] = token, past + i
            self.batch.n_seq_id[i], self.batch.seq_id[i][0] = 1, 0
            self.batch.logits[i] = every or i == len(ids) - 1
        self.batch.n_tokens = len(ids)
        code = self.library.llama_decode(self.handle, self.batch)
        if code:
            raise ModelError("llama.cpp could not evaluate the tokens", llama_decode=code, tokens=len(ids))
        rows = range(len(ids)) if every else [len(ids) - 1]
        return [self._logits(i) for i in rows]

    def _logits(self, row: int) -> Floats:
        found = self.library.llama_get_logits_ith(self.handle, row)
        return np.ctypeslib.as_array(found, (len(self.token_bytes),)).copy()

    def save(self) -> bytes:
        """The state of the resident sequence."""
        size = self.library.llama_state_seq_get_size(self.handle, 0)
        buffer = (ctypes.c_uint8 * size)()
        written = self.library.llama_state_seq_get_data(self.handle, buffer, size, 0)
        return bytes(memoryview(buffer)[:written])

    def load(self, state: bytes | None) -> None:
        """Put another sequence in the place of the resident one; None is the empty one."""
        self.library.llama_memory_seq_rm(self.memory, 0, 0, -1)
        if state is not None:
            buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
            if not self.library.llama_state_seq_set_data(self.handle, buffer, len(state), 0):
                raise ModelError("llama.cpp could not take back a saved sequence", size=len(state))


def _free(library: Any, batch: Any, handle: Any, model: Any) -> None:
    library.llama_batch_free(batch)
    library.llama_free(handle)
    library.llama_model_free(model)


class LlamaCppEngine:
    """An `Engine` over llama.cpp. Use `open`."""

    def __init__(self, context: _Context) -> None:
        self._context = context
        self._state: bytes | None = None  # as of the last time that it was saved
        self._saved = True  # whether `_state` is what the sequence holds
        self._length = 0
        self.token_bytes: Sequence[bytes] = context.token_bytes
        self.end_ids = context.end_ids
        self.control_ids = context.control_ids

    @classmethod
    def open(cls, path: Path, *, threads: int = 1, context: int | None = None) -> LlamaCppEngine:
        """Load a GGUF file.

        Args:
            path: The file.
            threads: For evaluation.
            context: At most this many tokens in a sequence; what the model was trained with if absent.

        Raises:
            ModelError: llama-cpp-python is not installed, or cannot load the file.
        """
        return cls(_Context(path, threads, context))

    @property
    def length(self) -> int:
        """How many tokens are in the sequence."""
        return self._length

    def encode(self, text: str) -> list[int]:
        """Ids of plain text. Raises `ModelError` for a byte without a token."""
        raw = text.encode(errors="surrogatepass")
        buffer = (ctypes.c_int32 * (len(raw) + 8))()
        inner = self._context
        count = inner.library.llama_tokenize(
            inner.vocabulary, raw, len(raw), buffer, len(buffer), False, False
        )
        ids = list(buffer[: max(count, 0)])
        said = b"".join(map(self.token_bytes.__getitem__, ids))
        if raw not in (said, said.removeprefix(b" ")):  # some vocabularies begin every text with a blank
            pairs = enumerate(zip(raw, said, strict=False))
            at = next((i for i, (one, other) in pairs if one != other), min(len(raw), len(said)))
            raise ModelError(
                "The model has no token for a byte of the text",
                byte=f"0x{raw[at]:02x}",
                byte_offset=at,
                mend="Remove or escape the character.",
            )
        return ids

    def special(self, name: str) -> int | None:
        """The id of a control token, if there is one of that name."""
        return self._context.special.get(name)

    def eval(self, ids: Sequence[int]) -> Floats:
        """Append ids; logits of what may come next. Raises `ModelError` as `NumpyEngine.eval` does."""
        return self._append(ids, every=False)[-1]

    def truncate(self, length: int) -> None:
        """Forget what comes after the first ``length`` tokens. Raises `ModelError` if there are fewer."""
        if not 0 <= length <= self._length:
            raise ModelError("Cannot truncate to what is not there", asked=length, length=self._length)
        if length == self._length:
            return
        with self._context.lock:
            self._enter()
            self._saved, self._length = False, length
            self._context.library.llama_memory_seq_rm(self._context.memory, 0, length, -1)

    def fork(self) -> LlamaCppEngine:
        """A second sequence with the same past."""
        twin = LlamaCppEngine(self._context)
        with self._context.lock:
            self._save()
            twin._state, twin._length = self._state, self._length
        return twin

    def logprobs(self, forks: Sequence[LlamaCppEngine], ids: Sequence[int]) -> list[Floats]:
        """Append ids to each of ``forks``; log probabilities of ``ids[1:]`` in each."""
        return [_chosen(fork._append(ids, every=True)[:-1], ids[1:]) for fork in forks]  # noqa: SLF001 - its own class

    def _append(self, ids: Sequence[int], *, every: bool) -> list[Floats]:
        inner = self._context
        check_ids(ids, len(self.token_bytes), self._length, inner.size)
        with inner.lock:
            self._enter()
            self._saved = False
            rows: list[Floats] = []
            for at in range(0, len(ids), _BATCH):
                part = ids[at : at + _BATCH]
                rows += inner.evaluate(part, self._length, every=every)
                self._length += len(part)
            return rows

    def _enter(self) -> None:
        inner = self._context
        resident = inner.resident() if inner.resident is not None else None
        if resident is self:
            return
        if resident is not None:
            resident._save()  # noqa: SLF001 - its own class
        inner.load(self._state)
        inner.resident = weakref.ref(self)

    def _save(self) -> None:
        if not self._saved:
            self._state = self._context.save() if self._length else None
            self._saved = True


def _chosen(rows: Sequence[Floats], ids: Sequence[int]) -> Floats:
    best = np.array([row.max() for row in rows], np.float32)
    total = np.array([np.exp(row - top).sum() for row, top in zip(rows, best, strict=True)], np.float32)
    picked = np.array([row[i] for row, i in zip(rows, ids, strict=True)], np.float32)
    out: Floats = picked - best - np.log(total)
    return out
