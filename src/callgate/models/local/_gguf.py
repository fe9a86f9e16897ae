"""A reader of GGUF model files.

In: a path. Out: the metadata as Python values, and tensors as float32 arrays, dequantised one at a time when
asked for. Promise: the file is mapped, not read; every count, length and offset is checked against the file's
size before it is used, so a damaged file is a `ModelError` that says what, where and how to mend it.

The GGUF specification of the ggml project (docs/gguf.md), versions 2 and 3, little-endian; block layouts from
its quantisation types F32, F16, Q4_0, Q4_1 and Q8_0.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from callgate.errors import ModelError

# Of the other quantisations, those that are met; for messages.
_TYPE_NAMES = {6: "Q5_0", 7: "Q5_1", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 30: "BF16"}

# Limits of this reader, far above any real file: a length beyond them is damage, not data.
_MAX_ARRAY_DEPTH = 4
_MAX_DIMENSIONS = 4

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Where a tensor lies: ``start`` and ``size`` in bytes; ``shape`` in NumPy's order, rows first."""

    name: str
    shape: tuple[int, ...]
    kind: int
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class _Format:
    """One block: its elements, its bytes, and how (blocks, bytes) becomes (blocks, elements)."""

    elements: int
    size: int
    decode: Callable[[npt.NDArray[np.uint8]], Floats]  # a new array: it must not keep the file mapped


def _half(blocks: npt.NDArray[np.uint8], at: int) -> Floats:
    return blocks[:, at : at + 2].copy().view(np.float16).astype(np.float32)


def _nibbles(packed: npt.NDArray[np.uint8]) -> Floats:
    # The low halves of the 16 bytes are elements 0-15, the high halves 16-31.
    out = np.empty((len(packed), 32), np.float32)
    out[:, :16] = packed & 15
    out[:, 16:] = packed >> 4
    return out


def _q4_0(blocks: npt.NDArray[np.uint8]) -> Floats:
    out = _nibbles(blocks[:, 2:])
    out -= 8
    out *= _half(blocks, 0)
    return out


def _q4_1(blocks: npt.NDArray[np.uint8]) -> Floats:
    out = _nibbles(blocks[:, 4:])
    out *= _half(blocks, 0)
    out += _half(blocks, 2)
    return out


def _q8_0(blocks: npt.NDArray[np.uint8]) -> Floats:
    out = blocks[:, 2:].view(np.int8).astype(np.float32)
    out *= _half(blocks, 0)
    return out


_FORMATS: Mapping[int, _Format] = {
    0: _Format(1, 4, lambda blocks: blocks.view(np.float32).copy()),
    1: _Format(1, 2, lambda blocks: blocks.view(np.float16).astype(np.float32)),
    2: _Format(32, 18, _q4_0),
    3: _Format(32, 20, _q4_1),
    8: _Format(32, 34, _q8_0),
}

# Metadata value types 0-7 and 10-12; 8 is a string, 9 an array.
_SCALARS = dict(enumerate(("<u1", "<i1", "<u2", "<i2", "<u4", "<i4", "<f4", "?")))
_SCALARS |= {10: "<u8", 11: "<i8", 12: "<f8"}
_STRING, _ARRAY = 8, 9


class _Cursor:
    """Reads forward through the mapped file; every step first asks whether the bytes are there."""

    def __init__(self, data: memoryview, path: Path) -> None:
        self.data = data
        self.path = path
        self.at = 0

    def fail(self, what: str, at: int | None = None, mend: str = "Download the file again.") -> NoReturn:
        raise ModelError(what, model=str(self.path), offset=self.at if at is None else at, mend=mend)

    def take(self, size: int, what: str) -> memoryview:
        if size > len(self.data) - self.at:
            left = len(self.data) - self.at
            self.fail(f"The GGUF file ends inside {what}: {size} bytes needed, {left} left")
        start, self.at = self.at, self.at + size
        return self.data[start : self.at]

    def number(self, form: str, what: str) -> int:
        (value,) = struct.unpack(form, self.take(struct.calcsize(form), what))
        return int(value)

    def text(self, what: str) -> str:
        at = self.at
        raw = bytes(self.take(self.number("<Q", what), what))
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.fail(f"{what} is not UTF-8", at)

    def value(self, kind: int, what: str, depth: int = 0) -> Any:
        if kind == _STRING:
            return self.text(what)
        if kind == _ARRAY:
            return self._array(what, depth + 1)
        if kind not in _SCALARS:
            self.fail(f"{what} has the unknown value type {kind}; GGUF defines 0 to 12")
        return self._scalars(kind, 1, what)[0]

    def _array(self, what: str, depth: int) -> list[Any]:
        if depth > _MAX_ARRAY_DEPTH:
            self.fail(f"{what} nests arrays deeper than {_MAX_ARRAY_DEPTH}")
        kind = self.number("<I", what)
        count = self.number("<Q", what)
        if kind in _SCALARS:
            return self._scalars(kind, count, what)
        if count > (len(self.data) - self.at) // 8:  # a string takes 8 bytes at least, an array 12
            self.fail(f"{what} claims {count} elements, more than the file can hold")
        return [self.value(kind, what, depth) for _ in range(count)]

    def _scalars(self, kind: int, count: int, what: str) -> list[Any]:
        form = np.dtype(_SCALARS[kind])
        values: list[Any] = np.frombuffer(self.take(count * form.itemsize, what), form).tolist()
        return values


