"""Turn-taking in one context on a stand-in for the C library; numbers on the library itself, where it is."""

import ctypes
import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgate.errors import ModelError
from callgate.models.local import Engine, LlamaCppEngine, LocalCaller, NumpyEngine
from callgate.models.local import _llama_cpp as subject
from tests.models.local.judging import REQUESTS, TOOLS
from tests.models.local.test_caller import READ

PIECES = [bytes([i]) for i in range(256)] + [b"<|im_end|>", b"<|im_start|>", b"hello"]
DROPPED = 0x04


class Library:
    """What the engine uses of llama.h, over bytes; the logits are a function of the sequence alone."""

    def __init__(self, *, loads: bool = True) -> None:
        self.loads = loads
        self.sequence: list[int] = []
        self.rows: list[list[int]] = []
        self.freed: list[str] = []

    def llama_backend_init(self) -> None: ...

    def llama_model_default_params(self) -> object:
        return object()

    def llama_context_default_params(self) -> SimpleNamespace:
        return SimpleNamespace()

    def llama_model_load_from_file(self, path: bytes, params: object) -> str:
        return "model" if self.loads else ""

    def llama_model_n_ctx_train(self, model: str) -> int:
        return 600

    def llama_init_from_model(self, model: str, params: SimpleNamespace) -> str:
        return "context" if params.n_ctx < 1000 else ""

    def llama_batch_init(self, size: int, embedding: int, sequences: int) -> SimpleNamespace:
        rows = [[0] for _ in range(size)]
        return SimpleNamespace(
            token=[0] * size, pos=[0] * size, n_seq_id=[0] * size, seq_id=rows, logits=[0] * size, n_tokens=0
        )

    def llama_batch_free(self, batch: object) -> None:
        self.freed.append("batch")

    def llama_free(self, handle: str) -> None:
        self.freed.append(handle)

    def llama_model_free(self, model: str) -> None:
        self.freed.append(model)

    def llama_get_memory(self, handle: str) -> None: ...

    def llama_model_get_vocab(self, model: str) -> None: ...

    def llama_vocab_n_tokens(self, vocabulary: None) -> int:
        return len(PIECES)

    def llama_vocab_is_eog(self, vocabulary: None, token: int) -> bool:
        return token == 256

    def llama_vocab_is_control(self, vocabulary: None, token: int) -> bool:
        return token == 257

    def llama_token_to_piece(self, *args: Any) -> int:
        _, token, buffer, size, _, _ = args
        piece = PIECES[token] if token != 65 else b"A" * 100  # longer than the first buffer
        if len(piece) > size:
            return -len(piece)
        buffer.raw = piece.ljust(size, b"\0")
        return len(piece)

    def llama_tokenize(self, *args: Any) -> int:
        _, raw, _, buffer, *_ = args
        ids = [byte for byte in raw if byte not in (DROPPED, 65)]
        for i, token in enumerate(ids):
            buffer[i] = token
        return len(ids)

    def llama_decode(self, handle: str, batch: SimpleNamespace) -> int:
        count = batch.n_tokens
        if 255 in batch.token[:count]:
            return 1
        assert batch.pos[:count] == list(range(len(self.sequence), len(self.sequence) + count))
        self.rows = []
        for token in batch.token[:count]:
            self.sequence.append(token)
            self.rows.append(list(self.sequence))
        return 0

    def llama_get_logits_ith(self, handle: str, row: int) -> Any:
        return (ctypes.c_float * len(PIECES))(*expected(self.rows[row]).tolist())

    def llama_memory_seq_rm(self, memory: None, sequence: int, first: int, last: int) -> None:
        del self.sequence[first:]

    def llama_state_seq_get_size(self, handle: str, sequence: int) -> int:
        return 4 * len(self.sequence) + 10

    def llama_state_seq_get_data(self, handle: str, buffer: Any, size: int, sequence: int) -> int:
        data = np.array(self.sequence, np.int32).tobytes()
        buffer[: len(data)] = data
        return len(data)

    def llama_state_seq_set_data(self, handle: str, buffer: Any, size: int, sequence: int) -> int:
        self.sequence = np.frombuffer(bytes(buffer)[:size], np.int32).tolist()
        return size


