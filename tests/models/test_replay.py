"""Recorded replies."""

from pathlib import Path

import pytest

from callgate.calls import Turn
from callgate.errors import ConfigurationError, TransportError
from callgate.models import Model, connect, guess_dialect
from callgate.wire import Exchange, Request, Said
from tests.agent.speaking import reply
from tests.corpus import CORPUS, needs_corpus

pytestmark = pytest.mark.anyio


async def read(model: Model, turns: int = 0) -> bytes:
    history: list[Said | Exchange] = [Said("user", "?"), *[Exchange(Turn(text="so"))] * turns]
    chunks = model.chunks(model.prepare(Request(model.name, history=tuple(history))))
    return b"".join([chunk async for chunk in chunks])


@pytest.fixture
def turns(tmp_path: Path) -> Path:
    for number in range(3):
        (tmp_path / f"{number}.sse").write_bytes(reply("openai-chat", f"turn {number}"))
    (tmp_path / "notes.md").write_text("not a recording")
    return tmp_path


async def test_a_folder_is_replayed_in_the_order_of_its_names(turns: Path) -> None:
    model = connect(f"replay:{turns}")
    for number in (0, 2, 1, 0):
        assert f"turn {number}".encode() in await read(model, number)


async def test_several_files_are_replayed_in_the_order_named(turns: Path) -> None:
    model = connect(f"replay:{turns / '2.sse'},{turns / '0.sse'}")
    assert b"turn 2" in await read(model)
    assert b"turn 0" in await read(model, 1)


async def test_a_file_with_a_comma_in_its_name_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "a,b.sse").write_bytes(reply("anthropic", "one"))
    assert b"one" in await read(connect(f"replay:{tmp_path / 'a,b.sse'}"))


async def test_pieces_are_as_small_as_asked_and_lose_nothing(turns: Path) -> None:
    model = connect(f"replay:{turns}", chunk_bytes=7)
    chunks = [chunk async for chunk in model.chunks(model.prepare(Request("m")))]
    assert {len(chunk) for chunk in chunks[:-1]} == {7}
    assert b"".join(chunks) == (turns / "0.sse").read_bytes()


async def test_more_turns_than_recordings_is_an_error_of_the_transport(turns: Path) -> None:
    with pytest.raises(TransportError, match="no recording"):
        await read(connect(f"replay:{turns}"), 3)


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "anthropic"])
def test_the_dialect_is_told_from_the_recording(dialect: str) -> None:
    assert guess_dialect(reply(dialect, "so", [("c", "t", {})])) == dialect


def test_what_no_dialect_fits_must_be_named(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("<tool_call>")
    with pytest.raises(ConfigurationError, match="dialect="):
        connect(f"replay:{tmp_path}")
    assert connect(f"replay:{tmp_path}", dialect="anthropic").dialect == "anthropic"


def test_pieces_of_no_size_are_refused(turns: Path) -> None:
    with pytest.raises(ConfigurationError, match="chunk_bytes"):
        connect(f"replay:{turns}", chunk_bytes=0)


@pytest.mark.parametrize("place", ["missing.sse", ",", "."])
def test_a_recording_that_is_not_there_is_told(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError):
        connect(f"replay:{place}")


@needs_corpus
@pytest.mark.parametrize(
    ("folder", "dialect"),
    [
        ("openai-chat", "openai-chat"),
        ("openai-responses", "openai-responses"),
        ("anthropic-messages", "anthropic"),
    ],
)
def test_every_recorded_reply_is_told_by_its_content(folder: str, dialect: str) -> None:
    bodies = {path.name: path.read_bytes() for path in (CORPUS / "streams" / folder).glob("*.sse")}
    assert bodies
    assert {name: guess_dialect(body) for name, body in bodies.items()} == dict.fromkeys(bodies, dialect)
