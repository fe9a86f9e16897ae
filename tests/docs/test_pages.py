"""README, CONTRIBUTING and docs/: their Python examples run, and their links lead somewhere."""

import re
from pathlib import Path
from typing import Any, Final

import pytest

from tests.corpus import ROOT

PAGES: Final = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

BLOCK: Final = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK: Final = re.compile(r"\]\(([^)\s]+)\)")


def python_of(page: str) -> str:
    """Return the page's Python blocks as one program, blank elsewhere so that line numbers are the page's."""
    lines = [""] * page.count("\n")
    for match in BLOCK.finditer(page):
        start = page.count("\n", 0, match.start(1))
        code = match[1].splitlines()
        lines[start : start + len(code)] = code
    return "\n".join(lines)


def test_a_program_keeps_the_line_numbers_of_its_page() -> None:
    page = "# Title\n\n```python\nx = 1\n```\n\ntext\n\n```console\n$ y\n```\n\n```python\nz = 2\n```\n"
    program = python_of(page).split("\n")
    assert {line: number for number, line in enumerate(program) if line} == {"x = 1": 3, "z = 2": 13}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = python_of(page.read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(program, str(page), "exec", dont_inherit=True), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_links_of_a_page_lead_to_files_that_are_there(page: Path) -> None:
    links = [link.partition("#")[0] for link in LINK.findall(page.read_text(encoding="utf-8"))]
    local = [link for link in links if link and "://" not in link and not link.startswith("mailto:")]
    assert [link for link in local if not (page.parent / link).exists()] == []
