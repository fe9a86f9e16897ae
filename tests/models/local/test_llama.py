import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgate.errors import ModelError
from callgate.models.local import NumpyEngine
from callgate.models.local._gguf import GGUF, Floats
from callgate.models.local._llama import Cache, Llama
from tests.models.local import tiny

GOLDEN = json.loads((Path(__file__).parent / "golden" / "logits.json").read_text(encoding="utf-8"))

Wide = npt.NDArray[np.float64]
ids_of_tiny = st.lists(st.integers(0, len(tiny.tokens()) - 1), min_size=1, max_size=12)


def reference(ids: list[int], tensors: dict[str, tiny.Tensor]) -> Wide:
    """Logits of each position, in double precision, one position and one head at a time, by the papers."""

    def take(name: str) -> Wide:
        dimensions, *_ = tensor = tensors[name]
        return np.array(tiny.scalars(tensor)).reshape(dimensions[::-1])

    def norm(x: Wide, name: str) -> Wide:
        return x / math.sqrt(float(np.mean(x * x)) + 1e-5) * take(name)

    def turned(x: Wide, position: int) -> Wide:
        out = x.copy()
        for i in range(0, len(x), 2):
            angle = position * 10000.0 ** (-i / len(x))
            out[i] = x[i] * math.cos(angle) - x[i + 1] * math.sin(angle)
            out[i + 1] = x[i] * math.sin(angle) + x[i + 1] * math.cos(angle)
        return out

    heads, head = tiny.SHAPE["heads"], tiny.SHAPE["head"]
    group = heads // tiny.SHAPE["kv_heads"]
    rows = [take("token_embd.weight")[i] for i in ids]
    for layer in range(tiny.SHAPE["layers"]):
        at = f"blk.{layer}."
        keys: list[Wide] = []
        values: list[Wide] = []
        for position, x in enumerate(rows):
            h = norm(x, at + "attn_norm.weight")
            query = (take(at + "attn_q.weight") @ h).reshape(heads, head)
            keys.append(
                np.array([turned(k, position) for k in (take(at + "attn_k.weight") @ h).reshape(-1, head)])
            )
            values.append((take(at + "attn_v.weight") @ h).reshape(-1, head))
            mixed = []
            for i in range(heads):
                one = turned(query[i], position)
                scores = np.array([math.exp(one @ key[i // group] / math.sqrt(head)) for key in keys])
                mixed.append(
                    sum(s * v[i // group] for s, v in zip(scores / scores.sum(), values, strict=True))
                )
            mid = x + take(at + "attn_output.weight") @ np.concatenate(mixed)
            h = norm(mid, at + "ffn_norm.weight")
            gate, up = take(at + "ffn_gate.weight") @ h, take(at + "ffn_up.weight") @ h
            rows[position] = mid + take(at + "ffn_down.weight") @ (gate / (1 + np.exp(-gate)) * up)
    head_name = "output.weight" if "output.weight" in tensors else "token_embd.weight"
    return np.array([take(head_name) @ norm(x, "output_norm.weight") for x in rows])


def logits(model: Llama, ids: list[int], cache: Cache | None = None) -> Floats:
    return model.logits(model.forward(ids, [cache or Cache(model.shape)])[0])


@pytest.fixture(scope="module")
def model(tiny_file: Path) -> Llama:
    with GGUF(tiny_file) as file:
        return Llama(file)


@pytest.mark.parametrize("tied", [True, False])
def test_the_pass_is_that_of_the_papers(tied: bool, tmp_path: Path) -> None:
    ids = [5, 77, 2, 200, 5, 130, 9]
    with GGUF(tiny.write(tmp_path / "m.gguf", tied=tied)) as file:
        found = logits(Llama(file), ids)
    assert np.allclose(found, reference(ids, tiny.weights(tied=tied)), rtol=1e-4, atol=1e-4)


@settings(max_examples=30)
@given(ids_of_tiny, st.data())
def test_a_cut_into_batches_changes_nothing(model: Llama, ids: list[int], data: st.DataObject) -> None:
    cache = Cache(model.shape, room=2)
    at, parts = 0, []
    while at < len(ids):
        size = data.draw(st.integers(1, len(ids) - at))
        parts.append(logits(model, ids[at : at + size], cache))
        at += size
    assert np.allclose(np.concatenate(parts), logits(model, ids), atol=1e-4)
    assert cache.length == len(ids)


@settings(max_examples=20)
@given(ids_of_tiny, ids_of_tiny, ids_of_tiny)
def test_sequences_side_by_side_do_not_see_each_other(
    model: Llama, one: list[int], other: list[int], more: list[int]
) -> None:
    caches = [Cache(model.shape), Cache(model.shape)]
    for cache, past in zip(caches, (one, other), strict=True):
        model.forward(past, [cache])
    both = model.logits(model.forward(more, caches))
    for row, past in zip(both, (one, other), strict=True):
        assert np.allclose(row, logits(model, past + more)[len(past) :], atol=1e-4)


VARIANTS: dict[str, dict[str, Any]] = {
    "another architecture": {"general.architecture": "mamba"},
    "heads that do not divide": {"head_count": 5},
    "groups that do not divide": {"head_count_kv": 3},
    "part of a head turned": {"llama.rope.dimension_count": 8},
    "scaled positions": {"llama.rope.scaling.type": "yarn"},
    "experts": {"llama.expert_count": 8},
    "no layers said": {"block_count": None},
    "no layers": {"block_count": 0},
    "a layer too many": {"block_count": 3},
    "a layer ignored": {"block_count": 1},
    "another width of the feed": {"feed_forward_length": 64},
}


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_what_would_be_computed_wrongly_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    with GGUF(tiny.write(tmp_path / "m.gguf", **changes)) as file, pytest.raises(ModelError):
        Llama(file)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=[case["text"][:20] for case in GOLDEN["cases"]])
def test_the_published_weights_give_the_logits_of_a_float32_reference(
    smollm: NumpyEngine, case: dict[str, Any]
) -> None:
    found = smollm.eval(case["ids"])
    order = np.argsort(-found, kind="stable")[: len(case["top_ids"])]
    assert order.tolist() == case["top_ids"]
    assert np.abs(found[order] - np.array(case["top_logits"])).max() < 2e-4
    assert abs(float(found.min()) - case["lowest"]) < 2e-4
    if not case["chat"]:
        assert smollm.encode(case["text"]) == case["ids"]


def test_the_published_weights_say_word_for_word_what_the_reference_says(smollm: NumpyEngine) -> None:
    said, logits = [], smollm.eval(next(case["ids"] for case in GOLDEN["cases"] if case["chat"]))
    for _ in GOLDEN["greedy_after_chat"]:
        said.append(int(logits.argmax()))
        logits = smollm.eval(said[-1:])
    assert said == GOLDEN["greedy_after_chat"]
