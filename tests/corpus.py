"""Where the corpus is: recorded streams, published test suites and other data kept outside this repository.

In: the environment variable `CALLGATE_CORPUS`, a path; without it, `shared/corpus` beside the repository.
Out: `CORPUS` and the marker `needs_corpus`, which skips a test where there is no corpus.
"""

import os
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent

CORPUS: Final = Path(os.environ.get("CALLGATE_CORPUS") or ROOT.parent / "shared" / "corpus")

if "CALLGATE_CORPUS" in os.environ and not CORPUS.is_dir():
    msg = f"CALLGATE_CORPUS is {str(CORPUS)!r}, which is not a folder: name the corpus or unset the variable"
    raise FileNotFoundError(msg)

needs_corpus: Final = pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus here: set CALLGATE_CORPUS")
