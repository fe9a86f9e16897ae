r"""An entry as one line of JSON, and back.

In: an entry. Out: bytes. Promise: what is read equals what was written, frozen all the way down; a line
written by an older version stays readable, one written by a newer version is told apart from a broken one.

The line is an object that begins with ``v``, the format's number, and has the entry's class name as ``type``.
Fields are only added, with a default. The fast way is msgspec; text with half a surrogate pair, which msgspec
refuses and which a provider can send, goes through the ``json`` module as a ``\u`` escape (RFC 8259 section
8.2).
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, get_args

import msgspec

from callgate.calls import Entry, FrozenDict, FrozenList, freeze
from callgate.errors import JournalCorruptError, JournalVersionError, LocalProtocolError

FORMAT: Final = 1
"""Number of the format that is written. It grows when a reader of the older one could misread a line."""

_HEAD: Final = b'{"v":%d,' % FORMAT
_VERSION: Final = re.compile(rb'\{"v":([0-9]{1,9}),')


def encode_entry(entry: Entry) -> bytes:
    """The line of an entry.

    Raises:
        LocalProtocolError: The entry holds a value that JSON cannot carry.
    """
    try:
        line = _ENCODER.encode(entry)
        # msgspec writes NaN and the infinities as null.
        if b"null" in line and not all(_is_carried(getattr(entry, name)) for name in _JSON[type(entry)]):
            message = "an entry holds a number that JSON cannot carry"
            raise LocalProtocolError(message, entry=type(entry).__name__)
    except UnicodeEncodeError:
        line = json.dumps(msgspec.to_builtins(entry), separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        message = "an entry holds a value that JSON cannot carry"
        raise LocalProtocolError(message, entry=type(entry).__name__) from problem
    return _HEAD + line[1:]


def decode_entry(line: bytes) -> Entry:
    """The entry of a line.

    Raises:
        JournalVersionError: A newer version wrote it.
        JournalCorruptError: It is no entry.
    """
    head = _VERSION.match(line)
    if head is not None and int(head[1]) > FORMAT:
        message = "the entry was written by a newer version"
        raise JournalVersionError(message, found=int(head[1]), known=FORMAT)
    try:
        return _frozen(_DECODER.decode(line))
    except (msgspec.MsgspecError, RecursionError):
        return _decode_tolerantly(line)


def _decode_tolerantly(line: bytes) -> Entry:
    try:
        entry = msgspec.convert(json.loads(line), Entry, dec_hook=_restore)
    except (ValueError, RecursionError) as problem:
        message = "an entry cannot be read"
        raise JournalCorruptError(message, why=str(problem)) from None
    return _frozen(entry)


def _frozen(entry: Entry) -> Entry:
    """The same, frozen all the way down: a field of any type comes back as plain dict and list."""
    thawed = {name: getattr(entry, name) for name in _ANY[type(entry)]}
    frozen = {name: freeze(value) for name, value in thawed.items() if isinstance(value, dict | list)}
    return msgspec.structs.replace(entry, **frozen) if frozen else entry


def _restore(kind: type, value: Any) -> Any:
    if kind in {FrozenDict, FrozenList}:
        frozen = freeze(value)
        if type(frozen) is kind:
            return frozen
    message = f"{kind.__name__} expected"
    raise ValueError(message)


def _is_carried(value: Any) -> bool:
    if isinstance(value, dict | list):
        # The walk is slow, so it is left out where the encoder wrote no null for it.
        return b"null" not in _ENCODER.encode(value) or _is_finite(value)
    return _is_finite(value)


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return not isinstance(value, list | tuple) or all(map(_is_finite, value))


def _fields(*types: object) -> dict[type, tuple[str, ...]]:
    """The fields of each entry that are of one of these types."""
    return {
        kind: tuple(field.name for field in msgspec.structs.fields(kind) if field.type in types)
        for kind in get_args(Entry)
    }


_ANY: Final = _fields(Any)
_JSON: Final = _fields(Any, FrozenDict, FrozenList)
_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Entry, dec_hook=_restore)
