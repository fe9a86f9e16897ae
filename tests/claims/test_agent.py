"""What users of agent loops lose work by, each as a claim that it does not happen here."""

from typing import Any

import pytest

from callgate.agent import Limits, Reason
from callgate.calls import CancelRequested, Returned, RunEnded, Started, Status
from callgate.wire import encode
from tests.agent.speaking import SPECS, Call, Script, heard_turns, reply, results_in
from tests.agent.stage import stage
from tests.models.loopback import Answer, Received

pytestmark = pytest.mark.anyio


def call(name: str, call_id: str = "c", **arguments: Any) -> Call:
    return call_id, name, arguments


@pytest.mark.parametrize("dialect", SPECS)
async def test_an_interrupted_loop_leaves_a_result_for_each_call(dialect: str) -> None:
    """R043: one finished, one running, one not started; then stop, and go on."""
    batch = [
        call("read_note", "c1", title="a"),
        call("create_slowly", "c2", title="x"),
        call("write_note", "c3", title="b", content="new"),
    ]
    async with stage([batch, "going on"], dialect) as on:
        await on.run_until_begun()
        entries = await on.entries()
        assert any(isinstance(entry, CancelRequested) for entry in entries)
        assert [entry.reason for entry in entries if isinstance(entry, RunEnded)] == ["cancelled"]
        outcome = await on.agent().resume("r")
    assert (outcome.reason, outcome.text) == (Reason.ANSWERED, "going on")
    [exchange] = outcome.exchanges
    assert [result.status for result in exchange.results] == [Status.OK, Status.UNKNOWN, Status.NOT_RUN]
    told = results_in(on.server.requests[-1])
    assert [told[name].splitlines()[0] for name in ("c1", "c2", "c3")] == [
        "status: ok",
        "status: unknown",
        "status: not_run",
    ]
    assert on.desk.done == ["read a", "begin x"]
    for other in SPECS:
        assert encode(other, exchange.turn, exchange.results)


@pytest.mark.parametrize("dialect", SPECS)
async def test_a_call_id_that_comes_again_in_a_later_turn_is_another_call(dialect: str) -> None:
    """R044: turn 1 has `s:0` with result A, turn 2 has `s:0` with result B."""
    script: Script = [
        [call("read_note", "s:0", title="a")],
        [call("read_note", "s:0", title="b")],
        "both read",
    ]
    async with stage(script, dialect) as on:
        outcome = await on.run()
        keys = [entry.idempotency_key for entry in await on.entries() if isinstance(entry, Started)]
    assert on.desk.done == ["read a", "read b"]
    assert [exchange.results[0].content for exchange in outcome.exchanges] == ["one", "two"]
    assert len(set(keys)) == 2
    told = results_in(on.server.requests[-1])
    assert len(told) == 2
    assert [text.splitlines()[-1] for text in told.values()] == ["one", "two"]


def balanced(received: Received) -> bool:
    """Whether a chat request begins with no result and holds a result for each call and a call for each
    result."""
    waiting: list[str] = []
    for message in received.json["messages"]:
        if message["role"] == "tool":
            if not waiting or message["tool_call_id"] != waiting.pop(0):
                return False
        elif waiting:
            return False
        waiting += [made["id"] for made in message.get("tool_calls") or ()]
    return not waiting


async def test_a_history_that_is_cut_keeps_calls_and_results_together() -> None:
    """R046: groups of a call and its results are kept or left out whole."""
    batch = [call("read_note", "c1", title="a"), call("read_note", "c2", title="b")]

    def answer(received: Received) -> Answer:
        return Answer(reply("openai-chat", "", batch))

    async with stage(answer) as on:
        outcome = await on.run(Limits(turns=8, context=900, repeats=99, repeats_warned=98))
    assert outcome.reason is Reason.MAX_TURNS
    sizes = [heard_turns(request) for request in on.server.requests]
    assert max(sizes) < len(sizes) - 1
    assert sizes[-1] >= 1
    assert all(balanced(request) for request in on.server.requests)
    assert "earlier turns" in on.server.requests[-1].json["messages"][0]["content"]


@pytest.mark.parametrize("dialect", SPECS)
async def test_a_run_that_died_with_an_open_call_can_be_loaded_and_the_call_stays(dialect: str) -> None:
    """R050: the process died between the call and its result."""
    script: Script = [[call("create_slowly", "c1", title="mail")], "I see"]
    async with stage(script, dialect) as on:
        await on.run_until_begun()
        entries = await on.entries()
        for _ in range(2):
            outcome = await on.agent().resume("r")
            assert outcome.exchanges[0].results[0].status is Status.UNKNOWN
    assert outcome.text == "I see"
    assert sum(isinstance(entry, Started) for entry in entries) == 1
    assert not any(isinstance(entry, Returned) for entry in entries)
    assert results_in(on.server.requests[-1])["c1"].startswith("status: unknown")


