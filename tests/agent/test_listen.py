"""Hearing one reply out."""

import hashlib
from collections.abc import AsyncGenerator

import anyio
import pytest

from callgate.agent import _listen
from callgate.agent._listen import CONNECTION_BROKE, Heard, listen
from callgate.calls import Finish, StreamEvent, TextDelta
from callgate.errors import TransportError
from callgate.wire import Decoder
from tests.agent.speaking import reply

pytestmark = pytest.mark.anyio

BODY = reply("openai-chat", "fine")
FOREVER = float("inf")


async def hear(chunks: AsyncGenerator[bytes, None], deadline: float = FOREVER) -> Heard:
    return await listen(chunks, Decoder("openai-chat"), None, deadline)


async def sent(*pieces: bytes | Exception | float) -> AsyncGenerator[bytes, None]:
    for piece in pieces:
        if isinstance(piece, Exception):
            raise piece
        if isinstance(piece, bytes):
            yield piece
        else:
            await anyio.sleep(piece)


async def test_a_whole_reply_is_a_turn_with_the_digest_of_its_bytes() -> None:
    heard = await hear(sent(BODY[:50], BODY[50:]))
    assert (heard.turn.text, heard.turn.finish, heard.turn.faults) == ("fine", Finish.STOP, ())
    assert heard.body_digest == hashlib.sha256(BODY).hexdigest()


async def test_events_are_told_while_the_reply_arrives() -> None:
    told: list[StreamEvent] = []
    seen: list[int] = []

    async def watched() -> AsyncGenerator[bytes, None]:
        for start in range(0, len(BODY), 40):
            seen.append(sum(isinstance(event, TextDelta) for event in told))
            yield BODY[start : start + 40]

    await listen(watched(), Decoder("openai-chat"), told.append, FOREVER)
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == "fine"
    assert seen[-1] > seen[0]


async def test_a_reply_that_breaks_off_is_a_cut_turn_that_says_why() -> None:
    heard = await hear(sent(BODY[:60], TransportError("the connection broke", kind="cut", retryable=True)))
    assert (heard.turn.finish, heard.turn.executable) == (Finish.CUT, False)
    [fault] = heard.turn.faults
    assert (fault.code, fault.provider_code, fault.retryable) == (CONNECTION_BROKE, "cut", True)
    assert "the connection broke" in fault.message


async def test_a_break_after_the_replys_own_end_takes_nothing_away() -> None:
    heard = await hear(sent(BODY, TransportError("the connection broke", kind="cut")))
    assert (heard.turn.text, heard.turn.executable, heard.turn.faults) == ("fine", True, ())


async def test_no_byte_at_all_is_an_error_of_the_transport() -> None:
    with pytest.raises(TransportError):
        await hear(sent(TransportError("unreachable", kind="connect")))


async def test_the_deadline_cuts_a_reply() -> None:
    heard = await hear(sent(BODY[:60], 60.0), anyio.current_time() + 0.05)
    assert heard.turn.finish is Finish.CUT


async def test_a_server_that_never_hangs_up_does_not_hold_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_listen, "_TAIL_SECONDS", 0.05)
    heard = await hear(sent(BODY, 60.0))
    assert (heard.turn.text, heard.turn.executable) == ("fine", True)


async def test_the_stream_is_closed_whatever_happens() -> None:
    closed = anyio.Event()

    async def endless() -> AsyncGenerator[bytes, None]:
        try:
            yield BODY[:60]
            await anyio.sleep(60)
        finally:
            closed.set()

    with anyio.move_on_after(0.05):
        await hear(endless())
    assert closed.is_set()
