"""Bytes to meaning and back: for each dialect a file that reads it and a file that writes it."""

from ._decoder import Decoder
from ._ndjson import NdjsonParser
from ._slot import StreamLimits
from ._sse import ServerEvent, SseParser
from .dialects import DIALECTS

__all__ = [
    "DIALECTS",
    "Decoder",
    "NdjsonParser",
    "ServerEvent",
    "SseParser",
    "StreamLimits",
]
