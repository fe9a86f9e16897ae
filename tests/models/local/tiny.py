"""A GGUF file written from scratch, with a model small enough to compute by hand."""

import math
import random
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

F32, F16, Q4_0, Q4_1, Q8_0 = 0, 1, 2, 3, 8
SHAPE = {"layers": 2, "width": 64, "hidden": 96, "heads": 4, "kv_heads": 2, "head": 16, "context": 600}
CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MERGES = ("h e", "l l", "he ll", "hell o", "Ġ w", "Ġw o", "r l", "Ġwo rl", "Ġworl d", "Ġ {", '{ "')
# As in the published vocabulary, some bytes have no token: they occur in no or hardly any text.
MISSING = (0x04, 0xC0, 0xFF)

Tensor = tuple[Sequence[int], int, bytes]  # dimensions in the file's order, type, data


def alphabet() -> dict[int, str]:
    """GPT-2's character for each byte, by its own words: printable ones stand for themselves."""
    table, extra = {}, 0
    for byte in range(256):
        if 33 <= byte <= 126 or 161 <= byte <= 172 or 174 <= byte <= 255:
            table[byte] = chr(byte)
        else:
            table[byte] = chr(256 + extra)
            extra += 1
    return table


def tokens() -> list[str]:
    letters = [char for byte, char in alphabet().items() if byte not in MISSING]
    return [*CONTROL, *letters, *(merge.replace(" ", "") for merge in MERGES)]


def metadata(**changes: Any) -> dict[str, Any]:
    words = tokens()
    found: dict[str, Any] = {
        "general.architecture": "llama",
        "llama.block_count": SHAPE["layers"],
        "llama.context_length": SHAPE["context"],
        "llama.embedding_length": SHAPE["width"],
        "llama.feed_forward_length": SHAPE["hidden"],
        "llama.attention.head_count": SHAPE["heads"],
        "llama.attention.head_count_kv": SHAPE["kv_heads"],
        "llama.rope.freq_base": 10000.0,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": words,
        "tokenizer.ggml.token_type": [3] * len(CONTROL) + [1] * (len(words) - len(CONTROL)),
        "tokenizer.ggml.merges": list(MERGES),
        "tokenizer.ggml.eos_token_id": 2,
    }
    for key, value in changes.items():
        name = next(known for known in (*found, key) if known.endswith(key))
        if value is None:
            found.pop(name, None)
        else:
            found[name] = value
    return found


def weights(*, seed: int = 7, tied: bool = True) -> dict[str, Tensor]:
    """Random weights in every type that is read, one type for each kind of matrix."""
    rng = random.Random(seed)
    width, hidden, kv = SHAPE["width"], SHAPE["hidden"], SHAPE["kv_heads"] * SHAPE["head"]
    found = {
        "token_embd.weight": matrix(rng, len(tokens()), width, Q8_0),
        "output_norm.weight": vector(rng, width),
    }
    if not tied:
        found["output.weight"] = matrix(rng, len(tokens()), width, F16)
    for i in range(SHAPE["layers"]):
        found |= {
            f"blk.{i}.attn_norm.weight": vector(rng, width),
            f"blk.{i}.attn_q.weight": matrix(rng, width, width, Q4_1),
            f"blk.{i}.attn_k.weight": matrix(rng, kv, width, Q4_1),
            f"blk.{i}.attn_v.weight": matrix(rng, kv, width, F16),
            f"blk.{i}.attn_output.weight": matrix(rng, width, width, Q4_0),
            f"blk.{i}.ffn_norm.weight": vector(rng, width),
            f"blk.{i}.ffn_gate.weight": matrix(rng, hidden, width, Q4_1),
            f"blk.{i}.ffn_up.weight": matrix(rng, hidden, width, F32),
            f"blk.{i}.ffn_down.weight": matrix(rng, width, hidden, Q8_0),
        }
    return found


def vector(rng: random.Random, size: int) -> Tensor:
    return (size,), F32, struct.pack(f"<{size}f", *(rng.uniform(0.5, 1.5) for _ in range(size)))


def matrix(rng: random.Random, rows: int, columns: int, kind: int) -> Tensor:
    """``rows`` rows of ``columns`` values of about -0.4 to 0.4."""
    count = rows * columns
    if kind == F32:
        data = struct.pack(f"<{count}f", *(rng.uniform(-0.4, 0.4) for _ in range(count)))
    elif kind == F16:
        data = struct.pack(f"<{count}e", *(rng.uniform(-0.4, 0.4) for _ in range(count)))
    else:
        data = b"".join(block(rng, kind) for _ in range(count // 32))
    return (columns, rows), kind, data


def block(rng: random.Random, kind: int) -> bytes:
    if kind == Q8_0:
        return struct.pack("<e", rng.uniform(0.001, 0.003)) + rng.randbytes(32)
    scale = struct.pack("<e", rng.uniform(0.02, 0.06))
    return scale + (struct.pack("<e", rng.uniform(-0.4, -0.2)) if kind == Q4_1 else b"") + rng.randbytes(16)


def scalars(tensor: Tensor) -> list[float]:
    """The values of a tensor, one at a time, by the layouts of the specification."""
    dimensions, kind, data = tensor
    count = math.prod(dimensions)
    if kind in (F32, F16):
        return list(struct.unpack(f"<{count}{'f' if kind == F32 else 'e'}", data))
    size = {Q4_0: 18, Q4_1: 20, Q8_0: 34}[kind]
    found = []
    for at in range(0, len(data), size):
        (scale,) = struct.unpack_from("<e", data, at)
        for i in range(32):
            if kind == Q8_0:
                found.append(scale * struct.unpack_from("<b", data, at + 2 + i)[0])
                continue
            byte = data[at + size - 16 + i % 16]
            nibble = byte & 15 if i < 16 else byte >> 4
            least = struct.unpack_from("<e", data, at + 2)[0] if kind == Q4_1 else 0
            found.append(scale * (nibble if kind == Q4_1 else nibble - 8) + least)
    return found


def gguf(pairs: Mapping[str, Any], tensors: Mapping[str, Tensor], alignment: int = 32) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    head += b"".join(_text(key) + _typed(value) for key, value in pairs.items())
    data = b""
    for name, (dimensions, kind, raw) in tensors.items():
        head += _text(name) + struct.pack("<I", len(dimensions))
        head += struct.pack(f"<{len(dimensions)}Q", *dimensions) + struct.pack("<IQ", kind, len(data))
        data += raw + b"\0" * (-len(raw) % alignment)
    return head + b"\0" * (-len(head) % alignment) + data


def write(path: Path, *, tied: bool = True, **changes: Any) -> Path:
    path.write_bytes(gguf(metadata(**changes), weights(tied=tied)))
    return path


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _typed(value: Any) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", 7, value)
        case int():
            return struct.pack("<Ii", 5, value)
        case float():
            return struct.pack("<If", 6, value)
        case str():
            return struct.pack("<I", 8) + _text(value)
        case [int(), *_]:
            return struct.pack(f"<IIQ{len(value)}i", 9, 5, len(value), *value)
        case list():
            return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_text, value))
    raise AssertionError(value)
