"""The loop, against a real server that speaks each dialect."""

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest

from callgate.agent import Agent, Limits, Reason
from callgate.calls import (
    ApprovalAsked,
    AttemptKind,
    Finish,
    RunEnded,
    RunStarted,
    Status,
    StreamEvent,
    TextDelta,
    TurnAsked,
)
from callgate.errors import ConfigurationError, LocalProtocolError, UnknownRunError
from callgate.gate import open_gate
from callgate.models import ESTIMATOR, connect
from callgate.tools import Toolset
from callgate.workspace import workspace_tools
from tests.agent.speaking import SPECS, Call, Script, heard_turns, reply, results_in, scripted
from tests.agent.stage import stage
from tests.corpus import CORPUS, needs_corpus
from tests.models.loopback import Answer, Loopback, Received

pytestmark = pytest.mark.anyio

READ_A: list[Call] = [("c1", "read_note", {"title": "a"})]
WRITE_A: list[Call] = [("c2", "write_note", {"title": "a", "content": "北京 晴"})]


# ---------------------------------------------------------------- a run


@pytest.mark.parametrize("dialect", SPECS)
async def test_a_task_that_reads_and_edits_a_file_is_done(dialect: str, tmp_path: Path) -> None:
    file = tmp_path / "files" / "说明.md"
    file.parent.mkdir()
    file.write_text("version = 1\n", encoding="utf-8")
    read = ("c", "read_file", {"path": "说明.md"})
    edit = ("c", "replace_in_file", {"path": "说明.md", "old": "version = 1", "new": "version = 2 版"})
    with Loopback(scripted(dialect, [[read], [edit], "Done: 版本 2."])) as server:
        async with open_gate(workspace_tools(), file.parent, f"sqlite:{tmp_path / 'run.db'}") as gate:
            model = connect(SPECS[dialect], base_url=server.url, api_key="k")
            outcome = await Agent(gate, model, system="Edit files.").run("Raise the version.", run="r1")
    assert (outcome.reason, outcome.text) == (Reason.ANSWERED, "Done: 版本 2.")
    assert (outcome.turns, outcome.calls) == (3, 2)
    assert file.read_text(encoding="utf-8") == "version = 2 版\n"
    told = [results_in(request) for request in server.requests]
    assert [len(results) for results in told] == [0, 1, 2]
    assert "version = 1" in told[1]["c"]
    assert (outcome.usage.total, outcome.usage.estimator) == (330, "")


@pytest.mark.parametrize("dialect", SPECS)
async def test_the_record_says_what_was_really_sent(dialect: str) -> None:
    async with stage([READ_A, "fine"], dialect) as on:
        await on.run(system="Be brief.")
        started, *_, ended = await on.entries()
        first, second = await on.asked()
        heard = await on.heard()
    body = on.server.requests[0].json
    assert isinstance(started, RunStarted)
    assert (started.task, started.system) == ("Do it.", "Be brief.")
    assert isinstance(ended, RunEnded)
    assert (ended.reason, ended.text) == ("answered", "fine")
    assert (first.turn, first.attempt, first.kind, first.model) == (0, 0, AttemptKind.FIRST, "m")
    assert first.parameters["temperature"] == body["temperature"] == 0
    assert first.parameters["stream"] is True
    assert [offered.name for offered in first.offered] == [tool.definition.name for tool in on.desk.tools()]
    assert first.tool_bytes == len(
        json.dumps(body["tools"], separators=(",", ":"), ensure_ascii=False).encode()
    )
    assert first.tool_tokens > 0
    assert first.tokens_by == ESTIMATOR
    assert second.turn == 1
    assert first.messages_digest != second.messages_digest
    assert all(len(entry.body_digest) == 64 for entry in heard)


