"""A real HTTP server on loopback for tests: it answers what a test tells it to, in the ways that networks do.

In: a function from a request to an `Answer`. Out: `Loopback.url`, and every request it got, in order.
It runs an event loop of its own in a thread, so that a test may use any backend, or a child process.
"""

import asyncio
import gzip
import json
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        told = json.loads(self.body)
        assert isinstance(told, dict)
        return told


@dataclass(frozen=True)
class Answer:
    """One answer: `cut_after` breaks the connection after so many bytes of the body, `silent` keeps still
    there."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    gzipped: bool = False
    piece: int = 0
    pause: float = 0.0
    delay: float = 0.0
    cut_after: int | None = None
    silent: bool = False


def sse(*events: object) -> bytes:
    told = (event if isinstance(event, str) else json.dumps(event, ensure_ascii=False) for event in events)
    return "".join(f"data: {text}\n\n" for text in told).encode()


class Loopback:
    """The server. `gone` counts the peers that hung up before their answer was whole."""

    def __init__(self, answer: Callable[[Received], Answer] | Iterable[Answer]) -> None:
        if callable(answer):
            self._answer = answer
        else:
            script = iter(answer)
            self._answer = lambda _: next(script)
        self.requests: list[Received] = []
        self.connections = 0
        self.gone = threading.Semaphore(0)
        self._loop = asyncio.new_event_loop()
        self._ready: Future[int] = Future()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._ready.result(10)}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            self.connections += 1
            try:
                while await self._one(reader, writer):
                    pass
            except (ConnectionError, asyncio.IncompleteReadError):
                self.gone.release()
            finally:
                tasks.discard(task)
                writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        self._ready.set_result(server.sockets[0].getsockname()[1])
        await self._stop.wait()
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Take one request and answer it; whether the connection stays open."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return False
        first, *lines = head.split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        request = Received(first.split(" ")[1], headers, body)
        self.requests.append(request)
        answer = self._answer(request)
        await asyncio.sleep(answer.delay)
        body = gzip.compress(answer.body) if answer.gzipped else answer.body
        told = {"content-type": "text/event-stream", "transfer-encoding": "chunked", **answer.headers}
        if answer.gzipped:
            told["content-encoding"] = "gzip"
        lines = [
            f"HTTP/1.1 {answer.status} Told",
            *(f"{name}: {value}" for name, value in told.items()),
            "",
            "",
        ]
        writer.write("\r\n".join(lines).encode("latin-1"))
        return await self._body(reader, writer, body, answer)

    async def _body(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes, answer: Answer
    ) -> bool:
        end = len(body) if answer.cut_after is None else answer.cut_after
        size = answer.piece or max(1, end)
        for start in range(0, end, size):
            piece = body[start : min(start + size, end)]
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
            if answer.pause:
                await asyncio.sleep(answer.pause)
        if answer.silent:
            if await reader.read(1) == b"":
                raise ConnectionResetError
            return False
        if answer.cut_after is not None:
            await writer.drain()
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True
