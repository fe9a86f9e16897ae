"""``callgate run``: a task through a real server, a real folder, and a second terminal that approves."""

import signal
import time
from pathlib import Path

import pytest

from tests.agent.speaking import SPECS, Script, scripted
from tests.cli.talking import Said, at_a_terminal, callgate, child, finished
from tests.models.loopback import Loopback

KEYS = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}


def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    return folder


def variables(dialect: str, url: str) -> dict[str, str]:
    name = "ANTHROPIC_BASE_URL" if dialect == "anthropic" else "OPENAI_BASE_URL"
    return {**KEYS, name: url}


@pytest.mark.parametrize("dialect", SPECS)
def test_a_task_that_reads_and_edits_a_file_is_done(dialect: str, tmp_path: Path) -> None:
    folder = workspace(tmp_path)
    script: Script = [
        [("c1", "read_file", {"path": "a.txt"})],
        [("c2", "replace_in_file", {"path": "a.txt", "old": "two", "new": "2"})],
        "done",
    ]
    with Loopback(scripted(dialect, script)) as server:
        words = ("run", "change it", "--workspace", folder, "--model", SPECS[dialect])
        journal = ("--journal", tmp_path / "j.db", "--run-id", "r", "--json")
        said = finished(child(*words, *journal, **variables(dialect, server.url)))
    assert said.code == 0, said.err
    assert said.document["reason"] == "answered"
    assert said.document["text"] == "done"
    assert (folder / "a.txt").read_text(encoding="utf-8") == "one\n2\n"
    assert callgate("journal", "verify", "--journal", tmp_path / "j.db").code == 0


