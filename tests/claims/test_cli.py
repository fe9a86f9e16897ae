"""What is promised of the command line: its exit codes, one JSON document, reasons in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callgate.cli._recorded import recorded
from tests.agent.speaking import Script, scripted
from tests.cli.talking import Said, at_a_terminal, callgate, child, finished
from tests.models.loopback import Loopback

BODY = recorded("read_file", path="a.txt")
CUT = BODY[: BODY.index(b'"finish_reason":"tool_calls"')]
DELETING: Script = [[("c1", "delete_file", {"path": "a.txt"})], "gone"]

HOSTILE = "important.db\x9b12D\x9bKjunk\x1b[2J\x1b]0;owned\x07\u202egpj\u200b\r"
"""Erases itself on a terminal, renames its window, turns the reading direction, hides a blank."""
SHOWN = r"important.db\u009b12D\u009bKjunk\u001b[2J\u001b]0;owned\u0007\u202egpj\u200b\r"


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


def safe(out: str) -> str:
    """What was printed, checked: beside line ends nothing in it moves a cursor or is unseen."""
    assert [line for line in out.split("\n") if not line.isprintable()] == []
    return out


def saying(name: str, text: str, call_id: str, **arguments: str) -> bytes:
    """A whole turn with a text and a call."""
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    delta = {"content": text, "tool_calls": [{"index": 0, "id": call_id, "function": function}]}
    chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\ndata: [DONE]\n\n"


@pytest.mark.parametrize("more", [(), ("--ladder",), ("--json",), ("--json", "--ladder")])
def test_what_a_model_said_cannot_steer_the_terminal_it_is_shown_on(more: tuple[str, ...]) -> None:
    body = saying(f"na\x1bme{HOSTILE}", f"text {HOSTILE}\nexecutable (stop)", f"id{HOSTILE}", path=HOSTILE)
    out = safe(callgate("decode", "-", *more, given=body).out)
    if not more:
        assert SHOWN in out
        assert "\nexecutable (stop)" not in out


def waiting_for(folder: Path, path: str) -> Path:
    """A journal in which the deletion of this path waits for a person."""
    journal = folder / "j.db"
    script: Script = [[("c1", "delete_file", {"path": path})], "gone"]
    (folder / "ws").mkdir()
    (folder / "ws" / path).write_text("x", encoding="utf-8")
    with Loopback(scripted("openai-chat", script)) as server:
        words = ("run", "delete it", "--workspace", folder / "ws", "--model", "openai:m")
        more = ("--journal", journal, "--run-id", "r", "--wait", "0.1")
        said = finished(child(*words, *more, OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url))
    assert said.code == 3, said.err
    safe(said.out + said.err)
    return journal


def test_what_is_approved_is_what_is_shown(tmp_path: Path) -> None:
    journal = waiting_for(tmp_path, HOSTILE)
    assert f'delete_file {{"path":"{SHOWN}"}}' in safe(
        callgate("journal", "waiting", "--journal", journal).out
    )
    for words in (("list",), ("show", "r"), ("verify",)):
        safe(callgate("journal", *words, "--journal", journal).out)
        safe(callgate("journal", *words, "--journal", journal, "--json").out)
    told = safe(callgate("journal", "waiting", "--journal", journal, "--json").out)
    assert json.loads(told)[0]["call"]["arguments"] == {"path": HOSTILE}


def test_the_question_at_the_terminal_shows_the_value_and_nothing_that_erases_it(tmp_path: Path) -> None:
    journal = waiting_for(tmp_path, HOSTILE)
    with Loopback(scripted("openai-chat", ["gone"])) as server:
        words = ("run", "--resume", "r", "--workspace", tmp_path / "ws", "--model", "openai:m")
        environment = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url}
        code, seen = at_a_terminal(*words, "--journal", journal, answer="n", **environment)
    assert code == 0, seen
    assert f'{{"path":"{SHOWN}"}}' in seen
    assert "\x9b" not in seen
    assert "\u202e" not in seen
    assert "\x1b]0" not in seen
