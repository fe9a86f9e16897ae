"""Recorded provider streams, read by callgate and by the official packages from the same local server.

In: the corpus of recorded streams (`CALLGATE_CORPUS`, else `shared/corpus` beside the repository) in the
dialects of OpenAI and Anthropic. Out: the table `sdk_beside.md`: for each case, who read it right, who gave
something else, and who raised. Exit code 1 if callgate is not right everywhere.

The packages are used as their documentation shows: `create(stream=True)` with the loop that adds fragments up
by index, and the helpers that add up by themselves. A reading is right if it has the expected calls (id,
name, arguments) and text, and, where the reply was cut or failed, a sign of it: another finish than a good
one, or the package's own API error. Any other exception is a crash, also one that is documented: nothing of
the reply is left then.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import anthropic
import anyio
import httpx2
import openai

from callgate.calls import CallKind, Finish
from callgate.wire import Decoder

ROOT: Final = Path(__file__).resolve().parent.parent
CORPUS: Final = Path(os.environ.get("CALLGATE_CORPUS") or ROOT.parent / "shared" / "corpus") / "streams"
TABLE: Final = Path(__file__).with_suffix(".md")
FOLDERS: Final = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
}
PIECE: Final = 512
"""Bytes that the server sends at once."""
GOOD: Final = {
    "tool_calls",
    "stop",
    "function_call",
    "completed",
    "tool_use",
    "end_turn",
    "pause_turn",
    "refusal",
}
"""Finish words that say nothing is missing."""

Call = tuple[str, str, Any]
"""Id, name, arguments."""


@dataclass(frozen=True, slots=True)
class Case:
    """A recorded body and what it says."""

    name: str
    dialect: str
    body: bytes
    expected: dict[str, Any]


@dataclass(slots=True)
class Reading:
    """What one reader made of a body. `is_good`: it says that the reply is whole."""

    calls: list[Call] = field(default_factory=list)
    text: str = ""
    is_good: bool = False


Reader = Callable[[str], Reading]


class ReportedError(Exception):
    """callgate's turn says that the server reported an error."""


API_ERRORS: Final = (openai.APIError, anthropic.APIError, ReportedError)


def cases() -> Iterator[Case]:
    """The bodies of the corpus in the three dialects."""
    for folder, dialect in FOLDERS.items():
        for path in sorted((CORPUS / folder).glob("*.sse")):
            expected = json.loads(path.with_suffix(".expected.json").read_text())
            yield Case(f"{folder}/{path.stem}", dialect, path.read_bytes(), expected)


# ---------------------------------------------------------------- the server


class Player(BaseHTTPRequestHandler):
    """Answers any request below `/<case>/` with that case's body, in small pieces."""

    bodies: Final[dict[str, bytes]] = {}

    def do_POST(self) -> None:
        """Play a body."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        folder, name = self.path.split("/")[1:3]
        body = self.bodies[f"{folder}/{name}"]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        for start in range(0, len(body), PIECE):
            self.wfile.write(body[start : start + PIECE])
            self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def playing(bodies: Iterable[Case]) -> Iterator[str]:
    """The server's address while it runs."""
    Player.bodies.update({case.name: case.body for case in bodies})
    server = ThreadingHTTPServer(("127.0.0.1", 0), Player)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# ---------------------------------------------------------------- callgate


def callgate_reader(dialect: str) -> Reader:
    """The decoder, fed with the bytes as they come."""

    async def read(url: str) -> Reading:
        decoder = Decoder(dialect)
        async with httpx2.AsyncClient() as client, client.stream("POST", url, json={}) as response:
            async for chunk in response.aiter_bytes():
                decoder.feed(chunk)
        turn = decoder.close()
        if turn.finish is Finish.ERROR:
            raise ReportedError(turn.reason)
        calls = [
            call
            for one in (turn, *turn.alternatives)
            for call in one.calls
            if call.kind is not CallKind.BUILTIN
        ]
        made = [(call.call_id or "", call.name, call.arguments_text) for call in calls]
        return Reading(made, turn.text, turn.executable and all(call.complete for call in calls))

    return lambda url: anyio.run(read, url)


