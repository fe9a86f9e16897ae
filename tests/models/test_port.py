"""What the record knows of a request."""

import json

import pytest

from callgate.calls import ToolDefinition, freeze
from callgate.models import ESTIMATOR, Prepared, estimate_tokens
from callgate.wire import Request, Said, encode_request

SCHEMA = freeze({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
TOOL = ToolDefinition.of("read_file", "Read a file.", SCHEMA)
DIALECTS = ["openai-chat", "openai-responses", "anthropic"]


def request(
    text: str = "说明?", tools: tuple[ToolDefinition, ...] = (TOOL,), **parameters: object
) -> Request:
    return Request("m", "Be brief.", (Said("user", text),), tools, freeze(parameters))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_parameters_are_those_that_are_sent(dialect: str) -> None:
    prepared = Prepared.of(dialect, request(temperature=0, max_tokens=50))
    body = json.loads(prepared.body)
    assert prepared.parameters["temperature"] == 0
    assert 50 in prepared.parameters.values()
    assert prepared.parameters["stream"] is True
    assert {name: body[name] for name in prepared.parameters} == prepared.parameters
    rest = set(body) - set(prepared.parameters)
    assert rest <= {"model", "messages", "input", "instructions", "system", "tools"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_tool_part_is_measured_in_bytes_and_tokens(dialect: str) -> None:
    prepared = Prepared.of(dialect, request())
    tools = json.dumps(json.loads(prepared.body)["tools"], separators=(",", ":"), ensure_ascii=False)
    assert prepared.tool_bytes == len(tools.encode())
    assert (prepared.tool_tokens, prepared.tokens_by) == (estimate_tokens(tools), ESTIMATOR)
    assert prepared.input_tokens > prepared.tool_tokens


@pytest.mark.parametrize("dialect", DIALECTS)
def test_without_tools_there_is_no_tool_part(dialect: str) -> None:
    prepared = Prepared.of(dialect, request(tools=()))
    assert (prepared.tool_bytes, prepared.tool_tokens) == (0, 0)
    assert not [name for name in json.loads(prepared.body) if "tool" in name]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_messages_digest_follows_the_conversation_alone(dialect: str) -> None:
    told = Prepared.of(dialect, request())
    assert Prepared.of(dialect, request(tools=(), temperature=1)).messages_digest == told.messages_digest
    assert Prepared.of(dialect, request("else")).messages_digest != told.messages_digest


@pytest.mark.parametrize("dialect", DIALECTS)
def test_text_goes_out_as_utf8_and_not_escaped(dialect: str) -> None:
    prepared = Prepared.of(dialect, request())
    assert "说明".encode() in prepared.body
    assert json.loads(prepared.body) == encode_request(dialect, request()).body
