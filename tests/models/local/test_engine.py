import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgate.errors import ModelError
from callgate.models.local import Engine, NumpyEngine
from callgate.models.local._gguf import Floats
from tests.models.local import tiny

GOLDEN = json.loads((Path(__file__).parent / "golden" / "logits.json").read_text(encoding="utf-8"))
ids = st.lists(st.integers(0, len(tiny.tokens()) - 1), min_size=1, max_size=10)


@pytest.fixture(scope="module")
def engine(tiny_file: Path) -> NumpyEngine:
    return NumpyEngine.open(tiny_file)


def fresh(engine: NumpyEngine, sequence: list[int]) -> Floats:
    twin = engine.fork()
    twin.truncate(0)
    return twin.eval(sequence)


@settings(max_examples=40)
@given(ids, ids, st.data())
def test_a_truncated_sequence_goes_on_as_if_the_rest_had_never_been(
    engine: NumpyEngine, past: list[int], more: list[int], data: st.DataObject
) -> None:
    twin = engine.fork()
    twin.eval(past)
    kept = data.draw(st.integers(0, len(past)))
    twin.truncate(kept)
    assert np.allclose(twin.eval(more), fresh(engine, past[:kept] + more), atol=1e-4)
    assert twin.length == kept + len(more)


@settings(max_examples=30)
@given(ids, ids, ids)
def test_forks_share_their_past_and_nothing_else(
    engine: NumpyEngine, past: list[int], one: list[int], other: list[int]
) -> None:
    first = engine.fork()
    first.eval(past)
    second = first.fork()
    first.eval(one)
    assert np.allclose(second.eval(other), fresh(engine, past + other), atol=1e-4)
    assert (first.length, second.length) == (len(past) + len(one), len(past) + len(other))


@settings(max_examples=30)
@given(st.lists(ids, min_size=1, max_size=4), ids)
def test_log_probabilities_are_those_of_the_logits_and_the_forks_have_moved_on(
    engine: NumpyEngine, pasts: list[list[int]], more: list[int]
) -> None:
    forks = [engine.fork() for _ in pasts]
    for fork, past in zip(forks, pasts, strict=True):
        fork.eval(past)
    found = engine.logprobs(forks, more)
    for fork, past, row in zip(forks, pasts, found, strict=True):
        for i, expected in enumerate(more[1:]):
            logits = fresh(engine, past + more[: i + 1]).astype(float)
            assert row[i] == pytest.approx(logits[expected] - np.logaddexp.reduce(logits), abs=1e-3)
        assert fork.length == len(past) + len(more)


def test_a_text_longer_than_a_batch_and_than_the_first_room_is_one_sequence(tiny_engine: NumpyEngine) -> None:
    long = [i % 200 for i in range(3, 590)]
    whole = tiny_engine.fork().eval(long)
    for at in range(0, len(long), 100):
        last = tiny_engine.eval(long[at : at + 100])
    assert np.allclose(whole, last, atol=1e-3)
    both = tiny_engine.logprobs([tiny_engine.fork()], [1, 2])
    assert len(both[0]) == 1


def test_a_score_in_several_batches_is_the_score_in_one(tiny_engine: NumpyEngine) -> None:
    many = [i % 90 for i in range(300)]
    (one,) = tiny_engine.logprobs([tiny_engine.fork()], many)
    four = tiny_engine.logprobs([tiny_engine.fork() for _ in range(4)], many)
    for row in four:
        assert np.allclose(row, one, atol=1e-3)


def test_forks_may_be_used_by_several_threads_at_once(tiny_engine: NumpyEngine) -> None:
    sequences = [[i, i + 1, i + 2] * 5 for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda sequence: tiny_engine.fork().eval(sequence), sequences))
    for row, sequence in zip(found, sequences, strict=True):
        assert np.allclose(row, fresh(tiny_engine, sequence), atol=1e-4)


def test_the_same_tokens_give_the_same_logits_to_the_bit(tiny_engine: NumpyEngine) -> None:
    assert np.array_equal(tiny_engine.fork().eval([5, 6, 7]), tiny_engine.fork().eval([5, 6, 7]))


@pytest.mark.parametrize("wrong", [[], [-1], [len(tiny.tokens())], [5] * 601])
def test_ids_that_cannot_be_appended_are_refused_and_change_nothing(
    tiny_engine: NumpyEngine, wrong: list[int]
) -> None:
    with pytest.raises(ModelError):
        tiny_engine.eval(wrong)
    with pytest.raises(ModelError):
        tiny_engine.logprobs([tiny_engine], wrong)
    assert tiny_engine.length == 0


@pytest.mark.parametrize("length", [-1, 3])
def test_a_sequence_cannot_be_truncated_to_what_it_does_not_have(
    tiny_engine: NumpyEngine, length: int
) -> None:
    tiny_engine.eval([5, 6])
    with pytest.raises(ModelError):
        tiny_engine.truncate(length)


def test_a_smaller_context_is_kept_to(tiny_file: Path) -> None:
    engine = NumpyEngine.open(tiny_file, context=4)
    engine.eval([1, 2, 3, 4])
    with pytest.raises(ModelError, match="longer than the context"):
        engine.fork().eval([5])


@pytest.mark.parametrize("options", [{"threads": 0}, {"context": 0}, {"context": 601}])
def test_options_that_cannot_be_are_refused(tiny_file: Path, options: dict[str, int]) -> None:
    with pytest.raises(ModelError):
        NumpyEngine.open(tiny_file, **options)


def test_the_numpy_engine_is_an_engine(tiny_engine: NumpyEngine) -> None:
    engine: Engine = tiny_engine
    assert engine.special("<|im_end|>") in engine.end_ids
    assert engine.control_ids == {0, 1, 2}
    assert engine.encode("hello") == [engine.token_bytes.index(b"hello")]


def test_a_token_that_ends_a_turn_stands_for_no_text_whatever_its_kind(tmp_path: Path) -> None:
    # Models of which the end is declared, but listed among the words of the vocabulary.
    engine = NumpyEngine.open(tiny.write(tmp_path / "m.gguf", eos_token_id=77))
    assert engine.end_ids == {0, 2, 77}
    assert engine.control_ids == {0, 1, 2, 77}


def test_the_published_weights_give_the_log_probabilities_of_a_float32_reference(smollm: NumpyEngine) -> None:
    for case in (case for case in GOLDEN["cases"] if len(case["ids"]) < 100):
        (found,) = smollm.logprobs([smollm.fork()], case["ids"])
        assert float(found.sum(dtype=float)) == pytest.approx(case["logprob_sum"], abs=2e-3)
