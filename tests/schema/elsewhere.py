"""A module that knows none of the names in the functions it wraps."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def wrapped_elsewhere(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function as decorators do."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper
