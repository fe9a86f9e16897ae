"""The published weights where they are installed."""

from pathlib import Path

import pytest

from callgate.errors import ModelError
from callgate.models import find_model


@pytest.fixture(scope="session")
def weights() -> Path:
    try:
        return find_model()
    except ModelError as error:
        pytest.skip(f"the weights are not installed: {error}")