async def test_the_temperature_is_what_the_user_sets() -> None:
    async with stage(["a"]) as on:
        await on.run(parameters={"temperature": 0.7, "max_tokens": 99})
        [asked] = await on.asked()
    assert on.server.requests[0].json["temperature"] == asked.parameters["temperature"] == 0.7
    assert 99 in asked.parameters.values()
    async with stage(["a"]) as on:
        await on.run(parameters={"temperature": None})
    assert "temperature" not in on.server.requests[0].json


async def test_text_stays_text_on_the_way_to_the_model_and_back() -> None:
    async with stage([WRITE_A, "好"]) as on:
        await on.run()
    assert on.desk.notes["a"] == "北京 晴"
    assert "北京 晴".encode() in on.server.requests[1].body


async def test_events_are_told_while_the_reply_arrives() -> None:
    told: list[StreamEvent] = []
    async with stage(["So it is."]) as on:
        await on.run(on_event=told.append)
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == "So it is."


@pytest.mark.parametrize("dialect", SPECS)
async def test_usage_that_is_not_told_is_estimated_and_marked(dialect: str) -> None:
    async with stage(lambda _: Answer(reply(dialect, "fine", usage=False)), dialect) as on:
        outcome = await on.run()
        [heard] = await on.heard()
    assert outcome.usage.estimator == ESTIMATOR
    assert outcome.usage.total > 10
    assert heard.usage == outcome.usage


# ---------------------------------------------------------------- tools by turn


async def test_the_tools_of_a_turn_are_those_that_are_offered_in_it() -> None:
    def tools_for(turn: int) -> Any:
        return [["read_note"], Toolset("none")][turn]

    async with stage([[*READ_A, *WRITE_A], "fine"]) as on:
        outcome = await on.run(tools_for=tools_for)
        first, second = await on.asked()
    assert [tool["function"]["name"] for tool in on.server.requests[0].json["tools"]] == ["read_note"]
    assert "tools" not in on.server.requests[1].json
    assert not [name for name in on.server.requests[1].json if "tool" in name]
    assert [offered.name for offered in first.offered] == ["read_note"]
    assert second.offered == ()
    [exchange] = outcome.exchanges
    assert [result.code for result in exchange.results] == ["", "NOT_OFFERED"]
    assert on.desk.done == ["read a"]


async def test_a_tool_the_gate_does_not_have_cannot_be_offered() -> None:
    async with stage(["a"]) as on:
        with pytest.raises(ConfigurationError, match="tools_for"):
            await on.run(tools_for=lambda _: ["read_notes"])
    assert on.server.requests == []


# ---------------------------------------------------------------- ends


@pytest.mark.parametrize(
    ("dialect", "finish", "reason"),
    [
        ("openai-chat", "length", Reason.LENGTH),
        ("openai-chat", "content_filter", Reason.FILTERED),
        ("openai-responses", "incomplete", Reason.LENGTH),
        ("anthropic", "max_tokens", Reason.LENGTH),
        ("anthropic", "refusal", Reason.REFUSED),
    ],
)
async def test_a_reply_that_is_no_answer_ends_the_run_by_its_own_name(
    dialect: str, finish: str, reason: Reason
) -> None:
    async with stage(lambda _: Answer(reply(dialect, "Well", finish=finish)), dialect) as on:
        outcome = await on.run()
    assert (outcome.reason, outcome.text, len(on.server.requests)) == (reason, "Well", 1)
    assert not outcome.ok


async def test_a_capped_reply_with_calls_runs_none_and_the_model_is_told() -> None:
    def answer(received: Received) -> Answer:
        return Answer(
            reply("openai-chat", "", WRITE_A, finish="length")
            if not heard_turns(received)
            else reply("openai-chat", "ok")
        )

    async with stage(answer) as on:
        outcome = await on.run()
    assert outcome.ok
    assert on.desk.done == []
    assert "TURN_CAPPED" in results_in(on.server.requests[1])["c2"]


