"""Hosted models against a real server on loopback."""

import logging
import pickle
import socket
import time
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from callgate.calls import FrozenDict
from callgate.errors import ConfigurationError, TransportError
from callgate.models import Model, connect
from callgate.wire import Request, Said
from tests.models.loopback import Answer, Loopback, Received, sse

pytestmark = pytest.mark.anyio

KEY = "sk-secret-0123456789"
ASK = Request("m", "Be brief.", (Said("user", "说明?"),), parameters=FrozenDict(temperature=0))
BODY = sse({"choices": [{"index": 0, "delta": {"content": "好"}}]}, "[DONE]")


def model(server: Loopback | str, **options: Any) -> Model:
    url = server if isinstance(server, str) else server.url
    return connect("openai:m", base_url=url, api_key=KEY, **{"backoff_seconds": 0.01, **options})


async def read(asked: Model, got: list[bytes] | None = None) -> bytes:
    pieces = [] if got is None else got
    try:
        async with aclosing(asked.chunks(asked.prepare(ASK))) as chunks:
            async for chunk in chunks:
                pieces.append(chunk)
    finally:
        await asked.close()
    return b"".join(pieces)


async def fail(asked: Model, got: list[bytes] | None = None) -> TransportError:
    with pytest.raises(TransportError) as caught:
        await read(asked, got)
    return caught.value


async def test_a_reply_is_streamed_as_the_server_sent_it() -> None:
    with Loopback([Answer(BODY, piece=7)]) as server:
        assert await read(model(server)) == BODY
    [request] = server.requests
    assert request.path == "/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    assert request.json["messages"][-1]["content"] == "说明?"
    assert "说明".encode() in request.body


async def test_a_compressed_reply_comes_out_decoded() -> None:
    with Loopback([Answer(BODY * 50, gzipped=True, piece=11)]) as server:
        assert await read(model(server)) == BODY * 50


async def test_pieces_are_handed_out_before_the_reply_is_whole() -> None:
    with Loopback([Answer(BODY, piece=10, silent=True)]) as server:
        asked = model(server)
        async with aclosing(asked.chunks(asked.prepare(ASK))) as chunks:
            assert BODY.startswith(await anext(chunks))
        await asked.close()


async def test_the_base_url_keeps_its_path_and_its_query() -> None:
    with Loopback([Answer(BODY)]) as server:
        await read(model(f"{server.url}/deployments/d/?api-version=7"))
    assert server.requests[0].path == "/deployments/d/chat/completions?api-version=7"


async def test_each_provider_gets_its_own_headers_and_path() -> None:
    with Loopback(lambda _: Answer(BODY)) as server:
        await read(connect("anthropic:m", base_url=server.url, api_key=KEY))
        await read(
            connect("openai-responses:m", base_url=server.url, api_key=KEY, headers={"openai-project": "p"})
        )
        await read(connect("openai:m", base_url=server.url))
    first, second, third = server.requests
    assert (first.path, first.headers["x-api-key"]) == ("/v1/messages", KEY)
    assert first.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in first.headers
    assert (second.path, second.headers["openai-project"]) == ("/responses", "p")
    assert "authorization" not in third.headers


# ---------------------------------------------------------------- trying again


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_a_fault_that_passes_is_tried_again(status: int) -> None:
    with Loopback([Answer(status=status), Answer(BODY)]) as server:
        assert await read(model(server)) == BODY
    assert len(server.requests) == 2
    assert server.requests[0].body == server.requests[1].body


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_our_own_fault_is_told_at_once(status: int) -> None:
    with Loopback([Answer(b'{"error":{"type":"t","message":"no such model"}}', status=status)]) as server:
        problem = await fail(model(server))
    assert (problem.facts["status"], problem.facts["kind"], problem.retryable) == (status, "t", False)
    assert "no such model" in str(problem)
    assert len(server.requests) == 1


async def test_attempts_are_bounded_and_the_last_error_is_told() -> None:
    answer = Answer(
        b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', status=529
    )
    with Loopback(lambda _: answer) as server:
        problem = await fail(model(server, attempts=3))
    assert len(server.requests) == 3
    assert (problem.facts["kind"], problem.retryable) == ("overloaded_error", True)


async def test_retry_after_in_seconds_is_waited_for() -> None:
    with Loopback([Answer(status=429, headers={"retry-after": "1"}), Answer(BODY)]) as server:
        start = time.monotonic()
        assert await read(model(server)) == BODY
        assert time.monotonic() - start >= 1


async def test_retry_after_as_a_date_is_measured_by_the_servers_clock() -> None:
    # The server's clock is a year behind; against ours the date would have passed long ago.
    headers = {"retry-after": "Tue, 02 Jan 2024 00:00:01 GMT", "date": "Tue, 02 Jan 2024 00:00:00 GMT"}
    with Loopback([Answer(status=503, headers=headers), Answer(BODY)]) as server:
        start = time.monotonic()
        assert await read(model(server)) == BODY
        assert time.monotonic() - start >= 1


async def test_a_wait_longer_than_our_patience_is_told_at_once() -> None:
    with Loopback([Answer(status=429, headers={"retry-after": "3600"})]) as server:
        problem = await fail(model(server, patience_seconds=5))
    assert (problem.retry_after, problem.retryable) == (3600, True)
    assert len(server.requests) == 1


async def test_an_exhausted_quota_is_not_waited_for() -> None:
    body = b'{"error":{"type":"insufficient_quota","message":"You exceeded your quota"}}'
    with Loopback([Answer(body, status=429)]) as server:
        problem = await fail(model(server))
    assert problem.facts["kind"] == "insufficient_quota"
    assert not problem.retryable


