"""The pages that come from tables in the code are the ones the code would write."""

import runpy
from collections.abc import Callable
from typing import Any, Final

import pytest

from callgate.calls import CODES, TRANSITIONS, Entry, State
from callgate.cli import EXITS
from tests.corpus import ROOT

REFERENCE: Final = ROOT / "docs" / "reference"

GENERATOR: Final[dict[str, Any]] = runpy.run_path(str(ROOT / "docs" / "generate.py"))

page: Final[Callable[[str], str]] = GENERATOR["page"]


@pytest.mark.parametrize("name", GENERATOR["PAGES"])
def test_a_generated_page_is_fresh(name: str) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == page(name), "stale: run `make docs`"


def test_the_page_of_codes_has_every_code_and_its_advice() -> None:
    text = page("codes.md")
    assert [code.name for code in CODES.values() if f"| `{code.name}` | " not in text] == []
    assert [code.name for code in CODES.values() if code.advice not in text] == []


def test_the_diagram_has_every_state_and_every_step() -> None:
    diagram = page("lifecycle.md").split("```")[1]
    arrows = [line.strip() for line in diagram.splitlines() if "-->" in line]
    steps = {
        (before, event, after)
        for line in arrows
        if ": " in line
        for before, _, after in [line.partition(": ")[0].split()]
        for event in line.partition(": ")[2].split(", ")
    }
    assert steps == {(before, event, after) for (before, event), after in TRANSITIONS.items()}
    assert set(State) <= {word for line in arrows for word in line.partition(": ")[0].split()}


def test_the_page_of_the_command_line_has_every_command_and_every_exit_code() -> None:
    text = page("cli.md")
    for command in ("demo", "run", "decode", "lint", "model get", "journal verify", "journal approve"):
        assert f"## callgate {command}\n" in text
    assert [code for code, why in EXITS.items() if f"| {code:d} | {why} |" not in text] == []


def test_the_page_of_entries_has_every_entry_and_every_field() -> None:
    text = page("entries.md")
    for kind in Entry.__args__:
        section = text.partition(f"\n## {kind.__name__}\n")[2].partition("\n## ")[0]
        assert [name for name in kind.__struct_fields__ if f"| `{name}` |" not in section] == []
