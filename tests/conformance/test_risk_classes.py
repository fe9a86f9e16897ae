"""How often the risk classes of the parameters of published tools are right, with a baseline.

Every parameter that is caught was read, and every one that is not though its name or description speaks of a
path, an address or a command. The baseline names those that are judged wrongly: caught though nobody follows
the text anywhere (a filter, the name of an upload, a pointer into JSON), or missed. It may only improve: what
is judged rightly must be taken out of it. docs/explanation/risk_classes.md tells the figures.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from callgate.tools import classify
from tests.corpus import needs_corpus
from tests.schemas import published

BASELINE: Final[dict[str, list[str]]] = json.loads(
    Path(__file__).with_name("risk_classes.json").read_text(encoding="utf-8")
)
CAUGHT: Final = frozenset({"path", "command", "url"})
TEXT: Final = frozenset({"free_text", "structured"})

NAMES: Final = re.compile(
    "path|url|uri|command|cmd|shell|(?<!de)script|dir$|file|link|href|host|endpoint", re.IGNORECASE
)
WORDS: Final = re.compile(
    r"\b(paths?|urls?|uris?|https?|commands?|shell|scripts?|directory|directories|file ?paths?)\b",
    re.IGNORECASE,
)


class Judged(NamedTuple):
    """A parameter: its tool, with the server's name before it, its place in the schema, its class."""

    tool: str
    where: str
    kind: str
    is_telling: bool

    @property
    def key(self) -> str:
        return self.tool + self.where


@cache
def parameters() -> tuple[Judged, ...]:
    """Every parameter of every published tool."""
    return tuple(
        Judged(
            name, one.where, one.kind, bool(NAMES.search(_last(one.name)) or WORDS.search(one.description))
        )
        for name, tool in published()
        for one in classify(tool["inputSchema"])
    )


def _last(name: str) -> str:
    return name.rpartition(".")[2]


@needs_corpus
def test_what_is_published_and_how_much_of_it_is_caught() -> None:
    every = parameters()
    kinds = [one.kind for one in every]
    assert (len(published()), len({name.split(":")[0] for name, _ in published()})) == (1857, 62)
    assert sum(one.where.count("/") == 1 for one in every) == 8171
    assert len(every) == 8171 + 109
    assert [kinds.count(kind) for kind in ("path", "url", "command")] == [337, 146, 19]
    assert len({one.tool for one in every if one.kind in CAUGHT}) == 393


@needs_corpus
def test_46_of_the_502_that_are_caught_are_followed_by_nobody() -> None:
    caught = [one.key for one in parameters() if one.kind in CAUGHT]
    assert len(caught) == 502
    assert sum(key in set(BASELINE["false"]) for key in caught) == len(BASELINE["false"]) == 46


@needs_corpus
def test_20_are_missed_among_those_that_speak_of_paths_addresses_or_commands() -> None:
    left = [one.key for one in parameters() if one.kind in TEXT and one.is_telling]
    assert len(left) == 524
    assert sum(key in set(BASELINE["missed"]) for key in left) == len(BASELINE["missed"]) == 20