async def test_an_empty_reply_is_asked_for_once_more_and_then_a_reason_of_its_own() -> None:
    async with stage(lambda _: Answer(reply("openai-chat"))) as on:
        outcome = await on.run()
        asked = await on.asked()
    assert outcome.reason is Reason.EMPTY
    assert [(one.turn, one.attempt, one.kind) for one in asked] == [
        (0, 0, AttemptKind.FIRST),
        (0, 1, AttemptKind.RESENT),
    ]
    assert on.server.requests[0].body == on.server.requests[1].body


async def test_a_reply_that_broke_off_has_no_effect_and_is_asked_for_again() -> None:
    answers = iter(
        [Answer(reply("openai-chat", "", WRITE_A), cut_after=500), Answer(reply("openai-chat", "", READ_A))]
    )

    def answer(_: Received) -> Answer:
        return next(answers, Answer(reply("openai-chat", "fine")))

    async with stage(answer) as on:
        outcome = await on.run()
        heard = await on.heard()
    assert outcome.ok
    assert on.desk.done == ["read a"]
    assert [(one.turn, one.attempt, one.finish) for one in heard] == [
        (0, 0, Finish.CUT),
        (0, 1, Finish.TOOL_CALLS),
        (1, 0, Finish.STOP),
    ]


async def test_an_error_inside_a_reply_ends_the_run_or_is_asked_again_where_it_passes() -> None:
    def error(kind: str) -> Answer:
        event = {"type": "error", "error": {"type": kind, "message": "no"}}
        return Answer(f"event: error\ndata: {json.dumps(event)}\n\n".encode())

    async with stage(lambda _: error("invalid_request_error"), "anthropic") as on:
        outcome = await on.run()
    assert (outcome.reason, len(on.server.requests)) == (Reason.MODEL_ERROR, 1)
    assert "no" in outcome.detail
    answers = iter([error("overloaded_error")])
    async with stage(lambda _: next(answers, Answer(reply("anthropic", "fine"))), "anthropic") as on:
        assert (await on.run()).ok


async def test_a_server_that_declines_ends_the_run_and_it_can_go_on_later() -> None:
    answers = iter([Answer(b'{"error":{"type":"t","message":"no credit"}}', status=402)])
    async with stage(lambda _: next(answers, Answer(reply("openai-chat", "fine")))) as on:
        outcome = await on.run()
        assert outcome.reason is Reason.TRANSPORT
        assert "no credit" in outcome.detail
        again = await on.agent().resume("r")
        asked = await on.asked()
    assert (again.reason, again.text) == (Reason.ANSWERED, "fine")
    assert [(one.turn, one.attempt, one.kind) for one in asked] == [
        (0, 0, AttemptKind.FIRST),
        (0, 1, AttemptKind.REGENERATED),
    ]


async def test_tokens_are_bounded() -> None:
    async with stage([READ_A, WRITE_A, "never"]) as on:
        outcome = await on.run(Limits(tokens=150))
    assert (outcome.reason, outcome.usage.total, on.desk.done) == (Reason.MAX_TOKENS, 220, ["read a"])
    assert [result.code for result in outcome.results] == ["CALLS_EXHAUSTED"]


async def test_wall_time_is_bounded_and_what_ran_then_is_unknown() -> None:
    slow: list[Call] = [("s1", "create_slowly", {"title": "x"}), ("s2", "create_slowly", {"title": "y"})]
    async with stage([slow, "never"]) as on:
        outcome = await on.run(Limits(seconds=3.0))
    assert outcome.reason is Reason.MAX_SECONDS
    assert len(on.server.requests) == 1
    # A tool that declares no accesses touches everything: the second one waited for the first.
    assert [result.status for result in outcome.results] == [Status.UNKNOWN, Status.NOT_RUN]
    assert on.desk.done == ["begin x"]


async def test_wall_time_cuts_a_reply_that_does_not_end() -> None:
    async with stage(lambda _: Answer(reply("openai-chat", "Well"), cut_after=200, silent=True)) as on:
        outcome = await on.run(Limits(seconds=0.8))
    assert outcome.reason is Reason.MAX_SECONDS