SAME = [call("list_notes", label="x")]
OTHER = [call("list_notes", label="y")]


@pytest.mark.parametrize(
    "script",
    [
        [SAME],
        [
            [("c", "list_notes", {"attempt": 0, "label": "x"})],
            [("c", "list_notes", {"label": "x", "attempt": 0})],
        ],
        [SAME, OTHER],
    ],
    ids=["the same call", "keys in another order", "A, B, A, B"],
)
async def test_a_loop_that_repeats_itself_is_warned_and_then_ended(script: list[Any]) -> None:
    """R083: the model always emits the same calls and gets the same results."""

    def answer(received: Received) -> Answer:
        return Answer(reply("openai-chat", "", script[heard_turns(received) % len(script)]))

    async with stage(answer) as on:
        outcome = await on.run(Limits(turns=50, repeats=4, repeats_warned=3))
    assert outcome.reason is Reason.REPEATED
    assert outcome.turns <= 4 + len(script)
    warned = [
        any("REPEATED_CALL" in text for text in results_in(request).values())
        for request in on.server.requests
    ]
    assert warned[:3] == [False] * 3
    assert warned[-1]


async def test_a_counter_in_a_field_that_does_nothing_is_no_progress() -> None:
    """R083: the variant with a counter in an unimportant field."""

    def answer(received: Received) -> Answer:
        return Answer(reply("openai-chat", "", [call("list_notes", attempt=heard_turns(received))]))

    async with stage(answer) as on:
        outcome = await on.run(Limits(turns=50, repeats=4))
    assert outcome.reason is Reason.REPEATED
    assert outcome.turns < 10


async def test_polling_and_results_that_change_are_not_repetition() -> None:
    """R083: declared polling tools, and calls whose result changes, are not counted."""

    def answer(received: Received) -> Answer:
        turn = heard_turns(received)
        if turn >= 12:
            return Answer(reply("openai-chat", "ready"))
        if turn % 2:
            return Answer(reply("openai-chat", "", [call("get_progress")]))
        write = call("write_note", "w", title="a", content=str(turn))
        return Answer(reply("openai-chat", "", [write, call("read_note", "r", title="a")]))

    async with stage(answer) as on:
        outcome = await on.run(Limits(repeats=3))
    assert (outcome.reason, outcome.text) == (Reason.ANSWERED, "ready")


async def test_a_run_at_its_turn_limit_says_so_answers_its_calls_and_can_go_on() -> None:
    """R084: three turns allowed, and the model calls a tool in each."""

    def answer(received: Received) -> Answer:
        turn = heard_turns(received)
        if turn >= 4:
            return Answer(reply("openai-chat", "finished"))
        return Answer(
            reply("openai-chat", f"step {turn}", [call("write_note", title="a", content=str(turn))])
        )

    async with stage(answer) as on:
        outcome = await on.run(Limits(turns=3))
        assert (outcome.reason, outcome.turns, outcome.text) == (Reason.MAX_TURNS, 3, "step 2")
        assert [result.code for result in outcome.results] == ["CALLS_EXHAUSTED"]
        assert on.desk.done == ["write a"] * 2
        for exchange in outcome.exchanges:
            assert encode("anthropic", exchange.turn, exchange.results)
        again = await on.agent(Limits(turns=9)).resume("r")
    assert (again.reason, again.text, again.turns) == (Reason.ANSWERED, "finished", 5)


async def test_a_batch_over_the_call_limit_never_starts_the_excess() -> None:
    """R086: six calls allowed, five used, a batch of three."""

    def answer(received: Received) -> Answer:
        turn = heard_turns(received)
        batch = [
            call("write_note", f"c{turn}{n}", title=f"{turn}{n}", content="x")
            for n in range(5 if turn == 0 else 3)
        ]
        return Answer(reply("openai-chat", "", batch))

    async with stage(answer) as on:
        outcome = await on.run(Limits(calls=6))
        started = [entry for entry in await on.entries() if isinstance(entry, Started)]
    assert (outcome.reason, outcome.calls) == (Reason.MAX_CALLS, 6)
    assert [result.code for result in outcome.results] == ["", "CALLS_EXHAUSTED", "CALLS_EXHAUSTED"]
    assert len(started) == len(on.desk.done) == 6