class GGUF:
    """An open GGUF file.

    ``metadata`` maps keys to ints, floats, booleans, strings and lists of these; ``tensors`` maps names to
    where they lie. Use it as a context manager, or call `close`: arrays that were read stay valid.

    Raises:
        ModelError: not a GGUF file, another version or byte order, cut short, or inconsistent.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
            raise ModelError(
                "The model file cannot be opened", model=str(path), why=str(error), mend="Check the path."
            ) from error
        self._data = memoryview(self._map)
        try:
            self._read_head(_Cursor(self._data, path))
        except ModelError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Unmap the file."""
        self._data.release()
        self._map.close()

    def tensor(self, name: str) -> Floats:
        """The tensor as a new float32 array of its shape.

        Raises:
            ModelError: no such tensor, or a quantisation that is not read here.
        """
        info = self.tensors.get(name)
        if info is None:
            raise ModelError(f"The model file has no tensor {name!r}", model=str(self.path))
        form = _FORMATS[info.kind]
        raw = np.frombuffer(self._data, np.uint8, info.size, info.start)
        return form.decode(raw.reshape(-1, form.size)).reshape(info.shape)

    def _read_head(self, cursor: _Cursor) -> None:
        if bytes(cursor.take(4, "the magic")) != b"GGUF":
            cursor.fail("Not a GGUF file: it does not begin with 'GGUF'", 0, "Give the path of a .gguf file.")
        version = cursor.number("<I", "the version")
        if version not in (2, 3):
            cursor.fail(
                f"GGUF version {version}: 2 and 3, little-endian, are read here", 4, "Convert the file."
            )
        tensor_count = cursor.number("<Q", "the tensor count")
        pair_count = cursor.number("<Q", "the metadata count")
        self.metadata: dict[str, Any] = {}
        for _ in range(pair_count):
            key = cursor.text("a metadata key")
            if key in self.metadata:
                cursor.fail(f"The metadata key {key!r} occurs twice")
            self.metadata[key] = cursor.value(cursor.number("<I", key), f"metadata {key!r}")
        found = [self._read_info(cursor) for _ in range(tensor_count)]
        self.tensors = self._placed(found, cursor)

    def _read_info(self, cursor: _Cursor) -> TensorInfo:
        name = cursor.text("a tensor name")
        what = f"tensor {name!r}"
        count = cursor.number("<I", what)
        shape = tuple(cursor.number("<Q", what) for _ in range(min(count, _MAX_DIMENSIONS)))[::-1]
        kind, start = cursor.number("<I", what), cursor.number("<Q", what)
        if count != len(shape) or not shape or 0 in shape:
            cursor.fail(f"{what} has the dimensions {shape} of {count}; 1 to {_MAX_DIMENSIONS} are read here")
        form = _FORMATS.get(kind)
        if form is None:
            cursor.fail(
                f"{what} is of type {kind} ({_TYPE_NAMES.get(kind, 'unknown')}); "
                "F32, F16, Q4_0, Q4_1 and Q8_0 are read here",
                mend="Use another quantisation of the model, or the engine of the extra 'llama'.",
            )
        if shape[-1] % form.elements:
            cursor.fail(f"A row of {what} has {shape[-1]} elements, no multiple of {form.elements}")
        return TensorInfo(name, shape, kind, start, math.prod(shape) // form.elements * form.size)

    def _placed(self, found: list[TensorInfo], cursor: _Cursor) -> dict[str, TensorInfo]:
        # Offsets count from the end of the head, rounded up to the alignment.
        alignment = self.metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 8 or alignment % 8:
            cursor.fail(f"general.alignment is {alignment!r}, expected a multiple of 8")
        base = -(-cursor.at // alignment) * alignment
        placed: dict[str, TensorInfo] = {}
        for info in found:
            start, what = base + info.start, f"tensor {info.name!r}"
            if info.name in placed:
                cursor.fail(f"{what} occurs twice")
            if info.start % alignment:
                cursor.fail(f"{what} lies at {info.start}, no multiple of {alignment}")
            if start + info.size > len(self._data):
                size = len(self._data)
                cursor.fail(
                    f"The GGUF file ends inside {what}: it should reach byte {start + info.size}", size
                )
            placed[info.name] = replace(info, start=start)
        return placed