async def test_a_request_that_cannot_be_made_small_enough_is_not_sent() -> None:
    async with stage(["a"]) as on:
        outcome = await on.run(Limits(context=10))
    assert (outcome.reason, on.server.requests) == (Reason.CONTEXT, [])


async def test_rounds_without_an_admitted_call_end_the_run_by_who_could_mend_them() -> None:
    wrong: list[Call] = [("w", "read_note", {"titel": "a"})]
    async with stage([wrong]) as on:
        outcome = await on.run(Limits(stuck_rounds=3))
    assert (outcome.reason, outcome.turns) == (Reason.STUCK_MENDABLE, 3)
    assert "UNKNOWN_PARAMETER" in results_in(on.server.requests[1])["w"]


async def test_a_last_answer_can_be_asked_for_without_calls() -> None:
    def answer(received: Received) -> Answer:
        done = received.json.get("tool_choice") == "none"
        return Answer(reply("openai-chat", "As far as I came.") if done else reply("openai-chat", "", READ_A))

    async with stage(answer) as on:
        outcome = await on.run(Limits(turns=2), last_answer=True)
        *_, last = await on.asked()
    assert (outcome.reason, outcome.text) == (Reason.MAX_TURNS, "As far as I came.")
    assert len(on.server.requests) == 3
    assert last.offered == ()


# ---------------------------------------------------------------- people


async def test_a_call_that_waits_for_a_person_ends_the_run_until_they_decide() -> None:
    async with stage([[*READ_A, ("d", "delete_note", {"title": "b"})], "gone"]) as on:
        outcome = await on.run()
        assert outcome.reason is Reason.PENDING
        assert [result.status for result in outcome.results] == [Status.OK, Status.PENDING]
        assert on.desk.done == ["read a"]
        assert (await on.agent().resume("r")).reason is Reason.PENDING
        [waiting] = await on.gate.pending("r")
        await on.gate.decide(waiting.key, approved=True, by="ada")
        again = await on.agent().resume("r")
    assert (again.reason, again.text) == (Reason.ANSWERED, "gone")
    assert on.desk.done == ["read a", "delete b"]
    assert results_in(on.server.requests[-1])["d"].startswith("status: ok")


async def test_a_person_who_decides_in_time_keeps_the_run_going() -> None:
    async with stage([[("d", "delete_note", {"title": "b"})], "gone"]) as on:
        asked = anyio.Event()
        on.gate.subscribe(lambda entry: asked.set() if isinstance(entry, ApprovalAsked) else None)

        async def decide() -> None:
            await asked.wait()
            [waiting] = await on.gate.pending("r")
            await on.gate.decide(waiting.key, approved=False, by="ada", reason="not today")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(decide)
            outcome = await on.run(wait_for_approvals=10.0)
    assert outcome.ok
    assert "not today" in results_in(on.server.requests[-1])["d"]


async def test_a_resumed_run_waits_for_the_person_it_had_asked_before() -> None:
    async with stage([[("d", "delete_note", {"title": "b"})], "gone"]) as on:
        assert (await on.run()).reason is Reason.PENDING
        [waiting] = await on.gate.pending("r")

        async def decide() -> None:
            await anyio.sleep(0.05)
            await on.gate.decide(waiting.key, approved=True, by="ada")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(decide)
            outcome = await on.agent(wait_for_approvals=10.0).resume("r")
    assert outcome.ok
    assert on.desk.done == ["delete b"]


# ---------------------------------------------------------------- again


async def test_a_run_that_someone_else_stops_ends_with_its_calls_answered_and_can_go_on() -> None:
    async with stage([[("s", "create_slowly", {"title": "x"})], "fine"]) as on:

        async def stop() -> None:
            await on.desk.begun.wait()
            await on.gate.cancel("r", "ada")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop)
            outcome = await on.run()
        again = await on.agent().resume("r")
    assert (outcome.reason, len(on.server.requests)) == (Reason.CANCELLED, 2)
    assert [result.status for result in outcome.results] == [Status.UNKNOWN]
    assert again.ok


