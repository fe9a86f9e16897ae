"""What decoding a stream of tool calls costs: callgate, the official packages, httpx-sse, and the floor.

One process, one run. The body is a megabyte of arguments in 20,000 deltas, in the dialects of OpenAI Chat
Completions and of Anthropic Messages; then the same in 64 parallel calls, and twice as much of it. The
floor is the least that anyone can do in Python: split the lines, ``orjson.loads`` each, collect the
fragments, read the arguments; it checks nothing and tells nothing in between. The official packages run on
an in-memory transport that hands out 16 KiB chunks, as all others get them; where "an event a chunk" is
said, each chunk is one event.

The helpers that add up by themselves take time that grows with the square of the deltas: that of OpenAI gets
fewer, as its line says, and callgate is measured on the same body for that ratio.

Rounds of all contestants are interleaved, and times are of the CPU. A ratio is the median over the rounds,
so it survives a noisy machine; absolute times do not. Every contestant's arguments are compared with what
was sent.

    python benchmarks/decode.py [--rounds N]

Prints PASS or FAIL for each target, and exits with 1 where one is missed.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median
from typing import Any, Final

import anthropic
import httpx2
import openai
import orjson

from callgate.wire import Decoder

# httpx-sse names its types by httpx, which need not be installed: httpx2 has the same face.
sys.modules.setdefault("httpx", httpx2)
from httpx_sse import EventSource  # noqa: E402 - after the line above

DELTAS: Final = 20_000
FEWER: Final = {"chat": 4_000, "anthropic": DELTAS}
FRAGMENT: Final = "the quick brown fox jumps over the lazy dog 01234 "
CHUNK: Final = 16 * 1024

Arguments = list[Any]
Reader = Callable[[Sequence[bytes]], Arguments]


# ---------------------------------------------------------------- bodies


def line(value: dict[str, Any], *, named: bool) -> bytes:
    """One event, as the providers write it."""
    name = b"event: " + value["type"].encode() + b"\n" if named else b""
    return name + b"data: " + orjson.dumps(value) + b"\n\n"


def fragments(deltas: int, calls: int) -> Iterator[tuple[int, str]]:
    """Which call gets which text: the calls take turns."""
    for call in range(calls):
        yield call, '{"text":"'
    for number in range(deltas - 2 * calls):
        yield number % calls, FRAGMENT
    for call in range(calls):
        yield call, '"}'


def chat_events(deltas: int, calls: int) -> list[bytes]:
    """Events of OpenAI Chat Completions."""

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        head = {"id": "chatcmpl-CVzhB1mTxpbd3yYvJ9dXSbOWnGk2F", "object": "chat.completion.chunk"}
        told = {"created": 1_760_000_000, "model": "gpt-5.1-2025-11-13", "service_tier": "default"}
        return line({**head, **told, "system_fingerprint": "fp_44709d6fcb", "choices": [choice]}, named=False)

    def part(index: int, text: str, **more: Any) -> dict[str, Any]:
        function = {"arguments": text, **({"name": "write"} if more else {})}
        return {"tool_calls": [{"index": index, **more, "function": function}]}

    opened = [chunk(part(n, "", id=f"call_{n}", type="function")) for n in range(calls)]
    moved = [chunk(part(index, text)) for index, text in fragments(deltas, calls)]
    return [*opened, *moved, chunk({}, "tool_calls"), b"data: [DONE]\n\n"]


def anthropic_events(deltas: int, calls: int) -> list[bytes]:
    """Events of Anthropic Messages."""

    def told(kind: str, **fields: Any) -> bytes:
        return line({"type": kind, **fields}, named=True)

    def opened(index: int) -> bytes:
        block = {"type": "tool_use", "id": f"toolu_{index}", "name": "write", "input": {}}
        return told("content_block_start", index=index, content_block=block)

    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    return [
        told("message_start", message=message),
        *map(opened, range(calls)),
        *(
            told("content_block_delta", index=n, delta={"type": "input_json_delta", "partial_json": text})
            for n, text in fragments(deltas, calls)
        ),
        *(told("content_block_stop", index=n) for n in range(calls)),
        told(
            "message_delta",
            delta={"stop_reason": "tool_use", "stop_sequence": None},
            usage={"output_tokens": 9},
        ),
        told("message_stop"),
    ]


def chunks_of(events: Iterable[bytes]) -> list[bytes]:
    """The same bytes, as a network hands them out."""
    body = b"".join(events)
    return [body[at : at + CHUNK] for at in range(0, len(body), CHUNK)]


# ---------------------------------------------------------------- contestants


def callgate(dialect: str) -> Reader:
    """Every event told, the turn judged."""

    def read(chunks: Sequence[bytes]) -> Arguments:
        decoder = Decoder(dialect)
        for chunk in chunks:
            decoder.feed(chunk)
        turn = decoder.close()
        assert turn.executable
        return [call.arguments for call in turn.calls]

    return read


def chat_parts(value: dict[str, Any], parts: dict[int, list[str]]) -> None:
    """Collect the fragments of one chunk."""
    for choice in value["choices"]:
        for call in choice["delta"].get("tool_calls") or ():
            parts[call["index"]].append(call["function"]["arguments"])


def anthropic_parts(value: dict[str, Any], parts: dict[int, list[str]]) -> None:
    """Collect the fragment of one event."""
    if value["type"] == "content_block_delta":
        parts[value["index"]].append(value["delta"]["partial_json"])


Collect = Callable[[dict[str, Any], dict[int, list[str]]], None]


def joined(parts: dict[int, list[str]]) -> Arguments:
    """The arguments of each call, read once."""
    return [orjson.loads("".join(parts[index])) for index in sorted(parts)]


def floor(collect: Collect) -> Reader:
    """Split, load, collect."""

    def read(chunks: Sequence[bytes]) -> Arguments:
        parts: dict[int, list[str]] = defaultdict(list)
        rest = b""
        for chunk in chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            for one in lines:
                if one.startswith(b"data: ") and one != b"data: [DONE]":
                    collect(orjson.loads(one[6:]), parts)
        return joined(parts)

    return read


def httpx_sse(collect: Collect) -> Reader:
    """The usual hand-made client: httpx-sse, then json."""

    def read(chunks: Sequence[bytes]) -> Arguments:
        parts: dict[int, list[str]] = defaultdict(list)
        response = answer(chunks)
        for event in EventSource(response).iter_sse():  # type: ignore[arg-type, unused-ignore] # the same face
            if event.data != "[DONE]":
                collect(event.json(), parts)
        return joined(parts)

    return read


def answer(chunks: Sequence[bytes]) -> httpx2.Response:
    """A response that hands out these chunks."""
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=iter(chunks))


def client_of(chunks: Sequence[bytes]) -> httpx2.Client:
    """A client whose server answers with these chunks."""
    return httpx2.Client(transport=httpx2.MockTransport(lambda _: answer(chunks)))


def openai_client(chunks: Sequence[bytes]) -> Any:
    """The official client, on that transport."""
    return openai.OpenAI(api_key="none", base_url="http://none", http_client=client_of(chunks), max_retries=0)


def openai_stream(chunks: Sequence[bytes]) -> Arguments:
    """``create(stream=True)``, fragments collected by hand."""
    parts: dict[int, list[str]] = defaultdict(list)
    messages = [{"role": "user", "content": "x"}]
    with openai_client(chunks).chat.completions.create(model="m", messages=messages, stream=True) as stream:
        for chunk in stream:
            for choice in chunk.choices:
                for call in choice.delta.tool_calls or ():
                    parts[call.index].append(call.function.arguments)
    return joined(parts)


def openai_helper(chunks: Sequence[bytes]) -> Arguments:
    """``chat.completions.stream()``, which adds up by itself."""
    messages = [{"role": "user", "content": "x"}]
    with openai_client(chunks).chat.completions.stream(model="m", messages=messages) as stream:
        for _ in stream:
            pass
        message = stream.get_final_completion().choices[0].message
    return [orjson.loads(call.function.arguments) for call in message.tool_calls]


def anthropic_client(chunks: Sequence[bytes]) -> Any:
    """The official client, on that transport."""
    return anthropic.Anthropic(
        api_key="none", base_url="http://none", http_client=client_of(chunks), max_retries=0
    )


ASKED: Final = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}


def anthropic_stream(chunks: Sequence[bytes]) -> Arguments:
    """``create(stream=True)``, fragments collected by hand."""
    parts: dict[int, list[str]] = defaultdict(list)
    with anthropic_client(chunks).messages.create(**ASKED, stream=True) as stream:
        for event in stream:
            if event.type == "content_block_delta":
                parts[event.index].append(event.delta.partial_json)
    return joined(parts)


def anthropic_helper(chunks: Sequence[bytes]) -> Arguments:
    """``messages.stream()``, which adds up by itself."""
    with anthropic_client(chunks).messages.stream(**ASKED) as stream:
        for _ in stream:
            pass
        return [block.input for block in stream.get_final_message().content]


# ---------------------------------------------------------------- the measurement


@dataclass(frozen=True)
class Line:
    """One line of the table: a contestant on a body, and what it is compared with."""

    title: str
    reader: Reader
    chunks: Sequence[bytes]
    against: str = ""
    rounds: int = 100


def lines() -> dict[str, Line]:
    """Everything that is measured; a line is compared with a callgate or floor line on the same body."""
    table: dict[str, Line] = {}
    official: dict[str, list[tuple[str, Reader]]] = {
        "chat": [("openai create(stream=True)", openai_stream), ("openai .stream()", openai_helper)],
        "anthropic": [
            ("anthropic create(stream=True)", anthropic_stream),
            ("anthropic .messages.stream()", anthropic_helper),
        ],
    }
    for name, dialect, make, collect in (
        ("chat", "openai-chat", chat_events, chat_parts),
        ("anthropic", "anthropic", anthropic_events, anthropic_parts),
    ):
        events = make(DELTAS, 1)
        fewer = FEWER[name]
        whole, few = chunks_of(events), chunks_of(make(fewer, 1))
        many, double = chunks_of(make(DELTAS, 64)), chunks_of(make(2 * DELTAS, 64))
        (stream_title, stream), (helper_title, helper) = official[name]
        ours, least = callgate(dialect), floor(collect)
        table |= {
            f"{name} floor": Line("floor", least, whole),
            f"{name} ours": Line("callgate", ours, whole, f"{name} floor"),
            f"{name} floor, event": Line("floor, an event a chunk", least, events),
            f"{name} ours, event": Line("callgate, an event a chunk", ours, events, f"{name} floor, event"),
            f"{name} httpx-sse": Line("httpx-sse + json", httpx_sse(collect), whole, f"{name} ours", 3),
            f"{name} stream": Line(stream_title, stream, whole, f"{name} ours", 2),
            f"{name} few": Line(f"callgate, {fewer:,} deltas", ours, few),
            f"{name} helper": Line(f"{helper_title}, {fewer:,} deltas", helper, few, f"{name} few", 1),
            f"{name} 64": Line("callgate, 64 calls", ours, many, f"{name} ours"),
            f"{name} 64 twice": Line("callgate, 64 calls, twice the deltas", ours, double, f"{name} 64"),
        }
    return table


def measure(table: dict[str, Line], rounds: int) -> dict[str, list[float]]:
    """Seconds of the CPU, by line and round."""
    spent: dict[str, list[float]] = defaultdict(list)
    for one in table.values():
        # The first time costs more than any other; the slow ones do not notice.
        if one.rounds > rounds:
            one.reader(one.chunks)
    for number in range(rounds):
        for name, one in table.items():
            if number < one.rounds:
                gc.collect()
                begin = time.process_time()
                found = one.reader(one.chunks)
                spent[name].append(time.process_time() - begin)
                check(found)
    return spent


def check(found: Arguments) -> None:
    """Every contestant must have read what was sent."""
    texts = {value["text"].replace(FRAGMENT, "") for value in found}
    assert texts == {""}, "a contestant read something else than was sent"


def ratio(spent: dict[str, list[float]], name: str, against: str) -> float:
    """How many times as long, median over the rounds that both took."""
    return median(one / other for one, other in zip(spent[name], spent[against], strict=False))


TARGETS: Final = (
    ("callgate is at least 20 times faster than openai create(stream=True)", "chat stream", 20, ">="),
    ("callgate is at least 8 times faster than anthropic create(stream=True)", "anthropic stream", 8, ">="),
    ("callgate is at least 100 times faster than openai .stream()", "chat helper", 100, ">="),
    (
        "callgate is at least 100 times faster than anthropic .messages.stream()",
        "anthropic helper",
        100,
        ">=",
    ),
    ("chat: within 1.0 times the floor in 16 KiB chunks", "chat ours", 1.0, "<="),
    ("anthropic: within 1.0 times the floor in 16 KiB chunks", "anthropic ours", 1.0, "<="),
    ("chat: within 1.5 times the floor at an event a chunk", "chat ours, event", 1.5, "<="),
    ("anthropic: within 1.5 times the floor at an event a chunk", "anthropic ours, event", 1.5, "<="),
    ("chat: twice the deltas take less than 2.5 times as long", "chat 64 twice", 2.5, "<="),
    ("anthropic: twice the deltas take less than 2.5 times as long", "anthropic 64 twice", 2.5, "<="),
)


def report(table: dict[str, Line], spent: dict[str, list[float]]) -> bool:
    """The table, and whether each target is met. Gives whether all are."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("openai", "anthropic", "httpx-sse", "orjson"))
    print(f"{DELTAS:,} deltas of {len(FRAGMENT)} characters; {packages}\n")
    print(f"{'':55} {'ms':>9} {'ratio':>8}  to")
    for name, one in table.items():
        if name.endswith("floor"):
            print(f"{'OpenAI Chat Completions' if name.startswith('chat') else 'Anthropic Messages'}")
        told = f"{ratio(spent, name, one.against):8.2f}  {table[one.against].title}" if one.against else ""
        print(f"  {one.title:53} {median(spent[name]) * 1000:9.1f} {told}")
    print()
    are_met = True
    for words, name, bound, sense in TARGETS:
        found = ratio(spent, name, table[name].against)
        is_met = found >= bound if sense == ">=" else found <= bound
        are_met = are_met and is_met
        print(f"{'PASS' if is_met else 'FAIL'}  {words}: {found:.2f}")
    return are_met


def main() -> int:
    """Measure and report; 1 where a target is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7, help="rounds of the quick contestants")
    rounds = parser.parse_args().rounds
    table = lines()
    return 0 if report(table, measure(table, rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
