"""What every test shares: how Hypothesis searches, and the event loop that asynchronous tests run on.

Properties are derandomized, so that a run says the same thing twice; `HYPOTHESIS_PROFILE=nightly` searches at
random, and longer.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.corpus import CORPUS

# No deadline and no complaint about slow data: the machine's load is not a property of the code.
settings.register_profile(
    "callgate",
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "nightly",
    deadline=None,
    max_examples=2000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "callgate")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run tests marked `anyio` on asyncio; a test that asks for another backend parametrizes this fixture."""
    return "asyncio"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say when the corpus was missing: skipped tests are easily taken for passed ones."""
    if not CORPUS.is_dir():
        terminalreporter.write_line("No corpus (CALLGATE_CORPUS): tests that read it were skipped.")
