"""How a cost grows with the input, told so that a busy machine cannot be mistaken for a square."""

from collections.abc import Callable
from typing import Final

TIMES: Final = 8
ROUNDS: Final = 8
# Per doubling less than two and a half times as much, three doublings: linear is 8, a square is 64.
BOUND: Final = 2.5**3


def grows_linearly(seconds: Callable[[int], float], size: int) -> bool:
    """Whether eight times the input costs about eight times as much.

    Args:
        seconds: the processor time that an input of a given size takes.
        size: the small size; it should take some milliseconds.

    The fastest of several rounds counts, and a round that shows it ends the search: what else the machine
    does only ever adds, so no noise makes a square look straight.
    """
    small: list[float] = []
    large: list[float] = []
    for _ in range(ROUNDS):
        small.append(seconds(size))
        large.append(seconds(size * TIMES))
        if min(large) < BOUND * min(small):
            return True
    return False
