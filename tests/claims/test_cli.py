"""What is promised of the command line: its exit codes, one JSON document, reasons in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callgate.cli._recorded import recorded
from tests.agent.speaking import Script, scripted
from tests.cli.talking import Said, callgate, child, finished
from tests.models.loopback import Loopback

BODY = recorded("read_file", path="a.txt")
CUT = BODY[: BODY.index(b'"finish_reason":"tool_calls"')]
DELETING: Script = [[("c1", "delete_file", {"path": "a.txt"})], "gone"]


def run(folder: Path, *more: str) -> Said:
    """A run whose model wants to delete a file, without a terminal."""
    (folder / "a.txt").write_text("one\n", encoding="utf-8")
    with Loopback(scripted("openai-chat", DELETING)) as server:
        words = ("run", "delete it", "--workspace", folder, "--model", "openai:m")
        journal = ("--journal", folder.parent / "j.db", "--run-id", "r")
        return finished(
            child(*words, *journal, *more, OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url, NO_COLOR="")
        )


@pytest.mark.parametrize(
    ("words", "body", "code"),
    [
        (("decode", "-"), BODY, 0),
        (("decode", "-"), CUT, 1),
        (("decode", "-", "--dialect", "klingon"), BODY, 2),
        (("decode", "no such file"), b"", 2),
        (("journal", "approve", "nonsense", "--journal", "no such file"), b"", 2),
        (("run", "x", "--model", "nobody:m"), b"", 4),
    ],
    ids=["done", "not done", "no such dialect", "no such file", "no such journal", "no such model"],
)
def test_the_exit_code_says_how_it_ended(
    words: tuple[str, ...], body: bytes, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert callgate(*words, given=body).code == code


@pytest.mark.parametrize(
    ("more", "code", "is_there"),
    [(("--yes-to", "delete_*"), 0, False), (("--wait", "0.1"), 3, True), ((), 0, True)],
    ids=["allowed beforehand", "nobody answered", "nobody can be asked"],
)
def test_a_deletion_happens_only_when_somebody_allowed_it(
    more: tuple[str, ...], code: int, is_there: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "ws"
    folder.mkdir()
    said = run(folder, *more)
    assert said.code == code, said.err
    assert (folder / "a.txt").exists() == is_there


def test_json_is_one_document_on_stdout_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "ws"
    folder.mkdir()
    said = run(folder, "--json")
    assert said.document["reason"] == "answered"
    assert said.err == ""
    for words in (("list",), ("show", "r"), ("verify",), ("waiting",)):
        out = callgate("journal", *words, "--journal", tmp_path / "j.db", "--json").out
        assert isinstance(json.loads(out), list)


def test_a_decode_says_why_a_turn_may_not_run_and_shows_its_calls_all_the_same() -> None:
    said = callgate("decode", "-", given=CUT)
    assert "read_file" in said.out
    assert "not executable: TURN_CUT" in said.out


def test_a_dialect_that_does_not_exist_is_answered_with_those_that_do() -> None:
    said = callgate("decode", "-", "--dialect", "klingon", given=BODY)
    assert said.out == ""
    assert "anthropic, json-mode, openai-chat, openai-responses" in said.err


def test_there_is_no_colour_where_there_is_no_terminal(tmp_path: Path) -> None:
    folder = tmp_path / "ws"
    folder.mkdir()
    said = run(folder)
    assert "delete_file" in said.out
    assert "\x1b" not in said.out + said.err
