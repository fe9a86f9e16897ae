"""JSON values that cannot change: what was judged is what runs.

In: dicts, lists and scalars as a JSON parser makes them. Out: the same, as ``FrozenDict`` and ``FrozenList``.
Promise: every mutator raises ``TypeError``; equality and JSON encoding are those of dict and list.

They are subclasses of dict and list because jsonschema-rs, json and msgspec take nothing else
(MappingProxyType and tuple fail in them). jsonschema-rs takes them as what is judged, but not as the schema:
``thaw`` that first. Code that reaches past the methods (``dict.__setitem__(frozen, …)``) is not stopped: this
guards against mistakes, not against hostile code in the same process.
"""

from __future__ import annotations

from typing import Any, Final, Never, TypeAlias

JSON: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None
"""A JSON value (RFC 8259)."""

_NESTED: Final = (dict, list)


def _refuse(self: object, *_args: object, **_kwargs: object) -> Never:
    raise TypeError(f"{type(self).__name__} cannot be changed; copy it with thaw() first")


class FrozenDict(dict[str, Any]):
    """A JSON object whose mutators raise ``TypeError``."""

    __slots__ = ()

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        """Order-free, as equality is."""
        return hash(frozenset(self.items()))

    def __copy__(self) -> FrozenDict:
        """Itself: it cannot change."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenDict:
        """Itself: it cannot change, all the way down."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle through ``freeze``: the default would call ``__setitem__``."""
        return freeze, (dict(self),)


class FrozenList(list[Any]):
    """A JSON array whose mutators raise ``TypeError``."""

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        """Of the items in order."""
        return hash(tuple(self))

    def __copy__(self) -> FrozenList:
        """Itself: it cannot change."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenList:
        """Itself: it cannot change, all the way down."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle through ``freeze``: the default would call ``append``."""
        return freeze, (list(self),)


def freeze(value: Any) -> Any:
    """The same JSON value, frozen all the way down; tuples become arrays.

    Raises:
        TypeError: The value, or one inside it, is not JSON (an object key that is no text, a set, a date).
    """
    kind = type(value)
    if kind is FrozenDict or kind is FrozenList:
        return value
    if isinstance(value, dict):
        for name in value:
            if not isinstance(name, str):
                raise TypeError(f"a JSON object has text keys, not {type(name).__name__}")
        return FrozenDict({name: freeze(item) for name, item in value.items()})
    if isinstance(value, list | tuple):
        return FrozenList([freeze(item) for item in value])
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"{kind.__name__} is not a JSON value")


def thaw(value: Any) -> Any:
    """An ordinary, changeable deep copy of a frozen value."""
    if isinstance(value, dict):
        return {name: thaw(item) if isinstance(item, _NESTED) else item for name, item in value.items()}
    if isinstance(value, list):
        return [thaw(item) if isinstance(item, _NESTED) else item for item in value]
    return value
