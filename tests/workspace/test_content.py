"""Reading within a bound, and versions."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.errors import ToolError
from callgate.workspace import version_of
from callgate.workspace._content import VERSION_DIGITS, bounded, version_of_file


def opened(path: Path, limit: int) -> io.BufferedReader:
    reader = bounded(os.open(path, os.O_RDONLY), limit)
    assert isinstance(reader, io.BufferedReader)
    return reader


@given(data=st.binary(max_size=100))
def test_a_version_is_the_beginning_of_the_sha_256(data: bytes) -> None:
    assert version_of(data) == hashlib.sha256(data).hexdigest()[:VERSION_DIGITS]
    assert version_of_file(io.BytesIO(data)) == version_of(data)


@pytest.mark.parametrize("size", [0, 1, 9, 10])
def test_a_file_up_to_the_bound_is_read(size: int, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * size)
    with opened(tmp_path / "f", 10) as whole, opened(tmp_path / "f", 10) as pieces:
        assert whole.read() == b"x" * size
        assert b"".join(iter(lambda: pieces.read(3), b"")) == b"x" * size


@pytest.mark.parametrize("size", [11, 12, 5_000_000])
@pytest.mark.parametrize("piece", [-1, 3, 4_000_000])
def test_a_file_beyond_the_bound_is_refused_however_it_is_read(size: int, piece: int, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * size)
    with opened(tmp_path / "f", 10) as source, pytest.raises(ToolError, match="more than 10") as refused:
        list(iter(lambda: source.read(piece), b""))
    assert refused.value.tool_code == "PATH_UNUSABLE"


def test_reading_on_after_the_refusal_gives_nothing_more(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 5_000_000)
    with opened(tmp_path / "f", 10) as source:
        for _ in range(3):
            with pytest.raises(ToolError):
                source.read(4_000_000)
            with pytest.raises(ToolError):
                source.read()


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(b"x" * 8)
    with opened(file, 10) as source:
        assert source.read(8)
        with file.open("ab") as more:
            more.write(b"x" * 8)
        with pytest.raises(ToolError, match="more than 10 bytes"):
            source.read()