async def test_a_run_that_is_stopped_while_the_model_speaks_runs_none_of_its_calls_and_asks_no_more() -> None:
    asked = anyio.Event()
    async with stage([WRITE_A, "fine"]) as on:

        async def stop() -> None:
            await asked.wait()
            await on.gate.cancel("r", "ada")
            stopped.set()

        stopped = anyio.Event()
        on.gate.subscribe(lambda entry: asked.set() if isinstance(entry, TurnAsked) else None)
        agent = on.agent()
        chunks = agent._model.chunks

        async def held_back(prepared: Any) -> Any:
            async for chunk in chunks(prepared):
                await stopped.wait()
                yield chunk

        agent._model.chunks = held_back  # type: ignore[method-assign]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop)
            outcome = await agent.run("Do it.", run="r")
        again = await on.agent().resume("r")
    assert (outcome.reason, on.desk.done) == (Reason.CANCELLED, [])
    assert (again.ok, len(on.server.requests)) == (True, 2)


async def test_a_run_that_went_on_and_was_killed_before_its_end_is_not_asked_again() -> None:
    """Its first end is none any more: the answer stands in the journal."""
    async with stage([[("d", "delete_note", {"title": "b"})], "gone"]) as on:
        first = await on.run()
        (waiting,) = await on.gate.pending("r")
        await on.gate.decide(waiting.key, approved=True, by="ada")
        finish, on.gate.finish = on.gate.finish, no_finish  # type: ignore[method-assign]
        killed = await on.agent().resume("r")
        on.gate.finish = finish  # type: ignore[method-assign]
        assert [info.ended for info in await on.store.runs()] == [""]
        again = await on.agent().resume("r")
        assert [info.ended for info in await on.store.runs()] == ["answered"]
    assert (first.reason, killed.text, again.text) == (Reason.PENDING, "gone", "gone")
    assert len(on.server.requests) == 2


async def no_finish(run: str, reason: str, text: str = "") -> None:
    """Killed before the end of the run was written."""


async def test_a_run_whose_bodies_were_kept_is_played_again(tmp_path: Path) -> None:
    script: Script = [READ_A, WRITE_A, "fine"]
    async with stage(script) as on:
        await on.run()
        assert [entry.body for entry in await on.heard()] == [b"", b"", b""]
    async with stage(script) as on:
        first = await on.run(keep_bodies=True)
        heard = await on.heard()
    for entry in heard:
        assert hashlib.sha256(entry.body).hexdigest() == entry.body_digest
        (tmp_path / f"{entry.turn}.sse").write_bytes(entry.body)
    async with stage([]) as on:
        again = await Agent(on.gate, connect(f"replay:{tmp_path}")).run("Do it.")
    assert (again.text, again.turns, again.calls) == (first.text, first.turns, first.calls)
    assert on.desk.done == ["read a", "write a"]


async def test_an_agent_leaves_nothing_behind_at_its_gate() -> None:
    async with stage(["fine"] * 3) as on:
        for number in range(3):
            await on.agent().run("Do it.", run=f"r{number}")
        assert on.gate._host.listeners == []


async def test_a_loop_that_is_cancelled_in_the_middle_of_a_reply_hangs_up_and_can_go_on() -> None:
    answers = iter([Answer(reply("openai-chat", "Well", WRITE_A), cut_after=400, silent=True)])
    async with stage(lambda _: next(answers, Answer(reply("openai-chat", "fine")))) as on:
        with anyio.CancelScope() as scope:
            await on.run(on_event=lambda _: scope.cancel())
        assert await anyio.to_thread.run_sync(lambda: on.server.gone.acquire(timeout=30))
        assert [type(entry).__name__ for entry in await on.entries()] == [
            "RunStarted",
            "TurnAsked",
            "CancelRequested",
            "RunEnded",
        ]
        outcome = await on.agent().resume("r")
        kinds = [(one.attempt, one.kind) for one in await on.asked()]
    assert (outcome.ok, on.desk.done) == (True, [])
    assert kinds == [(0, AttemptKind.FIRST), (1, AttemptKind.REGENERATED)]


