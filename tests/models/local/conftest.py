"""The tiny model, and the engine over the published weights."""

from pathlib import Path

import pytest

from callgate.models.local import NumpyEngine
from tests.models.local import tiny


@pytest.fixture(scope="session")
def tiny_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture(scope="session")
def _tiny_engine(tiny_file: Path) -> NumpyEngine:
    return NumpyEngine.open(tiny_file)


@pytest.fixture
def tiny_engine(_tiny_engine: NumpyEngine) -> NumpyEngine:
    return _tiny_engine.fork()


@pytest.fixture(scope="session")
def _smollm(weights: Path) -> NumpyEngine:
    return NumpyEngine.open(weights)


@pytest.fixture
def smollm(_smollm: NumpyEngine) -> NumpyEngine:
    return _smollm.fork()
