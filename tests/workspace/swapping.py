"""Someone who swaps names under a walker's feet: exchanged in one step, over and over, by another process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# renameat2(2) with RENAME_EXCHANGE: at every moment each name is there and is one of the two.
_SWAP = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
one, two = (os.fsencode(name) for name in sys.argv[1:3])
def swap():
    if libc.renameat2(-100, one, -100, two, 2):
        sys.exit(f"renameat2: {os.strerror(ctypes.get_errno())}")
swap()
print("ready", flush=True)
while True:
    swap()
"""


@contextmanager
def swapped(one: Path, two: Path, *, to_the_end: bool = True) -> Iterator[None]:
    """Exchange two names as fast as the system can: as long as the context lasts, or until one is gone."""
    command = [sys.executable, "-c", _SWAP, str(one), str(two)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        try:
            yield
            assert child.poll() is None or not to_the_end
        finally:
            child.kill()
