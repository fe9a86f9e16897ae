"""How many threads NumPy's matrix products may take.

In: a count. Out: a context manager. Promise: OpenBLAS is set while evaluations run and put back after the
last of them; where NumPy stands on another library nothing changes, and that library's own environment
variables decide.

One thread is the default of the engine: on a busy machine two are slower than one, because each waits for
the other at every product (measured: 1.3 to 2.5 tokens a second against 11 to 27). The setting is one for
the process: products that other threads compute meanwhile are bound by it too.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

# The names under which OpenBLAS is built: NumPy's wheels prefix them and mark 64-bit integers.
_NAMES = ("scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}")

_Pair = tuple[Callable[[], int], Callable[[int], object]]


def _find() -> _Pair | None:
    # A look-up through the extension module, loaded already, goes through the very library that it uses.
    spec = find_spec("numpy._core._multiarray_umath")
    if spec is None or spec.origin is None:
        return None
    try:
        library = ctypes.CDLL(spec.origin)
    except OSError:  # a built-in module: numpy is linked into the interpreter
        return None
    for name in _NAMES:
        get = getattr(library, name.format("get_num_threads"), None)
        put = getattr(library, name.format("set_num_threads"), None)
        if get is not None and put is not None:
            return get, put
    return None


class BlasThreads:
    """The setting, with a count of those who hold it: the first remembers what was, the last puts it back."""

    def __init__(self, openblas: _Pair | None) -> None:
        self._openblas = openblas
        self._lock = threading.Lock()
        self._holders = 0
        self._before = 1

    @contextmanager
    def __call__(self, count: int) -> Iterator[None]:
        """Let OpenBLAS use ``count`` threads inside the block."""
        if self._openblas is None:
            yield
            return
        get, put = self._openblas
        with self._lock:
            if self._holders == 0:
                self._before = get()
            self._holders += 1
            put(count)
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0:
                    put(self._before)


blas_threads = BlasThreads(_find())
