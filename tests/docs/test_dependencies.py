"""What docs/explanation/dependencies.md says of who knows a library is what the code imports."""

import ast
import re
import tomllib
from collections import defaultdict
from functools import cache
from typing import Final, NamedTuple

import pytest

from tests.corpus import ROOT

SRC: Final = ROOT / "src" / "callgate"

MODULES: Final = {
    "jsonschema-rs": ("jsonschema_rs",),
    "llama-cpp-python": ("llama_cpp",),
    "opentelemetry-api": ("opentelemetry",),
    "pydantic 2": ("pydantic", "pydantic_core"),
    "psycopg 3": ("psycopg",),
    "starlette, uvicorn, jinja2": ("starlette", "uvicorn", "jinja2"),
    "typing-extensions": ("typing_extensions",),
}
"""A library as the page names it → what is imported, where the two differ."""


class Row(NamedTuple):
    """A line of a table: the library, who knows it, and whether alone."""

    library: str
    rooms: frozenset[str]
    alone: bool
    said: str

    @property
    def modules(self) -> tuple[str, ...]:
        return MODULES.get(self.library, (self.library,))


def rows() -> list[Row]:
    """Every line of the tables: the library is named in the first column, of extras in the second."""
    page = (ROOT / "docs/explanation/dependencies.md").read_text(encoding="utf-8")
    found = []
    for line in re.findall(r"^\| (?!library|extra)(.+) \|$", page, re.MULTILINE):
        cells = line.split(" | ")
        library, said = cells[1] if cells[0].startswith("`") else cells[0], cells[-1]
        found.append(Row(library, frozenset(re.findall(r"`(.+?)`", said)), said.endswith(" alone"), said))
    return found


@cache
def importers() -> dict[str, frozenset[str]]:
    """Module from elsewhere → the rooms that import it; a folder with a door of its own counts for itself."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in SRC.rglob("*.py"):
        folder = path.parent.relative_to(SRC).as_posix()
        room = folder if folder == "models/local" else folder.split("/")[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            else:
                continue
            for name in names:
                found[name.split(".")[0]].add(room)
    return {module: frozenset(rooms) for module, rooms in found.items()}


ROWS: Final = rows()


def test_every_library_of_the_project_has_its_line() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    wanted = [
        *project["dependencies"],
        *(one for name in extras if name not in {"dev", "bench"} for one in extras[name]),
    ]
    names = {re.split(r"[\[<>=]", line)[0] for line in wanted}
    assert {name.split(" ")[0] for row in ROWS for name in row.library.split(", ")} == names


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.library)
def test_a_library_is_known_to_the_rooms_that_are_named(row: Row) -> None:
    known = frozenset(room for module in row.modules for room in importers().get(module, ()))
    assert known == row.rooms
    assert bool(known) == (row.said != "not used yet")


@pytest.mark.parametrize("row", [row for row in ROWS if row.alone], ids=lambda row: row.library)
def test_a_room_that_knows_a_library_alone_is_kept_so_by_a_contract(row: Row) -> None:
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    kept = {
        tuple(contract["protected_modules"]): contract["allowed_importers"]
        for contract in linter["contracts"]
        if contract["type"] == "protected"
    }
    assert kept[row.modules] == [f"callgate.{room.replace('/', '.')}" for room in row.rooms]
