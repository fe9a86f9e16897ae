import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgate.errors import ModelError
from callgate.models.local._gguf import GGUF
from tests.models.local import tiny

KINDS = {"F32": tiny.F32, "F16": tiny.F16, "Q4_0": tiny.Q4_0, "Q4_1": tiny.Q4_1, "Q8_0": tiny.Q8_0}


def opened(path: Path, data: bytes) -> GGUF:
    path.write_bytes(data)
    return GGUF(path)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_type_is_dequantised_as_a_scalar_reading_of_its_blocks_says(kind: int, tmp_path: Path) -> None:
    tensor = tiny.matrix(random.Random(3), 5, 64, kind)
    with opened(tmp_path / "m.gguf", tiny.gguf({}, {"a": tensor})) as file:
        found = file.tensor("a")
    assert found.shape == (5, 64)
    assert found.dtype == np.float32
    assert np.allclose(found.ravel(), tiny.scalars(tensor), rtol=1e-6, atol=1e-7)


def test_a_tensor_outlives_its_file(tmp_path: Path) -> None:
    tensor = tiny.vector(random.Random(1), 40)
    with opened(tmp_path / "m.gguf", tiny.gguf({}, {"a": tensor})) as file:
        found = file.tensor("a")
    found += 1
    assert np.allclose(found - 1, tiny.scalars(tensor), atol=1e-6)


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.text(min_size=1),
        st.booleans()
        | st.integers(-(2**31), 2**31 - 1)
        | st.floats(width=32, allow_nan=False)
        | st.text()
        | st.lists(st.integers(-(2**31), 2**31 - 1))
        | st.lists(st.text(), min_size=1),
    ).filter(lambda pairs: "general.alignment" not in pairs)
)
def test_metadata_comes_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, pairs: dict[str, Any]
) -> None:
    with opened(tmp_path_factory.getbasetemp() / "pairs.gguf", tiny.gguf(pairs, {})) as file:
        assert file.metadata == pairs


def test_another_alignment_is_followed(tmp_path: Path) -> None:
    tensors = {name: tiny.vector(random.Random(i), 7) for i, name in enumerate("abc")}
    data = tiny.gguf({"general.alignment": 64}, tensors, alignment=64)
    with opened(tmp_path / "m.gguf", data) as file:
        for name, tensor in tensors.items():
            assert np.allclose(file.tensor(name), tiny.scalars(tensor))


def test_a_file_cut_anywhere_is_refused_with_the_place(tmp_path: Path) -> None:
    whole = tiny.gguf({"k": ["a", "b"], "n": 1}, {"t": tiny.vector(random.Random(2), 8)})
    for size in range(1, len(whole)):
        with pytest.raises(ModelError) as caught:
            opened(tmp_path / "cut.gguf", whole[:size])
        assert caught.value.facts["offset"] <= size


HEAD = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"k"
LIES = {
    "another magic": b"GGML" + bytes(20),
    "another version": b"GGUF" + struct.pack("<IQQ", 1, 0, 0),
    "big-endian": b"GGUF" + struct.pack(">IQQ", 3, 0, 0),
    "unknown value type": HEAD + struct.pack("<I", 13),
    "array of absurd length": HEAD + struct.pack("<IIQ", 9, 8, 1 << 60),
    "string of absurd length": HEAD + struct.pack("<IQ", 8, 1 << 63),
    "numbers of absurd count": HEAD + struct.pack("<IIQ", 9, 4, 1 << 62),
    "arrays in arrays in arrays": HEAD + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 2000,
    "a key that is not UTF-8": b"GGUF"
    + struct.pack("<IQQQ", 3, 0, 1, 1)
    + b"\xff"
    + struct.pack("<Ii", 5, 1),
    "a key twice": b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + (struct.pack("<Q", 1) + b"k" + bytes(12)) * 2,
    "alignment of nothing": tiny.gguf({"general.alignment": 0}, {}),
    "an unknown tensor type": tiny.gguf({}, {"t": ((32,), 12, bytes(64))}),
    "a row of half a block": tiny.gguf({}, {"t": ((33,), tiny.Q8_0, bytes(68))}),
    "no dimensions": tiny.gguf({}, {"t": ((), tiny.F32, bytes(4))}),
    "an empty file": b"",
}


@pytest.mark.parametrize("data", LIES.values(), ids=LIES)
def test_a_file_that_is_not_what_it_says_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        opened(tmp_path / "lie.gguf", data)


def test_an_unread_quantisation_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="Q4_K"):
        opened(tmp_path / "k.gguf", tiny.gguf({}, {"t": ((256,), 12, bytes(144))}))


def test_one_name_for_two_tensors_is_refused(tmp_path: Path) -> None:
    data = tiny.gguf({}, {"a": tiny.vector(random.Random(1), 8), "b": tiny.vector(random.Random(2), 8)})
    with pytest.raises(ModelError, match="twice"):
        opened(tmp_path / "two.gguf", data.replace(b"b", b"a"))


def test_an_absent_file_and_an_absent_tensor_are_model_errors(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be opened"):
        GGUF(tmp_path / "nowhere.gguf")
    with opened(tmp_path / "m.gguf", tiny.gguf({}, {})) as file, pytest.raises(ModelError, match="'t'"):
        file.tensor("t")
