"""``callgate journal`` reads, checks and answers; the chain has one writer all the same."""

import sqlite3
from pathlib import Path

import anyio
import pytest

import callgate as cg
from tests.cli.talking import callgate
from tests.gate.turns import call, turn


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A journal of a run in which a file was deleted, a tool broke, and one call waits."""
    (tmp_path / "ws").mkdir()
    for name in ("old.txt", "kept.txt"):
        (tmp_path / "ws" / name).write_text("né\n", encoding="utf-8")
    path = tmp_path / "j.db"
    anyio.run(_make, tmp_path / "ws", path)
    return path


async def _make(workspace: Path, path: Path) -> None:
    tools = cg.workspace_tools()

    @tools.tool(effect=cg.Effect.READ)
    def look() -> None:
        """Look."""
        message = "the password is hunter2"
        raise RuntimeError(message)

    async with cg.open_gate(tools, workspace, f"sqlite:{path}") as gate:
        await gate.handle(turn(call("delete_file", path="old.txt")), "r")
        (waiting,) = await gate.pending("r")
        await gate.decide(waiting.key, approved=True, by="ann")
        await gate.handle(turn(call("look")), "r")
        await gate.handle(turn(call("delete_file", path="kept.txt")), "r")


def test_runs_are_listed_and_shown(journal: Path) -> None:
    (run,) = callgate("journal", "list", "--journal", journal, "--json").document
    assert run["run"] == "r"
    shown = callgate("journal", "show", "r", "--journal", journal)
    assert "RunStarted" in shown.out
    assert "Decided" in shown.out
    entries = callgate("journal", "show", "r", "--journal", journal, "--json").document
    assert [entry["sequence"] for entry in entries] == list(range(len(entries)))


def test_the_details_of_a_failure_stand_under_its_evidence(journal: Path) -> None:
    entries = callgate("journal", "show", "r", "--journal", journal, "--json").document
    evidence = next(entry["evidence"] for entry in entries if entry["type"] == "Raised")
    shown = callgate("journal", "show", "r", "--evidence", evidence, "--journal", journal)
    assert "hunter2" in shown.out
    assert callgate("journal", "show", "r", "--evidence", "nothing", "--journal", journal).code == 2


def test_a_waiting_call_is_shown_whole_and_answered_once(journal: Path) -> None:
    (waiting,) = callgate("journal", "waiting", "--journal", journal, "--json").document
    assert waiting["call"]["arguments"] == {"path": "kept.txt"}
    assert callgate("journal", "deny", waiting["key"], "--by", "ann", "--journal", journal).code == 0
    again = callgate("journal", "approve", waiting["key"], "--journal", journal)
    assert again.code == 1
    assert callgate("journal", "approve", "nonsense", "--journal", journal).code == 4


def test_the_chain_is_whole_until_somebody_edits_it(journal: Path) -> None:
    assert callgate("journal", "verify", "--journal", journal).code == 0
    with sqlite3.connect(journal) as database:
        lines = database.execute("select rowid, line from entries").fetchall()
        ((row, line),) = [(row, line) for row, line in lines if b'"ann"' in line]
        database.execute("update entries set line = ? where rowid = ?", (line.replace(b"ann", b"eve"), row))
    database.close()
    said = callgate("journal", "verify", "--journal", journal, "--json")
    assert said.code == 1
    assert said.document[0]["run"] == "r"


def test_a_deleted_file_is_put_back(journal: Path) -> None:
    workspace = journal.parent / "ws"
    assert not (workspace / "old.txt").exists()
    words = ("--workspace", workspace, "--journal", journal)
    said = callgate("journal", "restore", "r/0.0.0", *words, "--json")
    assert said.document == {"key": "r/0.0.0", "path": "old.txt"}
    assert (workspace / "old.txt").read_text(encoding="utf-8") == "né\n"
    assert callgate("journal", "restore", "r/1.0.0", *words).code == 1


def test_a_journal_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    said = callgate("journal", "list", "--journal", tmp_path / "none.db")
    assert said.code == 2
    assert not (tmp_path / "none.db").exists()
