import threading

import numpy as np
import pytest

from callgate.models.local._threads import BlasThreads, _find, blas_threads


class Setting:
    """A library's number of threads."""

    def __init__(self) -> None:
        self.now = 7
        self.seen: list[int] = []

    def get(self) -> int:
        return self.now

    def put(self, count: int) -> None:
        self.now = count
        self.seen.append(count)


def test_the_setting_is_put_back_after_the_block_also_on_an_error() -> None:
    setting = Setting()
    limited = BlasThreads((setting.get, setting.put))
    with limited(2):
        assert setting.now == 2
    assert setting.now == 7
    with pytest.raises(KeyError), limited(2):
        raise KeyError
    assert setting.now == 7


def test_the_last_of_several_holders_puts_back_what_the_first_found() -> None:
    setting = Setting()
    limited = BlasThreads((setting.get, setting.put))
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with limited(1):
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=hold)
    with limited(3):
        other.start()
        assert inside.wait(10)
    assert setting.now == 1
    leave.set()
    other.join()
    assert setting.now == 7


def test_without_openblas_nothing_is_set() -> None:
    with BlasThreads(None)(4):
        assert np.ones(2) @ np.ones(2) == 2


@pytest.mark.skipif(_find() is None, reason="this NumPy stands on another library than OpenBLAS")
def test_the_library_that_numpy_uses_is_found_and_set() -> None:
    found = _find()
    assert found is not None
    before = found[0]()
    with blas_threads(1):
        assert found[0]() == 1
    assert found[0]() == before
