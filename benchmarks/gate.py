"""What a call costs at the gate, beside pydantic-ai, openai-agents, LangGraph's ToolNode and plain asyncio.

One process, one run, the same asynchronous tool that does nothing, called 50 times in one turn. The cost of
a call is (turn with 50 calls - turn with none) / 50 for every contestant, so that what a run or a model step
costs by itself is not counted. The contestants take turns, a streak of rounds each, so that every one runs as
it would alone and all see the same machine. The medians are compared: ratios survive a noisy machine,
absolute times do not. The fastest tenth stands beside them: what the code costs while nobody else has the
core.

    python benchmarks/gate.py [--rounds N]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import callgate as cg
from callgate.calls import Finish, ToolCall, Turn, parse_arguments

CALLS = 50
ARGUMENTS = [json.dumps({"value": n, "text": f"call {n}", "flag": n % 2 == 0}) for n in range(CALLS)]
TARGET_MICROSECONDS = 60
STREAK = 10
WARM_UP = 3

Round = Callable[[int], Awaitable[None]]


async def noop(value: int, text: str, flag: bool = False) -> int:  # noqa: ARG001, FBT001, FBT002 - a tool
    """Do nothing."""
    return value


@asynccontextmanager
async def through_the_gate(journal: str) -> AsyncIterator[Round]:
    """callgate, all layers on."""
    tools = cg.Toolset("bench")
    tools.tool(effect=cg.Effect.READ)(noop)
    async with cg.open_gate(tools, journal=journal) as gate:
        run = iter(range(10**9))

        async def once(calls: int) -> None:
            made = tuple(
                ToolCall("noop", parse_arguments(text), text, f"c{n}")
                for n, text in enumerate(ARGUMENTS[:calls])
            )
            turn = Turn(calls=made, finish=Finish.TOOL_CALLS, executable=True, dialect="bench")
            name = f"run-{next(run)}"
            results = await gate.handle(turn, name)
            await gate.finish(name, "answered")
            assert [result.status for result in results] == ["ok"] * calls

        yield once


@asynccontextmanager
async def plain_asyncio() -> AsyncIterator[Round]:
    """The floor: parse and gather."""

    async def call(text: str) -> int:
        return await noop(**json.loads(text))

    async def once(calls: int) -> None:
        assert await asyncio.gather(*map(call, ARGUMENTS[:calls])) == list(range(calls))

    yield once


@asynccontextmanager
async def pydantic_ai() -> AsyncIterator[Round]:
    """pydantic-ai, its whole loop."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    async def once(calls: int) -> None:
        def model(messages: list[Any], _info: Any) -> ModelResponse:
            if calls and len(messages) == 1:
                made = [ToolCallPart("noop", text, f"c{n}") for n, text in enumerate(ARGUMENTS[:calls])]
                return ModelResponse(parts=made)
            return ModelResponse(parts=[TextPart("done")])

        agent.model = FunctionModel(model)
        assert (await agent.run("go")).output == "done"

    agent = Agent(FunctionModel(lambda _messages, _info: ModelResponse(parts=[])), tools=[noop])
    yield once


@asynccontextmanager
async def openai_agents() -> AsyncIterator[Round]:
    """openai-agents, its whole loop."""
    from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    set_tracing_disabled(True)

    class Scripted(Model):
        calls = 0

        async def get_response(self, *_given: Any, input: Any, **_named: Any) -> ModelResponse:  # noqa: A002 - its name
            asked = input if isinstance(input, list) else []
            kinds = [item.get("type") for item in asked if isinstance(item, dict)]
            answered = "function_call_output" in kinds
            if self.calls and not answered:
                output: list[Any] = [
                    ResponseFunctionToolCall(
                        arguments=text, call_id=f"c{n}", name="noop", type="function_call"
                    )
                    for n, text in enumerate(ARGUMENTS[: self.calls])
                ]
            else:
                said = ResponseOutputText(annotations=[], text="done", type="output_text")
                output = [
                    ResponseOutputMessage(
                        id="m", content=[said], role="assistant", status="completed", type="message"
                    )
                ]
            return ModelResponse(output=output, usage=Usage(), response_id=None)

        def stream_response(self, *_given: Any, **_named: Any) -> Any:
            raise NotImplementedError

    model = Scripted()
    agent = Agent(name="bench", tools=[function_tool(noop)], model=model)

    async def once(calls: int) -> None:
        model.calls = calls
        assert (await Runner.run(agent, "go")).final_output == "done"

    yield once


