"""The embedded model behind the port of all models."""

from contextlib import aclosing

import pytest

from callgate.calls import (
    CallKey,
    Example,
    Finish,
    Status,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Turn,
    freeze,
)
from callgate.errors import ConfigurationError, ModelError, TransportError
from callgate.models import Model, connect
from callgate.wire import Decoder, Exchange, Request, Said

pytestmark = pytest.mark.anyio

SCHEMA = freeze({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
EXAMPLES = tuple(
    Example(request, freeze({"path": path}))
    for request, path in (("Show me notes.txt", "notes.txt"), ("What does setup.cfg say?", "setup.cfg"))
)
READ = ToolDefinition.of("read_file", "Read a file.", SCHEMA, EXAMPLES)


@pytest.fixture(scope="module")
def model() -> Model:
    try:
        return connect("local")
    except (ModelError, ConfigurationError) as problem:
        pytest.skip(str(problem))


async def hear(model: Model, request: Request) -> Turn:
    decoder = Decoder(model.dialect, request.tools)
    async with aclosing(model.chunks(model.prepare(request))) as chunks:
        async for chunk in chunks:
            assert chunk
            decoder.feed(chunk)
    return decoder.close()


def ask(text: str, *more: Exchange, tools: tuple[ToolDefinition, ...] = (READ,)) -> Request:
    return Request("local", history=(Said("user", text), *more), tools=tools)


async def test_a_request_becomes_a_call_that_may_run(model: Model) -> None:
    turn = await hear(model, ask("Show me todo.txt"))
    assert (turn.executable, turn.finish) == (True, Finish.TOOL_CALLS)
    assert [(call.name, call.arguments) for call in turn.calls] == [("read_file", {"path": "todo.txt"})]


async def test_the_same_request_gives_the_same_bytes(model: Model) -> None:
    one, two = [await hear(model, ask("What does a.txt say?")) for _ in range(2)]
    assert one.calls[0].arguments_text == two.calls[0].arguments_text


async def test_once_there_are_results_it_answers_in_words(model: Model) -> None:
    key = CallKey("r", 0, 0, 0)
    call = ToolCall("read_file", freeze({"path": "a.txt"}), key=key)
    result = ToolResult(key, None, "read_file", Status.OK, content="The meeting is on Monday.")
    done = Exchange(Turn(calls=(call,), finish=Finish.TOOL_CALLS, executable=True), (result,))
    turn = await hear(model, ask("When is the meeting?", done))
    assert turn.calls == ()
    assert turn.text


async def test_what_the_model_cannot_take_is_an_error_of_the_transport(model: Model) -> None:
    with pytest.raises(TransportError, match="token") as caught:
        await hear(model, ask("Read \x04"))
    assert (caught.value.facts["kind"], caught.value.retryable) == ("model", False)


def test_the_record_says_how_it_was_really_asked(model: Model) -> None:
    prepared = model.prepare(ask("Read a.txt"))
    assert prepared.parameters["temperature"] == 0
    assert prepared.parameters["call_tokens"] > 0
    assert prepared.tool_tokens > 0


def test_an_engine_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="numpy"):
        connect("local", engine="torch")


def test_weights_that_are_not_there_are_told() -> None:
    with pytest.raises(ModelError, match="missing"):
        connect("local:missing.gguf")


async def test_a_reply_that_the_model_did_not_finish_says_so(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = pytest.importorskip("callgate.models.local")
    broken = local.Proposal(None, {}, finish=Finish.LENGTH, chunks=iter([b'{"text": "', b"", b"Well"]))
    monkeypatch.setattr(model, "_ask", lambda _: broken)
    with pytest.raises(TransportError, match="tokens") as caught:
        await hear(model, ask("Show me todo.txt"))
    assert (caught.value.facts["kind"], caught.value.retryable) == ("length", False)
