"""Bytes to meaning and back: for each dialect a file that reads it and a file that writes it."""

from ._decoder import Decoder
from ._encode import encode, encode_request, lower
from ._lower import Lowered
from ._names import wire_name
from ._ndjson import NdjsonParser
from ._request import Encoded, Exchange, Loss, Request, Said
from ._result import render
from ._slot import StreamLimits
from ._sse import ServerEvent, SseParser
from .dialects import DIALECTS

__all__ = [
    "DIALECTS",
    "Decoder",
    "Encoded",
    "Exchange",
    "Loss",
    "Lowered",
    "NdjsonParser",
    "Request",
    "Said",
    "ServerEvent",
    "SseParser",
    "StreamLimits",
    "encode",
    "encode_request",
    "lower",
    "render",
    "wire_name",
]
