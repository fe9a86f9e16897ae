"""The port: where a turn comes from, whoever makes it.

In: a request in callgate's words. Out: the bytes of one reply, as they arrive. Promise of every
implementation: ``chunks`` hands out decoded bytes (no gzip), raises nothing but ``TransportError``, and after
the first byte of a reply never begins another one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec

from callgate.calls import FrozenDict, digest, freeze
from callgate.wire import Loss, Request, encode_request

from ._estimate import ESTIMATOR, estimate_tokens

_NOT_PARAMETERS: Final = frozenset({"model", "messages", "input", "system", "instructions", "tools"})
"""Members of a request body that are the conversation or the tools; the rest are parameters."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request as it will be sent, and what the record wants to know of it.

    ``parameters`` are what is really sent, under the provider's own names. ``tool_bytes`` and ``tool_tokens``
    are the size of the tool part, ``input_tokens`` that of the whole body; ``tokens_by`` names who estimated.
    ``messages_digest`` is the SHA-256 of the conversation in canonical form. ``losses`` say what of the
    tools' schemas the provider cannot be told.
    """

    request: Request
    path: str
    body: bytes
    parameters: FrozenDict
    tool_bytes: int
    tool_tokens: int
    input_tokens: int
    tokens_by: str
    messages_digest: str
    losses: tuple[Loss, ...]

    @classmethod
    def of(cls, dialect: str, request: Request) -> Prepared:
        """Encode a request.

        Raises:
            UnknownDialectError: No file of ``wire`` speaks the dialect.
            LocalProtocolError: A result in the history answers no call of its turn, or a call has none.
        """
        encoded = encode_request(dialect, request)
        body = msgspec.json.encode(encoded.body)
        tools = b"" if encoded.tool_part is None else msgspec.json.encode(encoded.tool_part)
        said = {
            name: part for name, part in encoded.body.items() if name in _NOT_PARAMETERS - {"model", "tools"}
        }
        return cls(
            request=request,
            path=encoded.path,
            body=body,
            parameters=freeze(
                {name: part for name, part in encoded.body.items() if name not in _NOT_PARAMETERS}
            ),
            tool_bytes=len(tools),
            tool_tokens=estimate_tokens(tools.decode()),
            input_tokens=estimate_tokens(body.decode()),
            tokens_by=ESTIMATOR,
            messages_digest=digest(said),
            losses=encoded.losses,
        )


class Model(Protocol):
    """Where a turn comes from."""

    @property
    def name(self) -> str:
        """The model, as its server calls it."""
        ...

    @property
    def dialect(self) -> str:
        """How its replies are to be read: a name of ``wire.DIALECTS``."""
        ...

    def prepare(self, request: Request) -> Prepared:
        """Encode a request; nothing is sent."""
        ...

    def chunks(self, prepared: Prepared) -> AsyncGenerator[bytes, None]:
        """Send it and hand out the reply's bytes as they arrive; close the generator to stop early.

        Raises:
            TransportError: No reply, or it broke off.
        """
        ...

    async def close(self) -> None:
        """Let go of idle connections. The model may be used again after."""
        ...
