"""The one place that says whether a reply may have effects."""

import pytest

from callgate.calls import CallKind, Finish, StreamFault, Turn, Usage
from callgate.wire._assembly import Assembly
from callgate.wire._slot import Terms
from callgate.wire._turn import build


def reply(*calls: str, finish: Finish | None = Finish.TOOL_CALLS, max_tokens: int | None = None) -> Assembly:
    made = Assembly(Terms("openai-chat", max_tokens=max_tokens))
    draft = made.draft(0)
    for text in calls:
        slot = made.open(draft, CallKind.FUNCTION, "c", [])
        made.arguments(draft, slot, text, [])
        slot.closed = True
    if finish is not None:
        made.end(draft, finish, finish.value, [])
    return made


def ending(made: Assembly) -> tuple[Finish, bool, str]:
    turn = build(made)
    assert turn.executable == (not turn.why_not) == (not turn.reason)
    return turn.finish, turn.executable, turn.why_not


def test_a_good_end_makes_a_turn_executable() -> None:
    assert ending(reply("{}")) == (Finish.TOOL_CALLS, True, "")
    assert ending(reply("{}", finish=Finish.STOP)) == (Finish.TOOL_CALLS, True, "")


def test_without_calls_a_good_end_is_a_stop_or_empty() -> None:
    made = reply(finish=Finish.STOP)
    assert ending(made) == (Finish.EMPTY, True, "")
    made.say(made.draft(0), "reasoning", "hm", [])
    assert ending(made) == (Finish.EMPTY, True, "")
    made.say(made.draft(0), "text", "hi", [])
    assert ending(made) == (Finish.STOP, True, "")


@pytest.mark.parametrize(
    ("finish", "code"),
    [
        (None, "TURN_CUT"),
        (Finish.LENGTH, "TURN_CAPPED"),
        (Finish.REFUSAL, "TURN_REFUSED"),
        (Finish.FILTERED, "TURN_REFUSED"),
        (Finish.ERROR, "TURN_FAILED"),
    ],
)
def test_any_other_end_says_why_not(finish: Finish | None, code: str) -> None:
    assert ending(reply("{}", finish=finish)) == (finish or Finish.CUT, False, code)


def test_a_refusal_in_words_is_one_whatever_the_end_is_called() -> None:
    made = reply("{}", finish=Finish.STOP)
    made.say(made.draft(0), "refusal", "no", [])
    assert ending(made) == (Finish.REFUSAL, False, "TURN_REFUSED")
    assert build(made).refusal == "no"


def test_a_fatal_fault_outweighs_every_end_and_another_one_none() -> None:
    made = reply("{}")
    made.fault(StreamFault("X", "odd", fatal=False), [])
    assert ending(made) == (Finish.TOOL_CALLS, True, "")
    made.fault(StreamFault("Y", "bad"), [])
    assert ending(made) == (Finish.ERROR, False, "TURN_FAILED")
    assert build(made).reason == "bad"


def capped(made: Assembly, tokens: int) -> Turn:
    made.usage = Usage(output_tokens=tokens)
    return build(made)


def test_as_many_tokens_as_allowed_stop_the_calls_and_only_flag_a_text() -> None:
    assert capped(reply("{}", max_tokens=5), 4).executable
    hit = capped(reply("{}", max_tokens=5), 5)
    assert (hit.executable, hit.why_not, hit.possibly_truncated) == (False, "TURN_CAPPED", True)
    made = reply(finish=Finish.STOP, max_tokens=5)
    made.say(made.draft(0), "text", "hi", [])
    text = capped(made, 5)
    assert (text.executable, text.possibly_truncated) == (True, True)


def test_choice_0_is_the_turn_whatever_others_there_are() -> None:
    made = reply("{}")
    made.end(made.draft(-1), Finish.STOP, "stop", [])
    turn = build(made)
    assert turn.executable
    assert len(turn.alternatives) == 1


def test_a_cap_that_may_have_been_hit_unseen_is_a_cut() -> None:
    text = reply(finish=Finish.STOP, max_tokens=5)
    assert ending(text) == (Finish.EMPTY, True, "")
    made = reply("{}", max_tokens=5)
    assert ending(made) == (Finish.CUT, False, "TURN_CUT")
    made.certain = True
    assert ending(made) == (Finish.TOOL_CALLS, True, "")


def test_the_last_call_breaking_off_is_flagged() -> None:
    for calls, wanted in ((("{}", '{"a":'), True), (('{"a":', "{}"), False), (("{'a'}",), False)):
        turn = build(reply(*calls))
        assert turn.possibly_truncated is wanted
        assert turn.executable


def test_other_choices_are_alternatives_that_can_never_run() -> None:
    made = reply("{}")
    for number in (2, 1):
        draft = made.draft(number)
        slot = made.open(draft, CallKind.FUNCTION, "c", [])
        made.arguments(draft, slot, f'{{"n":{number}}}', [])
        slot.closed = True
        made.end(draft, Finish.TOOL_CALLS, "tool_calls", [])
    turn = build(made)
    assert turn.executable
    assert [other.calls[0].arguments["n"] for other in turn.alternatives] == [1, 2]
    assert {(other.executable, other.why_not) for other in turn.alternatives} == {(False, "TURN_REFUSED")}
    assert len({turn.digest, *(other.digest for other in turn.alternatives)}) == 3


def test_the_digest_tells_turns_apart_by_what_they_say_and_by_their_response() -> None:
    first, same = build(reply('{"a":1}')), build(reply('{"a":1}'))
    assert first.digest == same.digest
    other = reply('{"a":1}')
    other.response_id = "r2"
    assert (
        len({first.digest, build(reply('{"a":2}')).digest, build(other).digest, build(reply()).digest}) == 4
    )
