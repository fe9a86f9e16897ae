"""read_file, list_files, search_text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.calls import FrozenDict, Range
from callgate.tools import Context, Hooks, gather
from callgate.workspace import _reading as reading
from callgate.workspace import version_of
from tests.workspace.desk import Answer, Desk
from tests.workspace.plots import SMALL, build

FIVE = "one\ntwo\nthree\nfour\nfive\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "five.txt").write_text(FIVE)
    return Desk.at(tmp_path)


def read(desk: Desk, path: str = "five.txt", **lines: Any) -> Answer:
    return desk.call("read_file", path=path, **lines)


# ---------------------------------------------------------------- read_file


def test_lines_are_counted_from_one_and_the_last_is_included(desk: Desk) -> None:
    assert read(desk, start_line=2, end_line=3).content == "two\nthree\n"
    assert read(desk, start_line=1, end_line=1).content == "one\n"
    assert read(desk, start_line=4).content == "four\nfive\n"
    assert read(desk).content == FIVE


def test_what_was_read_comes_with_its_resource_and_version(desk: Desk) -> None:
    result = read(desk, "./five.txt").result
    assert (result.resource, result.version) == ("file:/five.txt", version_of(FIVE.encode()))
    assert result.next_range is None
    assert not result.trusted


def test_an_end_beyond_the_file_gives_what_there_is(desk: Desk) -> None:
    answer = read(desk, start_line=5, end_line=99)
    assert (answer.content, answer.result.next_range) == ("five\n", None)


@pytest.mark.parametrize("start", [6, 1000])
def test_a_start_beyond_the_file_is_a_range_that_names_its_size(desk: Desk, start: int) -> None:
    answer = read(desk, start_line=start)
    assert answer.code == "RANGE"
    assert answer.facts == {"path": "five.txt", "lines": 5}


def test_an_empty_file_has_no_lines_and_can_be_read(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert read(desk, "empty").content == ""
    assert read(desk, "empty", start_line=2).code == "RANGE"


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ({"start_line": 0}, "OUT_OF_RANGE"),
        ({"start_line": -1}, "OUT_OF_RANGE"),
        ({"end_line": 0}, "OUT_OF_RANGE"),
        ({"start_line": 3, "end_line": 2}, "RULE_BROKEN"),
    ],
)
def test_lines_that_cannot_be_meant_are_refused_before_anything_is_read(
    desk: Desk, lines: dict[str, Any], code: str
) -> None:
    answer = read(desk, **lines)
    assert (answer.code, answer.refused) == (code, True)


@given(lengths=st.lists(st.integers(0, 9_000), min_size=1, max_size=12), start=st.integers(1, 12))
def test_following_next_range_gives_the_file_whole_and_in_bounded_pieces(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], start: int
) -> None:
    top = tmp_path_factory.mktemp("ws")
    lines = ["x" * length + "\n" for length in lengths]
    (top / "f").write_text("".join(lines))
    desk, start = Desk.at(top), min(start, len(lines))
    pieces: list[str] = []
    following: Range | None = Range(start, len(lines), "lines")
    while following is not None:
        answer = read(desk, "f", start_line=following.start, end_line=following.end)
        pieces.append(answer.content)
        following = answer.result.next_range
        assert following is None or (following.unit, following.total) == ("lines", len(lines))
    assert "".join(pieces) == "".join(lines[start - 1 :])
    assert all(len(piece) <= reading.PAGE for piece in pieces)


def test_a_line_longer_than_a_page_comes_whole_for_the_gate_to_cut(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "long").write_text("x" * 50_000 + "\nnext\n")
    answer = read(desk, "long")
    assert len(answer.content) == 50_001
    assert answer.result.next_range == Range(2, 2, "lines", 2)


def test_a_byte_order_mark_is_not_shown(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "bom").write_bytes(b"\xef\xbb\xbfa\r\n")
    assert read(desk, "bom").content == "a\r\n"


@pytest.mark.parametrize(
    ("path", "code"),
    [("bin", "NOT_TEXT"), ("latin", "NOT_TEXT"), ("missing", "NOT_FOUND"), (".", "WRONG_KIND")],
)
def test_what_cannot_be_read_is_told_apart(desk: Desk, tmp_path: Path, path: str, code: str) -> None:
    (tmp_path / "bin").write_bytes(b"\0\1")
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    answer = read(desk, path)
    assert (answer.code, answer.refused) == (code, False)
    assert path in str(answer.facts)


# ---------------------------------------------------------------- list_files


def test_a_folder_is_listed_with_paths_that_can_be_used_as_they_are(tmp_path: Path) -> None:
    build(tmp_path, SMALL)
    desk = Desk.at(tmp_path / "ws")
    listed = desk.call("list_files", path="src").content
    assert listed == {"entries": ["src/deep/", "src/main.py", "src/up", "src/up2"], "truncated": False}
    assert "资料/说明.md" in desk.call("list_files", recursive=True).content["entries"]
    assert desk.call("list_files", pattern="*.md", recursive=True).content["entries"] == ["资料/说明.md"]
    assert desk.call("list_files", path="资料").content["entries"] == ["资料/说明.md"]


def test_no_path_means_the_root(desk: Desk) -> None:
    answer = desk.call("list_files")
    assert answer.content["entries"] == ["five.txt"]
    assert answer.result.resource == "file:/"


def test_a_long_listing_is_cut_and_says_so(desk: Desk, tmp_path: Path) -> None:
    for number in range(reading.NAMES + 5):
        (tmp_path / f"n{number}").touch()
    listed = desk.call("list_files", pattern="n*").content
    assert (len(listed["entries"]), listed["truncated"]) == (reading.NAMES, True)
    for number in range(100):
        (tmp_path / f"{'long' * 60}{number}").touch()
    listed = desk.call("list_files", pattern="long*").content
    assert listed["truncated"]
    assert sum(map(len, listed["entries"])) <= reading.PAGE


# ---------------------------------------------------------------- search_text


@pytest.fixture
def library(tmp_path: Path) -> Desk:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/one.py").write_text("x = 1\ny = X\n")
    (tmp_path / "a/two.txt").write_bytes(b"\xef\xbb\xbfx at the start\r\nSTRASSE stra\xc3\x9fe\r\n")
    (tmp_path / "b.txt").write_text("nothing\nx\n")
    (tmp_path / "binary").write_bytes(b"x\0x")
    (tmp_path / "link").symlink_to("b.txt")
    return Desk.at(tmp_path)


def test_matches_name_file_line_and_text(library: Desk) -> None:
    assert library.call("search_text", query="x").content == {
        "matches": ["a/one.py:1: x = 1", "a/two.txt:1: x at the start", "b.txt:2: x"],
        "files_searched": 3,
        "truncated": False,
        "files_skipped": 2,
    }


@pytest.mark.parametrize(
    ("arguments", "matches"),
    [
        ({"query": "x", "path": "a"}, ["a/one.py:1: x = 1", "a/two.txt:1: x at the start"]),
        ({"query": "x", "path": "b.txt"}, ["b.txt:2: x"]),
        ({"query": "x", "path": "link"}, ["b.txt:2: x"]),
        ({"query": "x", "pattern": "*.py"}, ["a/one.py:1: x = 1"]),
        ({"query": "X", "pattern": "*.py"}, ["a/one.py:2: y = X"]),
        ({"query": "X", "pattern": "*.py", "ignore_case": True}, ["a/one.py:1: x = 1", "a/one.py:2: y = X"]),
        ({"query": "Straße", "ignore_case": True}, ["a/two.txt:2: STRASSE straße"]),
        ({"query": "x.*"}, []),
        ({"query": "start\r"}, ["a/two.txt:1: x at the start"]),
    ],
)
def test_a_search_can_be_narrowed(library: Desk, arguments: dict[str, Any], matches: list[str]) -> None:
    assert library.call("search_text", **arguments).content["matches"] == matches


def test_a_query_over_lines_is_refused(library: Desk) -> None:
    assert library.call("search_text", query="a\nb").code == "RULE_BROKEN"
    assert library.call("search_text", query="").code == "WRONG_SIZE"
    assert library.call("search_text", query="x", path="missing").code == "NOT_FOUND"


def test_many_matches_are_cut_and_long_lines_shortened(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "many").write_text("needle\n" * 1000)
    (tmp_path / "wide").write_text("straw " * 10_000 + "needle" + " straw" * 10_000)
    found = desk.call("search_text", query="needle", path="many").content
    assert (len(found["matches"]), found["truncated"]) == (reading.MATCHES, True)
    found = desk.call("search_text", query="needle", path="wide").content
    assert len(found["matches"][0]) == len("wide:1: …") + reading.LINE + len("…")
    assert "straw needle straw" in found["matches"][0]


def test_a_search_reads_a_bounded_number_of_bytes(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        (tmp_path / name).write_bytes(b"needle" + b" " * 94)
    monkeypatch.setattr(reading, "SEARCHED_BYTES", 250)
    found = desk.call("search_text", query="needle", pattern="[abc]").content
    assert (len(found["matches"]), found["files_searched"], found["truncated"]) == (2, 2, True)


def test_a_cancelled_search_stops(library: Desk) -> None:
    tool = library.tools.get("search_text")
    assert tool is not None
    context = Context(files=library.workspace, hooks=Hooks(cancelled=lambda: True))
    arguments = FrozenDict({"query": "x"})
    bound = tool.bind(arguments, context, gather(tool, arguments, library.workspace))
    assert tool.function(*bound.args, **bound.kwargs).content["matches"] == []
