import json
from itertools import combinations
from typing import Any

import pytest

from callgate.calls import Finish, FrozenDict, ToolDefinition
from callgate.errors import ModelError
from callgate.models.local import CallerOptions, LocalCaller, Message, NumpyEngine
from callgate.models.local._prompt import NO_TOOL
from callgate.wire import Decoder
from tests.models.local.judging import FLOORS, REQUESTS, TOOLS, judged
from tests.models.local.parrot import Parrot

READ, LIST = TOOLS[:2]
ARGUMENTS = "Arguments:"


def likes_reading(before: str, said: str) -> float:
    return -1.0 if before.startswith("Tool read_file") else -30.0


def caller(saying: bytes, **options: Any) -> LocalCaller:
    key = ARGUMENTS if saying.startswith((b"{", b"\n")) else "assistant\n"
    return LocalCaller(Parrot({key: saying}, likes_reading), CallerOptions(copy_bias=0, **options))


def test_a_call_is_one_object_and_a_line_break_as_json_mode_reads_it() -> None:
    proposal = caller(b'{"path": "a.txt"}\n\nRequest: more').propose("Show a.txt", TOOLS)
    body = b"".join(proposal)
    assert body == b'{"tool": "read_file", "arguments":{"path": "a.txt"}}\n'
    assert (proposal.tool, proposal.finish) == ("read_file", Finish.TOOL_CALLS)
    decoder = Decoder("json-mode", tools=TOOLS)
    decoder.feed(body)
    turn = decoder.close()
    assert turn.executable
    assert [(call.name, dict(call.arguments)) for call in turn.calls] == [("read_file", {"path": "a.txt"})]


def test_bytes_come_while_they_are_decoded() -> None:
    engine = Parrot({ARGUMENTS: b'{"path": "a.txt"}'}, likes_reading)
    stream = iter(LocalCaller(engine, CallerOptions(copy_bias=0)).propose("Show a.txt", TOOLS))
    assert next(stream) == b'{"tool": "read_file", "arguments":'
    counts = [len(engine.evaluated) for _ in stream]
    assert counts == sorted(counts)
    assert counts[-1] - counts[0] == len(b'{"path": "a.txt"}') - 1


@pytest.mark.parametrize(
    ("saying", "finish"),
    [
        (b'{"path": "a.t', Finish.CUT),  # the model ended the turn
        (b'{"path": "a.t\nRequest:', Finish.CUT),  # it began another example
        (b'{"path": "a.txt"\n\nRequest:', Finish.CUT),
        (b'{"path": "' + b"a" * 300, Finish.LENGTH),
    ],
)
def test_what_does_not_close_is_a_cut_stream_that_runs_nothing(saying: bytes, finish: Finish) -> None:
    proposal = caller(saying, call_tokens=40).propose("Show a.txt", TOOLS)
    body = b"".join(proposal)
    assert not body.endswith(b"}\n")
    assert proposal.finish is finish
    assert proposal.completion_tokens <= 40
    decoder = Decoder("json-mode", tools=TOOLS)
    decoder.feed(body)
    assert not decoder.close().executable


def test_without_a_brace_in_mind_the_model_still_writes_an_object() -> None:
    body = b"".join(caller(b"\n", call_tokens=3).propose("Show a.txt", TOOLS))
    assert body.startswith(b'{"tool": "read_file", "arguments":{')


def test_no_tool_is_a_candidate_with_a_head_start() -> None:
    def likes(before: str, said: str) -> float:
        return -8.0 if before.startswith(NO_TOOL) else -6.0

    engine = Parrot({"assistant\n": 'Grüß "Gott"\n'.encode()}, likes)
    said = LocalCaller(engine).propose("Hello", TOOLS)
    assert said.tool is None
    assert said.scores[None] == -4.0
    assert json.loads(b"".join(said)) == {"text": 'Grüß "Gott"\n'}
    assert said.finish is Finish.STOP
    assert LocalCaller(engine, CallerOptions(no_tool_bias=0)).propose("Hello", TOOLS).tool == "read_file"


def test_without_tools_the_model_answers() -> None:
    said = caller(b"Hi").propose("Hello", [])
    assert b"".join(said) == b'{"text": "Hi"}\n'