# ---------------------------------------------------------------- the openai package


def openai_client(url: str) -> openai.OpenAI:
    """A client of the local server."""
    return openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=20)


MESSAGES: Final[Any] = [{"role": "user", "content": "go"}]


def chat_loop(url: str) -> Reading:
    """`create(stream=True)`, fragments added up by index in each choice."""
    reading, found = Reading(), {}
    finish: str | None = None
    with openai_client(url).chat.completions.create(model="m", messages=MESSAGES, stream=True) as stream:
        for chunk in stream:
            for choice in chunk.choices:
                delta = choice.delta
                if choice.index == 0:
                    reading.text += delta.content or ""
                    finish = choice.finish_reason or finish
                for call in delta.tool_calls or []:
                    key = (choice.index, call.index)
                    if key not in found:
                        found[key] = call
                    else:
                        found[key].function.arguments += call.function.arguments
    reading.calls = [
        (call.id, call.function.name, call.function.arguments) for _, call in sorted(found.items())
    ]
    reading.is_good = finish in GOOD
    return reading


def chat_helper(url: str) -> Reading:
    """`stream()`, the package adds up."""
    with openai_client(url).chat.completions.stream(model="m", messages=MESSAGES) as stream:
        for _ in stream:
            pass
        completion = stream.get_final_completion()
    calls = [
        (call.id, call.function.name, call.function.arguments)
        for choice in completion.choices
        for call in choice.message.tool_calls or []
    ]
    first = completion.choices[0]
    return Reading(calls, first.message.content or "", first.finish_reason in GOOD)


def responses_loop(url: str) -> Reading:
    """`create(stream=True)`, deltas added up by output index."""
    reading, found = Reading(), {}
    with openai_client(url).responses.create(model="m", input="go", stream=True) as stream:
        for event in stream:
            if event.type == "response.output_item.added":
                found[event.output_index] = [event.item, ""]
            elif event.type in (
                "response.function_call_arguments.delta",
                "response.custom_tool_call_input.delta",
            ):
                found[event.output_index][1] += event.delta
            elif event.type == "response.output_text.delta":
                reading.text += event.delta
            elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                reading.is_good = event.response.status in GOOD
    items = [found[index] for index in sorted(found)]
    reading.calls = [
        (item.call_id, item.name, text)
        for item, text in items
        if item.type in ("function_call", "custom_tool_call")
    ]
    return reading


def responses_helper(url: str) -> Reading:
    """`stream()`, the package adds up."""
    with openai_client(url).responses.stream(model="m", input="go") as stream:
        for _ in stream:
            pass
        response = stream.get_final_response()
    calls = [
        (item.call_id, item.name, item.arguments if item.type == "function_call" else item.input)
        for item in response.output
        if item.type in ("function_call", "custom_tool_call")
    ]
    return Reading(calls, response.output_text, response.status in GOOD)


# ---------------------------------------------------------------- the anthropic package


def anthropic_client(url: str) -> anthropic.Anthropic:
    """A client of the local server."""
    return anthropic.Anthropic(base_url=url, api_key="none", max_retries=0, timeout=20)


def messages_loop(url: str) -> Reading:
    """`create(stream=True)`, deltas added up by block index."""
    reading, found = Reading(), {}
    made = anthropic_client(url).messages.create(model="m", max_tokens=99, messages=MESSAGES, stream=True)
    with made as stream:
        for event in stream:
            if event.type == "content_block_start":
                found[event.index] = [event.content_block, ""]
            elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                found[event.index][1] += event.delta.partial_json
            elif event.type == "content_block_delta" and event.delta.type == "text_delta":
                reading.text += event.delta.text
            elif event.type == "message_delta":
                reading.is_good = event.delta.stop_reason in GOOD
    blocks = [found[index] for index in sorted(found)]
    reading.calls = [(block.id, block.name, text) for block, text in blocks if block.type == "tool_use"]
    return reading


