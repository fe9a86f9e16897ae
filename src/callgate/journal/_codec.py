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
from typing import Any, Final

import msgspec

from callgate.calls import Entry, FrozenDict, FrozenList, Raised, Reconciled, Returned, TurnAsked, freeze
from callgate.errors import JournalCorruptError, JournalVersionError, LocalProtocolError

FORMAT: Final = 1
"""Number of the format that is written. It grows when a reader of the older one could misread a line."""

_HEAD: Final = b'{"v":%d,' % FORMAT
_VERSION: Final = re.compile(rb'\{"v":([0-9]{1,9}),')
_FROZEN: Final = (FrozenDict, FrozenList)


def encode_entry(entry: Entry) -> bytes:
    """The line of an entry.

    Raises:
        LocalProtocolError: The entry holds a value that JSON cannot carry.
    """
    try:
        line = _ENCODER.encode(entry)
        # msgspec writes NaN and the infinities as null.
        if b"null" in line and not _is_finite(_json_value(entry)):
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
        return _with_frozen_content(_DECODER.decode(line))
    except (msgspec.MsgspecError, RecursionError):
        return _decode_tolerantly(line)


def _decode_tolerantly(line: bytes) -> Entry:
    try:
        entry = msgspec.convert(json.loads(line), Entry, dec_hook=_restore)
    except (ValueError, RecursionError) as problem:
        message = "an entry cannot be read"
        raise JournalCorruptError(message, why=str(problem)) from None
    return _with_frozen_content(entry)


def _with_frozen_content(entry: Entry) -> Entry:
    # A field of any type comes back as plain dict and list.
    if isinstance(entry, Returned | Reconciled) and isinstance(entry.content, dict | list):
        return msgspec.structs.replace(entry, content=freeze(entry.content))
    return entry


def _restore(kind: type, value: Any) -> Any:
    if kind in _FROZEN:
        frozen = freeze(value)
        if type(frozen) is kind:
            return frozen
    message = f"{kind.__name__} expected"
    raise ValueError(message)


def _json_value(entry: Entry) -> Any:
    """What a tool or a host put in; everything else came through a parser that knows no such number."""
    match entry:
        case Returned() | Reconciled():
            return entry.content
        case Raised():
            return entry.facts
        case TurnAsked():
            return entry.parameters
    return None


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return not isinstance(value, list | tuple) or all(map(_is_finite, value))


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Entry, dec_hook=_restore)