def expected(sequence: list[int]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    seed = sum((i + 1) * (token + 1) for i, token in enumerate(sequence))
    return np.random.default_rng(seed).normal(size=len(PIECES)).astype(np.float32)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    found = Library()
    monkeypatch.setattr(subject, "_library", lambda: found)
    return found


@pytest.fixture
def engine(library: Library) -> LlamaCppEngine:
    return LlamaCppEngine.open(Path("any.gguf"))


steps = st.lists(
    st.tuples(
        st.sampled_from(["eval", "fork", "truncate"]),
        st.integers(0, 3),
        st.lists(st.integers(0, 200), min_size=1),
    ),
    max_size=15,
)


@settings(max_examples=60)
@given(steps)
def test_sequences_that_take_turns_in_one_context_are_as_if_alone(
    steps: list[tuple[str, int, list[int]]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        library = Library()
        patch.setattr(subject, "_library", lambda: library)
        engines: list[tuple[LlamaCppEngine, list[int]]] = [(LlamaCppEngine.open(Path("any.gguf")), [])]
    for step, which, ids in steps:
        engine, past = engines[which % len(engines)]
        if step == "eval" and len(past) + len(ids) <= 600:
            past += ids
            assert np.array_equal(engine.eval(ids), expected(past))
        elif step == "fork" and len(engines) < 4:
            engines.append((engine.fork(), list(past)))
        elif step == "truncate":
            kept = ids[0] % (len(past) + 1)
            del past[kept:]
            engine.truncate(kept)
        assert [each.length for each, _ in engines] == [len(past) for _, past in engines]


def test_log_probabilities_are_those_of_the_logits(engine: LlamaCppEngine) -> None:
    engine.eval([1, 2])
    other = engine.fork()
    other.eval([3])
    for past, row in zip(
        ([1, 2], [1, 2, 3]), engine.logprobs([engine.fork(), other], [7, 8, 9]), strict=True
    ):
        for i, token in enumerate([8, 9]):
            logits = expected([*past, *[7, 8, 9][: i + 1]]).astype(float)
            assert row[i] == pytest.approx(logits[token] - np.logaddexp.reduce(logits), abs=1e-4)
    assert (engine.length, other.length) == (2, 6)


def test_a_text_longer_than_a_batch_goes_in_parts(engine: LlamaCppEngine) -> None:
    ids = [i % 200 for i in range(590)]
    assert np.array_equal(engine.eval(ids), expected(ids))


def test_the_vocabulary_is_read_to_the_byte(engine: LlamaCppEngine) -> None:
    found: Engine = engine
    assert found.token_bytes[65] == b"A" * 100
    assert found.end_ids == {256}
    assert found.control_ids == {256, 257}
    assert (found.special("<|im_end|>"), found.special("hello")) == (256, None)
    assert found.encode("né") == list("né".encode())


@pytest.mark.parametrize("text", ["né\x04b", "né\x04"])
def test_a_byte_that_llama_cpp_would_drop_is_refused_with_its_place(
    engine: LlamaCppEngine, text: str
) -> None:
    with pytest.raises(ModelError) as caught:
        engine.encode(text)
    assert (caught.value.facts["byte"], caught.value.facts["byte_offset"]) == ("0x04", 3)


@pytest.mark.parametrize("wrong", [[], [-1], [len(PIECES)], [5] * 601, [255]])
def test_what_cannot_be_evaluated_is_refused(engine: LlamaCppEngine, wrong: list[int]) -> None:
    with pytest.raises(ModelError):
        engine.eval(wrong)
    assert engine.length == 0
    with pytest.raises(ModelError):
        engine.truncate(1)


def test_a_file_or_a_context_that_does_not_load_is_refused(library: Library) -> None:
    with pytest.raises(ModelError, match="cannot make a context"):
        LlamaCppEngine.open(Path("any.gguf"), context=2000)
    assert library.freed == ["model"]
    library.loads = False
    with pytest.raises(ModelError, match="cannot load"):
        LlamaCppEngine.open(Path("any.gguf"))


def test_the_memory_is_given_back_with_the_last_engine(library: Library) -> None:
    engine = LlamaCppEngine.open(Path("any.gguf"))
    twin = engine.fork()
    del engine
    assert library.freed == []
    twin.eval([1])
    del twin
    assert library.freed == ["batch", "context", "model"]


def test_without_the_library_the_command_to_run_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(ModelError, match=r"callgate\[llama\]"):
        LlamaCppEngine.open(Path("any.gguf"))


@pytest.fixture(scope="module")
def real(weights: Path) -> LlamaCppEngine:
    if importlib.util.find_spec("llama_cpp") is None:
        pytest.skip("llama-cpp-python is not installed")
    return LlamaCppEngine.open(weights, context=1024)


def test_both_engines_have_one_vocabulary_and_nearly_one_opinion(
    real: LlamaCppEngine, smollm: NumpyEngine
) -> None:
    assert list(real.token_bytes) == list(smollm.token_bytes)
    ids = smollm.encode("The capital of France is")
    assert real.encode("The capital of France is") == ids
    one, other = real.fork().eval(ids), smollm.eval(ids)
    assert np.corrcoef(one, other)[0, 1] > 0.999
    twin = real.fork()
    twin.eval(ids[:3])
    assert np.abs(twin.fork().eval(ids[3:]) - one).max() < 0.5
    with pytest.raises(ModelError):
        real.encode("a\x04b")


def test_the_caller_asks_llama_cpp_as_it_asks_numpy(real: LlamaCppEngine) -> None:
    tool, request, _ = REQUESTS["demo"][0]
    proposal = LocalCaller(real).propose(request, [READ, TOOLS[-1]])
    assert proposal.tool == tool
    assert b"".join(proposal).endswith(b"}}\n")