def messages_helper(url: str) -> Reading:
    """`stream()`, the package adds up."""
    with anthropic_client(url).messages.stream(model="m", max_tokens=99, messages=MESSAGES) as stream:
        message = stream.get_final_message()
    calls = [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
    text = "".join(block.text for block in message.content if block.type == "text")
    return Reading(calls, text, message.stop_reason in GOOD)


OTHERS: Final[dict[str, dict[str, Reader]]] = {
    "openai-chat": {"openai stream=True": chat_loop, "openai .stream()": chat_helper},
    "openai-responses": {"openai stream=True": responses_loop, "openai .stream()": responses_helper},
    "anthropic": {"anthropic create": messages_loop, "anthropic .stream()": messages_helper},
}
COLUMNS: Final = (
    "callgate",
    "openai stream=True",
    "openai .stream()",
    "anthropic create",
    "anthropic .stream()",
)


# ---------------------------------------------------------------- the judgement


def plain(call: Call) -> Call:
    """A call whose arguments are compared as JSON where they are JSON."""
    call_id, name, arguments = call
    arguments = arguments or ""
    if isinstance(arguments, str):
        with contextlib.suppress(ValueError):
            arguments = json.loads(arguments) if arguments.strip() else {}
    return call_id or "", name, arguments


def judged(expected: dict[str, Any], reading: Reading) -> str:
    """`right`, or `wrong: ` and what."""
    calls = [(call["id"], call["name"], call["arguments_text"]) for call in expected["calls"]]
    if [plain(call) for call in reading.calls] != [plain(call) for call in calls]:
        return "wrong: calls"
    if reading.text != expected["text"]:
        return "wrong: text"
    is_cut = "finish_true" in expected or not all(call["complete"] for call in expected["calls"])
    if reading.is_good and (is_cut or expected["finish"] in ("length", "error")):
        return "wrong: no sign of the end"
    return "right"


def outcome(case: Case, reader: Reader, base: str) -> str:
    """What a reader makes of a case."""
    try:
        reading = reader(f"{base}/{case.name}")
    except API_ERRORS as problem:
        return "right" if case.expected["finish"] == "error" else f"crash: {type(problem).__name__}"
    except Exception as problem:  # noqa: BLE001 - whatever a package raises is its outcome
        return f"crash: {type(problem).__name__}"
    return judged(case.expected, reading)


def table(rows: list[tuple[Case, dict[str, str]]]) -> str:
    """The page."""
    counts = {column: Counter[str]() for column in COLUMNS}
    for _, row in rows:
        for column, what in row.items():
            counts[column][what.partition(":")[0]] += 1
    lines = [
        "# Recorded streams beside the official packages",
        "",
        f"Written by `sdk_beside.py`, with openai {version('openai')} and anthropic {version('anthropic')}:",
        "the same bodies from the same local server. What counts as right is said at the top of that file.",
        "",
        "| | " + " | ".join(COLUMNS) + " |",
        "|---" * (len(COLUMNS) + 1) + "|",
        *(
            f"| {kind} | " + " | ".join(str(counts[column][kind]) for column in COLUMNS) + " |"
            for kind in ("right", "wrong", "crash")
        ),
        "",
        "| case | " + " | ".join(COLUMNS) + " |",
        "|---" * (len(COLUMNS) + 1) + "|",
        *(
            f"| {case.name} | " + " | ".join(row.get(column, "") for column in COLUMNS) + " |"
            for case, row in rows
        ),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Play every case to every reader of its dialect."""
    found = list(cases())
    if not found:
        print(f"No corpus at {CORPUS}: set CALLGATE_CORPUS.", file=sys.stderr)
        return 2
    rows = []
    with playing(found) as base:
        for case in found:
            readers = {"callgate": callgate_reader(case.dialect), **OTHERS[case.dialect]}
            rows.append((case, {column: outcome(case, reader, base) for column, reader in readers.items()}))
    page = table(rows)
    TABLE.write_text(page)
    print(page)
    return int(any(row["callgate"] != "right" for _, row in rows))


if __name__ == "__main__":
    sys.exit(main())
