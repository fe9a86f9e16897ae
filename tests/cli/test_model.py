"""``callgate model`` says where the weights are, or how to get them."""

from pathlib import Path

import pytest

from callgate.errors import ModelError
from callgate.models import DEFAULT_MODEL, find_model
from tests.cli.talking import callgate, child, finished


def test_the_weights_are_found_and_are_the_published_ones() -> None:
    try:
        find_model()
    except ModelError:
        pytest.skip("the embedded model's weights are not installed")
    got = callgate("model", "get", "--json").document
    assert got["sha256"] == DEFAULT_MODEL.file_sha256
    assert not got["fetched"]
    assert callgate("model", "show", "--json").document["path"] == got["path"]


def test_damaged_weights_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / DEFAULT_MODEL.file).write_bytes(b"not a model")
    monkeypatch.setenv("CALLGATE_MODEL_DIR", str(tmp_path))
    said = callgate("model", "show")
    assert said.code == 4
    assert "callgate model get" in said.err


def test_the_weights_are_found_where_there_is_no_numpy(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError('No module named numpy', name='numpy')")
    weights = tmp_path / DEFAULT_MODEL.file
    with weights.open("wb") as file:
        file.truncate(DEFAULT_MODEL.file_size)
    here = {"CALLGATE_MODEL_DIR": str(tmp_path), "PYTHONPATH": str(tmp_path)}
    said = finished(child("model", "show", "--json", **here))
    assert (said.code, said.document["path"]) == (0, str(weights))
    damaged = finished(child("model", "get", **here))
    assert damaged.code == 4
    assert "published SHA-256" in damaged.err
