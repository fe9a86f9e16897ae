"""Models behind HTTP: one POST a turn, the reply streamed.

In: a prepared request. Out: decoded bytes (``aiter_bytes``: ``aiter_raw`` would hand out gzip). Promise: a
request is sent again only while no byte of its reply was handed out, only for faults that pass, at most
``attempts`` times and ``patience_seconds`` long; what the server asks for (``Retry-After``) is waited for, or
the error comes at once. No key stands in an error or a repr.
"""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit, urlunsplit

import anyio
import httpx2
import stamina

from callgate.errors import ConfigurationError, TransportError
from callgate.wire import Request

from ._answer import error_in, may_pass, retry_after
from ._port import Prepared

_ERROR_BYTES: Final = 65_536
_ERROR_CHARACTERS: Final = 500
_SECRET_CHARACTERS: Final = 8
"""What is shorter is no secret, and striking it out would spoil the message."""
_BACKOFF_MAX_SECONDS: Final = 8.0
_HEADER: Final = re.compile(r"[!-~]([ -~]*[!-~])?|")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedOptions:
    """How to reach a server, and how long to try.

    Args:
        api_key: Sent as the provider wants it; never shown.
        base_url: Where the provider's paths begin. A query string is kept.
        headers: More headers for every request; their values are never shown.
        connect_seconds: Longest wait for a connection.
        idle_seconds: Longest silence, before the first byte and between two pieces of a reply.
        attempts: How often one request is sent at most.
        patience_seconds: No new attempt begins later than this after the first one.
        backoff_seconds: First pause between attempts. It doubles up to 8 s; up to as much again is added at
            random.
    """

    api_key: str = field(default="", repr=False)
    base_url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    connect_seconds: float = 10.0
    idle_seconds: float = 120.0
    attempts: int = 5
    patience_seconds: float = 60.0
    backoff_seconds: float = 0.5


class _Reply(NamedTuple):
    """A response whose first piece is there; what follows may not be asked for again."""

    response: httpx2.Response
    first: bytes
    rest: AsyncGenerator[bytes, None]