async def test_a_run_that_was_answered_is_not_asked_again() -> None:
    async with stage([READ_A, "fine"]) as on:
        first = await on.run()
        again = await on.agent().resume("r")
        entries = await on.entries()
    assert (again.reason, again.text, again.turns, again.calls) == (first.reason, "fine", 2, 1)
    assert again.usage == first.usage
    assert len(on.server.requests) == 2
    assert sum(isinstance(entry, RunEnded) for entry in entries) == 1


async def test_a_run_goes_on_with_the_same_bytes_after_it_was_taken_up_again() -> None:
    script: Script = [READ_A, WRITE_A, [("c3", "read_note", {"title": "b"})], "fine"]
    async with stage(script) as on:
        await on.run()
    whole = [request.body for request in on.server.requests]
    async with stage(script) as on:
        assert (await on.run(Limits(turns=2))).reason is Reason.MAX_TURNS
        assert (await on.agent().resume("r")).ok
    # The last turn of the first part was answered without its call being run; before it nothing differs.
    assert [request.body for request in on.server.requests][:2] == whole[:2]
    assert on.desk.done == ["read a", "read b"]


async def test_a_run_of_that_id_is_not_begun_twice() -> None:
    async with stage(["fine"]) as on:
        await on.run()
        with pytest.raises(LocalProtocolError, match="resume"):
            await on.run()


async def test_a_run_the_journal_does_not_know_cannot_be_resumed() -> None:
    async with stage(["fine"]) as on:
        with pytest.raises(UnknownRunError):
            await on.agent().resume("never")


async def test_runs_without_an_id_get_one_each() -> None:
    async with stage(["fine"]) as on:
        one, two = await on.agent().run("a"), await on.agent().run("b")
    assert one.run != two.run


async def test_several_runs_at_once_keep_apart() -> None:
    async with stage([READ_A, "fine"]) as on:
        outcomes = []

        async def one(run: str) -> None:
            outcomes.append(await on.agent().run(f"task {run}", run=run))

        async with anyio.create_task_group() as tasks:
            for number in range(5):
                tasks.start_soon(one, f"r{number}")
    assert [outcome.ok for outcome in outcomes] == [True] * 5
    assert {outcome.results == () for outcome in outcomes} == {True}
    assert len(on.server.requests) == 10


@needs_corpus
@pytest.mark.parametrize(
    ("folder", "dialect"),
    [
        ("openai-chat", "openai-chat"),
        ("openai-responses", "openai-responses"),
        ("anthropic-messages", "anthropic"),
    ],
)
async def test_whatever_a_provider_was_recorded_to_say_the_run_ends_with_a_reason(
    folder: str, dialect: str, tmp_path: Path
) -> None:
    last = tmp_path / "last.sse"
    last.write_bytes(reply(dialect, "fine"))
    reasons: Counter[Reason] = Counter()
    async with open_gate(Toolset("none")) as gate:
        for body in sorted((CORPUS / "streams" / folder).glob("*.sse")):
            model = connect(f"replay:{body},{last}", dialect=dialect)
            outcome = await Agent(gate, model).run("Do it.", run=body.stem)
            reasons[outcome.reason] += 1
            view = await gate.view(body.stem)
            assert view.ended == outcome.reason
            for turn in view.turns:
                assert turn.turn is not None
                assert len(turn.results) == len(turn.turn.calls)
    assert reasons[Reason.ANSWERED] > reasons.total() / 2
    assert set(reasons) <= {
        Reason.ANSWERED,
        Reason.CUT,
        Reason.LENGTH,
        Reason.MODEL_ERROR,
        Reason.REFUSED,
    }
