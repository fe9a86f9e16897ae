"""The forward pass of a Llama model, in NumPy, float32.

In: token ids and the caches they continue. Out: hidden states, and from them logits over the vocabulary.
Promise: the same ids after the same past give the same logits to rounding, however they are cut into batches;
a file with anything the pass would not use is refused, because an ignored tensor is a wrong answer.

Touvron et al. 2023 (arXiv:2302.13971): RMSNorm, SwiGLU; rotary positions (arXiv:2104.09864) on neighbouring
pairs, the order in which GGUF keeps the query and key rows; grouped queries (arXiv:2305.13245).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from callgate.errors import ModelError

from ._gguf import GGUF, Floats

# The caches of a sequence grow by doubling from this many positions.
_FIRST_ROOM = 256


@dataclass(frozen=True, slots=True)
class Shape:
    """The numbers of a model; ``head`` is the width of one attention head, ``context`` counts positions."""

    layers: int
    width: int
    hidden: int
    heads: int
    kv_heads: int
    head: int
    vocabulary: int
    context: int
    epsilon: float
    rope_base: float

    @classmethod
    def of(cls, metadata: Mapping[str, Any], vocabulary: int) -> Shape:
        """Read from GGUF metadata; raises `ModelError` for a variant that is not computed here."""
        kind = metadata.get("general.architecture")
        if kind != "llama":
            raise ModelError("Only 'llama' is computed here", found=kind, mend="Use the extra 'llama'.")
        width = _number(metadata, "llama.embedding_length")
        heads = _number(metadata, "llama.attention.head_count")
        kv_heads = _number(metadata, "llama.attention.head_count_kv", heads)
        if width % heads or heads % kv_heads or width // heads % 2:
            raise ModelError("Head counts do not divide", width=width, heads=heads, kv_heads=kv_heads)
        head = width // heads
        plain = {"rope.dimension_count": head, "rope.scaling.type": "none", "expert_count": 0}
        plain |= {"attention.key_length": head, "attention.value_length": head}
        for key, expected in plain.items():
            found = metadata.get(f"llama.{key}", expected)
            if found != expected:
                raise ModelError(
                    "A variant that is not computed here", key=key, found=found, expected=expected
                )
        return cls(
            layers=_number(metadata, "llama.block_count"),
            width=width,
            hidden=_number(metadata, "llama.feed_forward_length"),
            heads=heads,
            kv_heads=kv_heads,
            head=head,
            vocabulary=vocabulary,
            context=_number(metadata, "llama.context_length"),
            epsilon=float(metadata.get("llama.attention.layer_norm_rms_epsilon", 1e-5)),
            rope_base=float(metadata.get("llama.rope.freq_base", 10_000.0)),
        )


def _number(metadata: Mapping[str, Any], key: str, default: int | None = None) -> int:
    value = metadata.get(key, default)
    if not isinstance(value, int) or value <= 0:
        raise ModelError("A number above 0 is missing", key=key, found=value, mend="Convert the model again.")
    return value


class Cache:
    """Keys and values of one sequence: (layers, kv heads, positions, head), ``length`` positions filled."""

    __slots__ = ("keys", "length", "values")

    def __init__(self, shape: Shape, room: int = _FIRST_ROOM) -> None:
        self.keys = np.empty((shape.layers, shape.kv_heads, room, shape.head), np.float32)
        self.values = np.empty_like(self.keys)
        self.length = 0

    def reserve(self, more: int) -> None:
        """Make room for ``more`` positions, keeping what is there."""
        room = self.keys.shape[2]
        if self.length + more > room:
            while room < self.length + more:
                room *= 2
            self.keys, self.values = self._moved(self.keys, room), self._moved(self.values, room)

    def copy(self) -> Cache:
        """An independent cache with the same past."""
        twin = object.__new__(Cache)
        room = self.keys.shape[2]
        twin.keys, twin.values = self._moved(self.keys, room), self._moved(self.values, room)
        twin.length = self.length
        return twin

    def _moved(self, old: Floats, room: int) -> Floats:
        new = np.empty((*old.shape[:2], room, old.shape[3]), np.float32)
        new[:, :, : self.length] = old[:, :, : self.length]
        return new


@dataclass(frozen=True, slots=True)
class _Layer:
    """Matrices are (in, out); those that widen are stored that way too, the others as their transpose.

    For one row OpenBLAS reads a long output twice as fast as a long input (13.5 against 7 GB/s measured),
    and reading is all that a token costs.
    """

    attention_norm: Floats
    qkv: Floats  # queries, keys and values side by side: one product instead of three
    output: Floats
    feed_norm: Floats
    gate_up: Floats
    down: Floats


def _widening(*parts: Floats) -> Floats:
    """Matrices of (out, in) rows beside each other, as one stored (in, sum of outs)."""
    out = np.empty((parts[0].shape[1], sum(map(len, parts))), np.float32)
    at = 0
    for part in parts:
        for start in range(0, len(part), 256):  # in strips that fit the cache: twice as fast as at once
            strip = part[start : start + 256]
            out[:, at : at + len(strip)] = strip.T
            at += len(strip)
    return out


def _layer(at: str, shape: Shape, take: Callable[..., Floats]) -> _Layer:
    kv = shape.kv_heads * shape.head
    # The scale 1/sqrt(head) of the scores is put into the queries once.
    queries = take(at + "attn_q.weight", shape.width, shape.width) * np.float32(shape.head**-0.5)
    keys, values = (take(f"{at}attn_{x}.weight", kv, shape.width) for x in "kv")
    gate, up = (take(f"{at}ffn_{x}.weight", shape.hidden, shape.width) for x in ("gate", "up"))
    return _Layer(
        take(at + "attn_norm.weight", shape.width),
        _widening(queries, keys, values),
        take(at + "attn_output.weight", shape.width, shape.width).T,
        take(at + "ffn_norm.weight", shape.width),
        _widening(gate, up),
        take(at + "ffn_down.weight", shape.width, shape.hidden).T,
    )


class Llama:
    """The weights of a model, all in float32: four bytes a parameter."""

    def __init__(self, file: GGUF) -> None:
        names = set(file.tensors)

        def take(name: str, *shape: int) -> Floats:
            found = file.tensor(name)
            if found.shape != shape:
                raise ModelError(f"Tensor {name!r} has another shape", found=found.shape, expected=shape)
            names.discard(name)
            return found

        vocabulary = len(file.metadata.get("tokenizer.ggml.tokens", ()))
        self.shape = shape = Shape.of(file.metadata, vocabulary)
        self._embedding = self._head = _widening(take("token_embd.weight", vocabulary, shape.width))
        if "output.weight" in names:  # else the output matrix is the embedding
            self._head = _widening(take("output.weight", vocabulary, shape.width))
        self._norm = take("output_norm.weight", shape.width)
        self._layers = [_layer(f"blk.{i}.", shape, take) for i in range(shape.layers)]
        if names:
            raise ModelError(
                "The file has tensors that this forward pass would ignore", tensors=sorted(names)[:4]
            )
        turns = shape.rope_base ** (np.arange(0, shape.head, 2) / -shape.head)
        self._turns: npt.NDArray[np.float64] = turns

    def forward(self, ids: Sequence[int], caches: Sequence[Cache]) -> Floats:
        """Append ``ids`` to each of ``caches``; hidden states of (caches, ids, width).

        The caches are continued side by side in one batch: the weights are read from memory once for all of
        them.
        """
        shape, count = self.shape, len(ids)
        for cache in caches:
            cache.reserve(count)
        x = np.tile(self._embedding[:, np.asarray(ids)].T, (len(caches), 1))
        rotations = [self._rotation(cache.length, count) for cache in caches]
        for number, layer in enumerate(self._layers):
            qkv = _normed(x, layer.attention_norm, shape.epsilon) @ layer.qkv
            mixed = np.empty_like(x)
            for i, (cache, rotation) in enumerate(zip(caches, rotations, strict=True)):
                rows = slice(i * count, (i + 1) * count)
                mixed[rows] = self._attend(qkv[rows], cache, number, rotation)
            x += mixed @ layer.output
            gate_up = _normed(x, layer.feed_norm, shape.epsilon) @ layer.gate_up
            x += _silu(gate_up[:, : shape.hidden], gate_up[:, shape.hidden :]) @ layer.down
        for cache in caches:
            cache.length += count
        return _normed(x, self._norm, shape.epsilon).reshape(len(caches), count, shape.width)

    def logits(self, hidden: Floats) -> Floats:
        """Logits of (..., vocabulary) from hidden states of (..., width)."""
        out: Floats = hidden @ self._head
        return out

    def _rotation(self, start: int, count: int) -> npt.NDArray[np.complex64]:
        angles = np.arange(start, start + count)[:, None] * self._turns
        rotation: npt.NDArray[np.complex64] = np.exp(1j * angles).astype(np.complex64)
        return rotation

    def _attend(self, qkv: Floats, cache: Cache, layer: int, rotation: npt.NDArray[np.complex64]) -> Floats:
        shape, count = self.shape, len(qkv)
        split = shape.heads * shape.head + shape.kv_heads * shape.head
        # A pair of neighbours is a complex number; its position turns it.
        pairs = np.ascontiguousarray(qkv[:, :split]).view(np.complex64).reshape(count, -1, shape.head // 2)
        pairs *= rotation[:, None, :]
        turned = pairs.view(np.float32).transpose(1, 0, 2)
        past, end = cache.length, cache.length + count
        cache.keys[layer, :, past:end] = turned[shape.heads :]
        cache.values[layer, :, past:end] = qkv[:, split:].reshape(count, -1, shape.head).transpose(1, 0, 2)
        queries = turned[: shape.heads].reshape(shape.kv_heads, -1, shape.head)  # heads of a group are rows
        scores: Floats = queries @ cache.keys[layer, :, :end].transpose(0, 2, 1)
        if count > 1:  # nobody sees what comes after: columns beyond past + row
            ahead: Floats = np.triu(np.full((count, count), -np.inf, np.float32), 1)
            scores.reshape(shape.heads, count, end)[:, :, past:] += ahead
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = scores @ cache.values[layer, :, :end]
        out: Floats = mixed.reshape(shape.heads, count, shape.head).transpose(1, 0, 2).reshape(count, -1)
        return out


def _normed(x: Floats, weight: Floats, epsilon: float) -> Floats:
    square = np.einsum("ij,ij->i", x, x) / np.float32(x.shape[1])
    out: Floats = x * (1.0 / np.sqrt(square + np.float32(epsilon)))[:, None] * weight
    return out


def _silu(gate: Floats, up: Floats) -> Floats:
    with np.errstate(over="ignore"):  # exp(-gate) may be infinite, and the quotient is then rightly 0
        out: Floats = gate / (1 + np.exp(-gate)) * up
    return out