def test_a_run_whose_replies_were_kept_is_played_again(tmp_path: Path) -> None:
    folder = workspace(tmp_path)
    script: Script = [[("c1", "replace_in_file", {"path": "a.txt", "old": "two", "new": "2"})], "done"]
    store, turns = ("--journal", tmp_path / "j.db"), tmp_path / "turns"
    words = ("run", "change it", "--workspace", folder, *store, "--json")
    with Loopback(scripted("openai-chat", script)) as server:
        made = child(
            *words,
            "--model",
            "openai:m",
            "--run-id",
            "r",
            "--keep-bodies",
            **variables("openai-chat", server.url),
        )
        assert finished(made).code == 0
    said = callgate("journal", "bodies", "r", turns, *store, "--json")
    assert said.document == [str(turns / "0000.sse"), str(turns / "0001.sse")]
    shown = callgate("journal", "show", "r", *store, "--json")
    assert any(entry.get("body") for entry in shown.document)
    (folder / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    again = callgate(*words, "--model", f"replay:{turns}", "--run-id", "again")
    assert (again.document["text"], (folder / "a.txt").read_text(encoding="utf-8")) == ("done", "one\n2\n")
    assert callgate("journal", "bodies", "again", turns, *store).code == 2


DELETING: Script = [[("c1", "delete_file", {"path": "a.txt"})], "gone"]


def test_what_needs_a_person_is_refused_where_nobody_can_be_asked(tmp_path: Path) -> None:
    folder = workspace(tmp_path)
    said = _run(tmp_path, folder)
    assert said.document["results"][0]["code"] == "NO_APPROVER"
    assert (folder / "a.txt").exists()


def test_what_was_allowed_beforehand_runs(tmp_path: Path) -> None:
    folder = workspace(tmp_path)
    said = _run(tmp_path, folder, "--yes-to", "delete_*")
    assert said.document["results"][0]["status"] == "ok"
    assert not (folder / "a.txt").exists()


def _run(tmp_path: Path, folder: Path, *more: str) -> Said:
    with Loopback(scripted("openai-chat", DELETING)) as server:
        words = (
            "run",
            "delete it",
            "--workspace",
            folder,
            "--model",
            "openai:m",
            "--journal",
            tmp_path / "j.db",
        )
        return finished(child(*words, "--json", *more, **variables("openai-chat", server.url)))


def test_another_terminal_approves_while_the_run_waits(tmp_path: Path) -> None:
    folder, journal = workspace(tmp_path), tmp_path / "j.db"
    with Loopback(scripted("openai-chat", DELETING)) as server:
        words = ("run", "delete it", "--workspace", folder, "--model", "openai:m", "--journal", journal)
        process = child(*words, "--wait", "30", "--json", **variables("openai-chat", server.url))
        key = _first_waiting(journal)
        assert callgate("journal", "approve", key, "--by", "ann", "--journal", journal).code == 0
        said = finished(process)
    assert said.code == 0, said.err
    assert said.document["results"][0]["status"] == "ok"
    assert not (folder / "a.txt").exists()


def test_a_run_that_waits_for_a_person_ends_with_three_and_is_resumed_after_the_answer(
    tmp_path: Path,
) -> None:
    folder, journal = workspace(tmp_path), tmp_path / "j.db"
    with Loopback(scripted("openai-chat", DELETING)) as server:
        common = (
            "--workspace",
            folder,
            "--model",
            "openai:m",
            "--journal",
            journal,
            "--wait",
            "0.2",
            "--json",
        )
        environment = variables("openai-chat", server.url)
        first = finished(child("run", "delete it", "--run-id", "r", *common, **environment))
        assert first.code == 3, first.err
        assert callgate("journal", "approve", _first_waiting(journal), "--journal", journal).code == 0
        second = finished(child("run", "--resume", "r", *common, **environment))
    assert second.code == 0, second.err
    assert second.document["text"] == "gone"
    assert not (folder / "a.txt").exists()


def _first_waiting(journal: Path) -> str:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if journal.exists():
            said = callgate("journal", "waiting", "--journal", journal, "--json")
            if said.code == 0 and said.document:
                return str(said.document[0]["key"])
        time.sleep(0.05)
    raise TimeoutError


def test_what_cannot_be_meant_is_told(tmp_path: Path) -> None:
    assert callgate("run").code == 2
    assert callgate("run", "x", "--workspace", tmp_path / "none").code == 2
    unknown = callgate(
        "run", "x", "--workspace", tmp_path, "--model", "nobody:m", "--journal", tmp_path / "j.db"
    )
    assert unknown.code == 4
    assert "Traceback" not in unknown.err
    words = ("--workspace", tmp_path, "--model", "openai:m", "--journal", tmp_path / "j.db")
    lost = finished(child("run", "--resume", "nowhere", *words, OPENAI_API_KEY="k"))
    assert lost.code == 4
    assert lost.err.splitlines() == ["UNKNOWN_RUN: the journal has no such run (run='nowhere')"]
    assert not (tmp_path / "j.db").exists()


def test_words_without_colour_where_there_is_no_terminal(tmp_path: Path) -> None:
    folder = workspace(tmp_path)
    script: Script = [[("c1", "read_file", {"path": "a.txt"})], "done"]
    with Loopback(scripted("openai-chat", script)) as server:
        words = ("run", "look", "--workspace", folder, "--model", "openai:m", "--journal", tmp_path / "j.db")
        said = finished(child(*words, **variables("openai-chat", server.url)))
    assert said.code == 0, said.err
    assert "\x1b" not in said.out
    assert "read_file" in said.out
    assert "answered" in said.out


@pytest.mark.parametrize(("typed", "is_there"), [("y", False), ("n", True)])
def test_a_person_is_asked_on_the_terminal_also_when_the_question_is_older(
    typed: str, is_there: bool, tmp_path: Path
) -> None:
    folder, journal = workspace(tmp_path), tmp_path / "j.db"
    with Loopback(scripted("openai-chat", DELETING)) as server:
        common = ("--workspace", folder, "--model", "openai:m", "--journal", journal)
        environment = variables("openai-chat", server.url)
        first = finished(child("run", "delete it", "--run-id", "r", *common, "--wait", "0.2", **environment))
        assert first.code == 3, first.err
        code, seen = at_a_terminal("run", "--resume", "r", *common, answer=typed, **environment)
    assert code == 0, seen
    assert "delete_file" in seen
    assert (folder / "a.txt").exists() == is_there


def test_a_terminal_that_cannot_be_heard_is_not_asked(tmp_path: Path) -> None:
    folder, journal = workspace(tmp_path), tmp_path / "j.db"
    with Loopback(scripted("openai-chat", DELETING)) as server:
        words = ("run", "delete it", "--workspace", folder, "--model", "openai:m", "--journal", journal)
        code, seen = at_a_terminal(*words, answer=None, **variables("openai-chat", server.url))
    assert code == 0, seen
    assert "NO_APPROVER" in seen
    assert "allow it?" not in seen
    assert (folder / "a.txt").exists()


def test_colour_that_was_forced_makes_no_terminal_of_a_pipe(tmp_path: Path) -> None:
    folder, journal = workspace(tmp_path), tmp_path / "j.db"
    with Loopback(scripted("openai-chat", DELETING)) as server:
        words = ("run", "delete it", "--workspace", folder, "--model", "openai:m", "--journal", journal)
        process = child(*words, FORCE_COLOR="1", **variables("openai-chat", server.url))
        said = finished(process, seconds=100)
    assert said.code == 0, said.err
    assert "NO_APPROVER" in said.out
    assert "\x1b[?25l" not in said.out  # no live table: nothing hides a cursor
    assert (folder / "a.txt").exists()


def test_ctrl_c_ends_with_130_and_the_record_says_so(tmp_path: Path) -> None:
    folder, journal = workspace(tmp_path), tmp_path / "j.db"
    with Loopback(scripted("openai-chat", DELETING)) as server:
        words = ("run", "delete it", "--workspace", folder, "--model", "openai:m", "--journal", journal)
        process = child(*words, "--wait", "60", "--run-id", "r", **variables("openai-chat", server.url))
        _first_waiting(journal)
        process.send_signal(signal.SIGINT)
        said = finished(process)
    assert said.code == 130
    assert "Traceback" not in said.err
    assert callgate("journal", "list", "--journal", journal, "--json").document[0]["ended"] == "cancelled"
    assert (folder / "a.txt").exists()