@asynccontextmanager
async def langgraph() -> AsyncIterator[Round]:
    """LangGraph, one graph with one tool node."""
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([tool(noop)]))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    app = graph.compile()

    async def once(calls: int) -> None:
        made = [
            {"name": "noop", "args": json.loads(text), "id": f"c{n}", "type": "tool_call"}
            for n, text in enumerate(ARGUMENTS[:calls])
        ]
        told = await app.ainvoke({"messages": [AIMessage(content="", tool_calls=made)]})
        assert len(told["messages"]) == calls + 1

    yield once


class Cost(NamedTuple):
    """Microseconds a call: of the median round, and of the fastest tenth."""

    median: float
    fastest: float

    @classmethod
    def of(cls, full: list[float], empty: list[float]) -> Cost:
        """From the seconds of rounds with all calls and with none."""
        middle, tenth = (
            [sorted(rounds)[int(len(rounds) * part)] for rounds in (full, empty)] for part in (0.5, 0.1)
        )
        return cls(*((spent - idle) / CALLS * 1e6 for spent, idle in (middle, tenth)))


async def timed(once: Round, calls: int) -> float:
    """Seconds that one turn took."""
    start = time.perf_counter()
    await once(calls)
    return time.perf_counter() - start


async def measure(rounds: int, folder: str) -> dict[str, Cost]:
    """What each contestant costs."""
    contestants = {
        "plain asyncio.gather": plain_asyncio(),
        "callgate, memory journal": through_the_gate("memory:"),
        "callgate, SQLite journal, durable": through_the_gate(f"sqlite:{Path(folder) / 'bench.db'}"),
        "pydantic-ai Agent.run": pydantic_ai(),
        "openai-agents Runner.run": openai_agents(),
        "LangGraph ToolNode in a graph": langgraph(),
    }
    async with AsyncExitStack() as stack:
        ready: dict[str, Round] = {}
        for name, contestant in contestants.items():
            try:
                ready[name] = await stack.enter_async_context(contestant)
            except ImportError as missing:
                print(f"left out: {name} ({missing.name} is not installed)")
        full: dict[str, list[float]] = {name: [] for name in ready}
        empty: dict[str, list[float]] = {name: [] for name in ready}
        for _ in range(0, rounds, STREAK):
            for name, once in ready.items():
                for number in range(-WARM_UP, STREAK):
                    spent, idle = await timed(once, CALLS), await timed(once, 0)
                    if number >= 0:
                        full[name].append(spent)
                        empty[name].append(idle)
    return {name: Cost.of(full[name], empty[name]) for name in ready}


def main() -> int:
    """Measure, print the table, and say which targets were met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cost = asyncio.run(measure(asked.rounds, folder))
    memory, durable = cost["callgate, memory journal"], cost["callgate, SQLite journal, durable"]
    print(f"\n{CALLS} calls in one turn, median of {asked.rounds} rounds\n")
    print(f"{'contestant':<36}{'us a call':>10}{'calls/s':>10}{'x callgate':>12}{'fastest us':>12}")
    for name, (spent, fastest) in cost.items():
        print(f"{name:<36}{spent:>10.1f}{1e6 / spent:>10.0f}{spent / memory.median:>12.2f}{fastest:>12.1f}")
    peers = {name: spent for name, spent in cost.items() if "callgate" not in name and "plain" not in name}
    under = f"memory journal under {TARGET_MICROSECONDS} us a call"
    targets = {f"{under}, {part}": getattr(memory, part) < TARGET_MICROSECONDS for part in Cost._fields}
    for name, spent in peers.items():
        targets[f"memory journal faster than {name}"] = memory.median < spent.median
        targets[f"durable SQLite journal faster than {name}"] = durable.median < spent.median
    print()
    for target, met in targets.items():
        print(f"{'PASS' if met else 'FAIL'}  {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
