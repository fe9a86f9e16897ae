"""``callgate decode`` says what a recording holds and why it may or may not run."""

from pathlib import Path

import pytest

from callgate.cli._recorded import recorded
from tests.cli.talking import callgate, child, finished

BODY = recorded("read_file", path="资料/说明.md", start_line=1)


def test_a_whole_turn_is_executable_and_its_calls_are_told(tmp_path: Path) -> None:
    file = tmp_path / "turn.sse"
    file.write_bytes(BODY)
    said = callgate("decode", file)
    assert said.code == 0
    assert "read_file" in said.out
    assert "资料/说明.md" in said.out
    assert "executable" in said.out


def test_a_cut_turn_is_not_and_the_reason_is_told(tmp_path: Path) -> None:
    file = tmp_path / "turn.sse"
    file.write_bytes(BODY[: BODY.rindex(b'data: {"choices"')])
    said = callgate("decode", file)
    assert said.code == 1
    assert "TURN_CUT" in said.out


def test_json_is_one_document_from_standard_input() -> None:
    said = callgate("decode", "-", "--dialect", "openai-chat", "--json", "--ladder", given=BODY)
    document = said.document
    assert document["turn"]["executable"]
    assert document["turn"]["calls"][0]["arguments"] == {"path": "资料/说明.md", "start_line": 1}
    assert [event["event"] for event in document["events"]][-1] == "TurnDone"


def test_an_unknown_dialect_is_told_with_those_there_are(tmp_path: Path) -> None:
    said = callgate("decode", "-", "--dialect", "klingon", given=BODY)
    assert said.code == 2
    assert "openai-chat" in said.err


@pytest.mark.parametrize("ladder", [(), ("--ladder",)])
def test_a_body_that_could_be_anything_wants_its_dialect_named(ladder: tuple[str, ...]) -> None:
    said = callgate("decode", "-", *ladder, given=b"hello")
    assert said.code == 2
    assert "--dialect" in said.err


def test_a_file_that_is_not_there_is_one_line_and_no_trace() -> None:
    said = finished(child("decode", "nowhere.sse"))
    assert said.code == 2
    assert said.out == ""
    assert said.err.strip() == "there is no 'nowhere.sse'"