def test_an_answer_that_runs_out_of_tokens_is_cut() -> None:
    said = caller(b"Hi" * 100, answer_tokens=7).answer([Message("user", "Hello")])
    assert b"".join(said) == b'{"text": "HiHiHiH'
    assert (said.finish, said.completion_tokens) == (Finish.LENGTH, 7)


def test_half_a_character_at_the_end_of_an_answer_is_replaced() -> None:
    said = caller("ü".encode() + "ü".encode()[:1]).answer([Message("user", "Hello")])
    assert json.loads(b"".join(said)) == {"text": "ü\ufffd"}


def test_what_was_read_of_a_tool_is_read_once() -> None:
    engine = Parrot({ARGUMENTS: b"{}"}, likes_reading)
    asked = LocalCaller(engine)
    asked.propose("Show a.txt", TOOLS)
    first = len(engine.evaluated)
    asked.propose("Show b.txt", TOOLS)
    asked.propose("Show c.txt", [READ])
    assert (first, len(engine.evaluated)) == (len(TOOLS) + 1, first)
    assert engine.ids == []


def test_tools_that_are_offered_no_longer_are_forgotten() -> None:
    asked = LocalCaller(Parrot({}, likes_reading))
    for i in range(80):
        asked.propose("Show", [ToolDefinition.of(f"tool_{i}", "Do it.", FrozenDict())])
    assert len(asked._read) < 40


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ModelError, match="one name"):
        caller(b"{}").propose("Show", [READ, LIST, READ])


def test_a_request_with_a_byte_that_the_model_lacks_is_refused() -> None:
    with pytest.raises(ModelError, match="no token"):
        caller(b"{}").propose("Show \x04", TOOLS)


def test_the_scores_are_those_of_the_request_under_each_tool(tiny_engine: NumpyEngine) -> None:
    asked = LocalCaller(tiny_engine, CallerOptions(no_tool_bias=0, examples=1))
    found = asked.propose("Show hello", [READ, LIST]).scores
    for tool in (READ, LIST):
        request, arguments = tool.examples[0].request, tool.examples[0].arguments
        said = (
            f"{tool.description.what}\n\nRequest: {request}\nArguments: {json.dumps(arguments)}\n\nRequest:"
        )
        twin = tiny_engine.fork()
        ids = tiny_engine.encode(f"Tool {tool.name}: {said}")
        twin.eval(ids[:-1])
        (expected,) = twin.logprobs([twin], [ids[-1], *twin.encode(" Show hello\n")])
        assert found[tool.name] == pytest.approx(float(expected.sum()), abs=1e-2)


def test_a_plain_request_becomes_the_right_call_of_the_right_tool(smollm: NumpyEngine) -> None:
    tool, request, arguments = REQUESTS["demo"][0]
    said = json.loads(b"".join(LocalCaller(smollm).propose(request, [TOOLS[-1], READ])))
    assert said == {"tool": tool, "arguments": arguments}


@pytest.mark.nightly
@pytest.mark.parametrize("part", FLOORS)
def test_the_measured_share_of_requests_becomes_the_right_call(smollm: NumpyEngine, part: str) -> None:
    found = judged(LocalCaller(smollm), REQUESTS[part])
    assert found.reaches(FLOORS[part]), found


@pytest.mark.nightly
def test_without_preferring_what_the_request_says_fewer_calls_are_right(smollm: NumpyEngine) -> None:
    found = judged(LocalCaller(smollm, CallerOptions(copy_bias=0)), REQUESTS["dev"])
    assert found.calls < FLOORS["dev"].calls  # 17 when it was chosen


def test_at_least_four_of_the_six_requests_of_the_demo_are_promised() -> None:
    assert FLOORS["demo"].calls >= 4


def test_no_request_stands_in_two_of_the_sets_nor_among_the_examples() -> None:
    sets = [{request for _, request, _ in REQUESTS[part]} for part in ("dev", "held_out", "demo")]
    sets.append({example.request for tool in TOOLS for example in tool.examples})
    assert all(not one & other for one, other in combinations(sets, 2))
    assert [len(each) for each in sets[:3]] == [32, 32, 6]
