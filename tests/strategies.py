"""JSON values that Hypothesis draws for the tests of several rooms.

`json_values` holds what JSON text can carry: whole characters, finite floats, integers of any size. Names are
drawn from few characters, so that objects collide and sort in interesting ways.
"""

from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

texts: Final = st.text(max_size=12)
"""Whole characters, from NUL to the astral planes."""

# Ordered differently by code point and by UTF-16 unit: U+FB33 and the emoji.
names: Final = st.one_of(st.text(alphabet='ab1~/\\"€ö\x80\r\ufb33\U0001f600', max_size=3), texts)

numbers: Final = st.one_of(
    st.integers(-3, 3),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, 1e15, 1e16, 1e21, 1e-5, 1e-6, 1e-7, 2.0**53, 2**53, 2**53 + 1]),
)

scalars: Final = st.one_of(st.none(), st.booleans(), numbers, texts)

json_values: Final[SearchStrategy[Any]] = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4)),
    max_leaves=12,
)

json_objects: Final[SearchStrategy[dict[str, Any]]] = st.dictionaries(names, json_values, max_size=4)


def typed(value: Any) -> Any:
    """Make a value whose equality tells 1, 1.0 and True apart, and 0.0 from -0.0."""
    match value:
        case dict():
            return frozenset((name, typed(item)) for name, item in value.items())
        case list():
            return tuple(map(typed, value))
        case float():
            return ("float", value.hex())
    return (type(value).__name__, value)