async def test_a_server_that_says_not_to_retry_is_believed() -> None:
    with Loopback([Answer(status=503, headers={"x-should-retry": "false"})]) as server:
        assert not (await fail(model(server))).retryable
    assert len(server.requests) == 1


async def test_a_connection_closed_before_the_first_byte_is_tried_again() -> None:
    with Loopback([Answer(BODY, cut_after=0), Answer(b""), Answer(BODY)]) as server:
        assert await read(model(server)) == BODY
    assert len(server.requests) == 3


@pytest.mark.parametrize("gzipped", [False, True])
async def test_a_reply_that_breaks_off_is_never_asked_for_again(gzipped: bool) -> None:
    body = BODY * 40
    with Loopback(lambda _: Answer(body, cut_after=30, gzipped=gzipped)) as server:
        got: list[bytes] = []
        problem = await fail(model(server), got)
    assert got
    assert body.startswith(b"".join(got))
    assert problem.facts["kind"] == "cut"
    assert len(server.requests) == 1


async def test_damaged_compression_is_told() -> None:
    with Loopback(lambda _: Answer(BODY, headers={"content-encoding": "gzip"})) as server:
        problem = await fail(model(server))
    assert problem.facts["kind"] == "encoding"
    assert len(server.requests) == 1


async def test_silence_in_a_reply_is_a_timeout() -> None:
    with Loopback([Answer(BODY, silent=True)]) as server:
        problem = await fail(model(server, idle_seconds=1.0))
    assert problem.facts["kind"] == "timeout"
    assert len(server.requests) == 1


async def test_silence_before_a_reply_is_tried_again() -> None:
    delays = iter([5.0])
    with Loopback(lambda _: Answer(BODY, delay=next(delays, 0))) as server:
        assert await read(model(server, idle_seconds=0.5)) == BODY
    assert len(server.requests) > 1


async def test_a_server_that_is_not_there_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        problem = await fail(model(url, attempts=2))
    assert (problem.facts["kind"], problem.retryable) == ("connect", True)


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    with Loopback(lambda _: Answer(BODY)) as elsewhere:
        to = {"location": f"{elsewhere.url}/v1/chat/completions"}
        with Loopback([Answer(status=307, headers=to)]) as server:
            problem = await fail(model(server))
    assert problem.facts["kind"] == "redirect"
    assert problem.facts["location"] == to["location"]
    assert elsewhere.requests == []


# ---------------------------------------------------------------- errors


async def test_the_error_of_a_server_is_read_only_so_far() -> None:
    with Loopback([Answer(b"x" * 50_000_000, status=400, piece=1_000_000)]) as server:
        problem = await fail(model(server))
        assert len(str(problem)) < 1000
        assert await anyio.to_thread.run_sync(lambda: server.gone.acquire(timeout=30))


async def test_no_key_stands_in_an_error_a_repr_or_a_log(caplog: pytest.LogCaptureFixture) -> None:
    def answer(request: Received) -> Answer:
        told = request.headers["authorization"] + request.headers["x-tenant"]
        return Answer(f'{{"error":{{"type":"{KEY}","message":"bad key {told}"}}}}'.encode(), status=500)

    with caplog.at_level(logging.DEBUG), Loopback(answer) as server:
        asked = model(server, headers={"x-tenant": "tenant-secret"}, attempts=2)
        problem = await fail(asked)
    said = [str(problem), repr(problem), repr(pickle.dumps(problem)), repr(asked), caplog.text]
    assert "bad key Bearer ***" in said[0]
    assert not [text for text in said if KEY in text or "tenant-secret" in text]


async def test_a_key_with_a_line_end_is_refused_without_being_shown() -> None:
    with pytest.raises(ConfigurationError) as caught:
        connect("openai:m", api_key="sk-one\nsk-two", base_url="http://127.0.0.1")
    assert "sk-" not in str(caught.value)
    assert "authorization" in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://host/", "127.0.0.1:8000", "http://", "http://[", "http://h:99999/"])
async def test_a_base_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="base_url"):
        connect("openai:m", base_url=url)


async def test_a_password_in_the_base_url_is_refused_without_being_shown() -> None:
    with pytest.raises(ConfigurationError, match="api_key=") as caught:
        connect("openai:m", base_url="http://me:hidden@host/")
    assert "hidden" not in str(caught.value)


# ---------------------------------------------------------------- closing


async def test_stopping_early_closes_the_connection() -> None:
    with Loopback([Answer(BODY * 3, piece=5, silent=True)]) as server:
        asked = model(server)
        with anyio.CancelScope() as scope:
            async with aclosing(asked.chunks(asked.prepare(ASK))) as chunks:
                async for _ in chunks:
                    scope.cancel()
        await asked.close()
        assert await anyio.to_thread.run_sync(lambda: server.gone.acquire(timeout=30))


async def test_turns_share_a_connection_and_a_closed_model_can_be_used_again() -> None:
    with Loopback(lambda _: Answer(BODY)) as server:
        asked = model(server)
        for _ in range(2):
            assert b"".join([chunk async for chunk in asked.chunks(asked.prepare(ASK))]) == BODY
        assert server.connections == 1
        await asked.close()
        assert await read(asked) == BODY
    assert server.connections == 2


async def test_closing_leaves_a_reply_that_is_being_read_alone() -> None:
    with Loopback([Answer(BODY, piece=9, pause=0.01)]) as server:
        asked = model(server)
        got = b""
        async for chunk in asked.chunks(asked.prepare(ASK)):
            await asked.close()
            got += chunk
        assert got == BODY
        await asked.close()
