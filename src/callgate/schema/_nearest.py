"""The name that was probably meant.

In: a name and those that exist. Out: the nearest, or ``""`` when none is near. Promise: nothing is ever run
under a guessed name; the guess goes into the advice.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_LONGEST = 100
"""Names are compared only up to this many characters.

The comparison is quadratic and a name comes from outside.
"""


def nearest(name: str, names: Iterable[str]) -> str:
    """The name most like ``name``, spelling and word separators aside; ``""`` when none is alike."""
    if len(name) > _LONGEST:
        return ""
    known: dict[str, str] = {}
    for candidate in names:
        known.setdefault(_plain(candidate), candidate)
    plain = _plain(name)
    if plain in known:
        return known[plain]
    found = difflib.get_close_matches(plain, list(known), n=1, cutoff=0.6)
    return known[found[0]] if found else ""


def _plain(name: str) -> str:
    return re.sub(r"[^0-9a-z]+", "", name.casefold()) or name