class HostedModel:
    """A model behind HTTP. Make one with ``connect``.

    Args:
        name: The model, as its server calls it.
        dialect: How it is asked and read.
        options: Where it is and how long to try; ``headers`` with the key already in them.

    Raises:
        ConfigurationError: The base URL or a header cannot be sent.
    """

    def __init__(self, name: str, dialect: str, options: HostedOptions) -> None:
        self.name = name
        self.dialect = dialect
        self._options = options
        self._base = _base(options.base_url)
        self._headers = {
            "accept": "text/event-stream",
            "content-type": "application/json",
            "user-agent": "callgate",
            **_sendable(options.headers),
        }
        told = (options.api_key, *options.headers.values())
        self._secrets = [text for text in told if len(text) >= _SECRET_CHARACTERS]
        self._client: httpx2.AsyncClient | None = None
        self._streams = 0

    def __repr__(self) -> str:
        """Without the key."""
        return f"HostedModel({self.name!r}, {self.dialect!r}, {self._options.base_url!r})"

    def prepare(self, request: Request) -> Prepared:
        """Encode a request in this model's dialect."""
        return Prepared.of(self.dialect, request)

    async def chunks(self, prepared: Prepared) -> AsyncGenerator[bytes, None]:
        """Send the request and hand out the reply's decoded bytes.

        Raises:
            TransportError: No reply within the attempts, or it broke off.
        """
        async with self._connected() as client:
            reply = await self._asked(client, prepared)
            try:
                yield reply.first
                async for piece in reply.rest:
                    yield piece
            except httpx2.HTTPError as problem:
                raise self._broken(problem) from problem
            finally:
                await reply.rest.aclose()
                await reply.response.aclose()

    async def close(self) -> None:
        """Drop idle connections, unless a reply is being read. The model may be used again after."""
        client = self._client
        if client is not None and not self._streams:
            self._client = None
            await client.aclose()

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[httpx2.AsyncClient]:
        # Made here, inside the running event loop, which its connections belong to.
        if self._client is None:
            timeout = httpx2.Timeout(self._options.idle_seconds, connect=self._options.connect_seconds)
            # A redirect would carry the key to wherever it points.
            self._client = httpx2.AsyncClient(
                timeout=timeout, headers=self._headers, follow_redirects=False, verify=_tls()
            )
        self._streams += 1
        try:
            yield self._client
        finally:
            self._streams -= 1

    async def _asked(self, client: httpx2.AsyncClient, prepared: Prepared) -> _Reply:
        options = self._options
        attempts = stamina.retry_context(
            on=_patience(anyio.current_time() + options.patience_seconds),
            attempts=options.attempts,
            timeout=options.patience_seconds,
            wait_initial=options.backoff_seconds,
            wait_jitter=options.backoff_seconds,
            wait_max=_BACKOFF_MAX_SECONDS,
        )
        async for attempt in attempts:
            with attempt:
                return await self._sent(client, prepared)
        raise AssertionError("retry_context ends by returning or raising")  # pragma: no cover

    async def _sent(self, client: httpx2.AsyncClient, prepared: Prepared) -> _Reply:
        url = urlunsplit(self._base._replace(path=self._base.path.rstrip("/") + prepared.path))
        try:
            response = await client.send(
                client.build_request("POST", url, content=prepared.body), stream=True
            )
            try:
                return await self._begun(response)
            except BaseException:
                await response.aclose()
                raise
        except httpx2.HTTPError as problem:
            raise self._broken(problem) from problem

    async def _begun(self, response: httpx2.Response) -> _Reply:
        pieces = response.aiter_bytes()
        if not response.is_success:
            raise self._refused(response, await _head(pieces))
        async for piece in pieces:
            if piece:
                return _Reply(response, piece, pieces)
        message = "the model's server closed the reply before its first byte"
        raise TransportError(message, kind="cut", retryable=True)

    def _refused(self, response: httpx2.Response, body: bytes) -> TransportError:
        status, headers = response.status_code, response.headers
        kind, said = error_in(body)
        if response.has_redirect_location:
            return TransportError(
                "the model's server redirects, and no key is sent after it; set base_url to where it leads",
                status=status,
                kind="redirect",
                location=self._safe(headers["location"]),
                retryable=False,
            )
        return TransportError(
            f"the model's server answered {status}" + (f": {self._safe(said)}" if said else ""),
            status=status,
            kind=self._safe(kind) or "status",
            retryable=may_pass(status, headers, kind),
            retry_after=retry_after(headers, time.time()),
            request_id=headers.get("request-id") or headers.get("x-request-id"),
        )

    def _broken(self, problem: httpx2.HTTPError) -> TransportError:
        kind, message = next(told for cause, told in _BROKEN.items() if isinstance(problem, cause))
        detail = self._safe(str(problem)) or type(problem).__name__
        return TransportError(f"{message}: {detail}", kind=kind, retryable=kind in _PASSING)

    def _safe(self, text: str) -> str:
        """What a peer said, short and without our key: some servers repeat it."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text[:_ERROR_CHARACTERS]


_BROKEN: Final[dict[type[httpx2.HTTPError], tuple[str, str]]] = {
    httpx2.ConnectTimeout: ("timeout", "no connection to the model's server in time"),
    httpx2.TimeoutException: ("timeout", "the model's server was silent for too long"),
    httpx2.ConnectError: ("connect", "the model's server cannot be reached"),
    httpx2.NetworkError: ("cut", "the connection to the model's server broke"),
    httpx2.RemoteProtocolError: ("cut", "the connection to the model's server broke"),
    httpx2.DecodingError: ("encoding", "the reply's content encoding is damaged"),
    httpx2.HTTPError: ("network", "the request to the model's server failed"),
}
"""httpx2's error → our ``kind`` and words; the first row that fits."""
_PASSING: Final = frozenset({"timeout", "connect", "cut"})


@cache
def _tls() -> ssl.SSLContext:
    """Read the machine's certificates once: it takes longer than a connection."""
    return httpx2.create_ssl_context()


def _patience(until: float) -> Callable[[Exception], bool | float]:
    """What stamina asks after each failure: whether to go on, and the pause where the server named one."""

    def decide(problem: Exception) -> bool | float:
        if not isinstance(problem, TransportError) or not problem.retryable:
            return False
        asked = problem.retry_after
        if asked is None:
            return True
        return asked if anyio.current_time() + asked <= until else False

    return decide


async def _head(pieces: AsyncGenerator[bytes, None]) -> bytes:
    """The beginning of an error's body: enough to tell it, however much the server sends."""
    head = b""
    async with aclosing(pieces):
        async for piece in pieces:
            head += piece
            if len(head) >= _ERROR_BYTES:
                break
    return head[:_ERROR_BYTES]


def _base(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigurationError(
            "base_url is an http or https address, such as http://127.0.0.1:8000/v1", got=url
        )
    if "@" in parts.netloc:
        raise ConfigurationError("base_url holds a name or password; send them by api_key= or headers=")
    return parts


def _sendable(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _HEADER.fullmatch(value):
            raise ConfigurationError(
                "a header's value is printable ASCII, no blank at an end; was a line end copied with it?",
                header=name,
            )
    return dict(headers)
