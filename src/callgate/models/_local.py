"""The embedded model behind the port of all models.

In: a request. Out: one JSON object in pieces, as the dialect ``json-mode`` reads it. Promise: nothing leaves
this process; the event loop never waits for the model; what the model cannot take comes out as
``TransportError``, as from any other.

The model chooses a tool for the task and writes its arguments; once there are results it says in words what
they are. It holds no longer plan than that.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

import anyio.to_thread

from callgate.calls import Finish, freeze
from callgate.errors import ConfigurationError, ModelError, TransportError
from callgate.wire import Exchange, Request, Said, render

from ._port import Prepared
from ._weights import find_model
from .local import (
    CallerOptions,
    Engine,
    LlamaCppEngine,
    LocalCaller,
    Message,
    NumpyEngine,
    Proposal,
)

_ENGINES: Final[Mapping[str, Callable[..., Engine]]] = {
    "numpy": NumpyEngine.open,
    "llama-cpp": LlamaCppEngine.open,
}
_UNFINISHED: Final = frozenset({Finish.LENGTH, Finish.CUT})
_RESULT_CHARACTERS: Final = 1_500
"""Of a result, what a context of 2,048 tokens has room for beside the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOptions:
    """Which model, and how it is computed.

    Args:
        path: A GGUF file; the default model's where it is None.
        engine: ``numpy``, or ``llama-cpp`` where that package is installed.
        threads: For matrix products. More than one pays only on an idle machine.
        context: At most this many tokens in a sequence; the model's own limit where it is None.
        caller: How it is asked for calls.
    """

    path: str | Path | None = None
    engine: str = "numpy"
    threads: int = 1
    context: int | None = None
    caller: CallerOptions = field(default_factory=CallerOptions)


class LocalModel:
    """The embedded model. Make one with ``connect``. The weights are loaded at the first request.

    Raises:
        ConfigurationError: There is no such engine.
        ModelError: The weights are not there; the error says how to get them.
    """

    dialect = "json-mode"

    def __init__(self, options: LocalOptions) -> None:
        if options.engine not in _ENGINES:
            raise ConfigurationError("no such engine", got=options.engine, known=sorted(_ENGINES))
        self._options = options
        self._path = find_model(options.path)
        self._caller: LocalCaller | None = None
        self._asking = threading.Lock()
        self.name = f"local:{self._path.stem}"

    def prepare(self, request: Request) -> Prepared:
        """Encode a request; its parameters are how the model is really asked, which is greedily."""
        parameters = freeze({"temperature": 0, **asdict(self._options.caller)})
        return replace(Prepared.of(self.dialect, request), parameters=parameters)

    async def chunks(self, prepared: Prepared) -> AsyncGenerator[bytes, None]:
        """Ask the model, and hand out what it writes while it writes.

        Raises:
            TransportError: The model cannot take the request, or did not bring its reply to an end.
        """
        try:
            proposal = await anyio.to_thread.run_sync(self._ask, prepared.request)
            pieces = iter(proposal)
            while (piece := await anyio.to_thread.run_sync(next, pieces, None)) is not None:
                if piece:
                    yield piece
        except ModelError as problem:
            raise TransportError(str(problem), kind="model", retryable=False) from problem
        if proposal.finish in _UNFINISHED:
            message = "the model stopped in the middle, or used up its tokens; it would do so again"
            raise TransportError(message, kind=str(proposal.finish), retryable=False)

    async def close(self) -> None:
        """Nothing is held open; the weights stay in memory as long as the model is."""

    def _ask(self, request: Request) -> Proposal:
        """In a worker thread: what is decided at once; the bytes are written as they are taken."""
        said = [item.text for item in request.history if isinstance(item, Said) and item.role == "user"]
        exchanges = [item for item in request.history if isinstance(item, Exchange)]
        task = "\n".join(said)
        with self._asking:
            caller = self._caller = self._caller or self._load()
            if exchanges:
                return caller.answer(_messages(request.system, task, exchanges[-1]))
            return caller.propose(task, request.tools)

    def _load(self) -> LocalCaller:
        options = self._options
        engine = _ENGINES[options.engine](self._path, threads=options.threads, context=options.context)
        return LocalCaller(engine, options.caller)


def _messages(system: str, task: str, exchange: Exchange) -> list[Message]:
    told = "\n".join(render(result)[:_RESULT_CHARACTERS] for result in exchange.results)
    said = f"{task}\n\nThis was done for you:\n{told}\n\nSay in one sentence what it shows."
    return [*([Message("system", system)] if system else ()), Message("user", said)]
