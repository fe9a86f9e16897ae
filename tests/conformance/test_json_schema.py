"""The JSON-Schema-Test-Suite, with a baseline that may only improve.

The baseline names every test that we answer otherwise than the suite; a test that begins to agree must be
taken out of it. Where the suite takes ``format`` for a comment, we assert it on purpose.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from callgate.errors import UnsupportedSchemaError
from callgate.schema import Validator
from tests.corpus import CORPUS, needs_corpus

SUITE: Final = CORPUS / "json_schema_test_suite"
BASELINE: Final = Path(__file__).with_name("json_schema.json")
DRAFTS: Final = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
}
HOST: Final = "http://localhost:1234/"


def remotes(draft: str) -> dict[str, Any]:
    """What the suite serves at localhost, by address: handed over, never fetched."""
    folder = SUITE / "remotes"
    names = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.json")))
    own = (name for name in names if not name.startswith("draft") or name.startswith(f"{draft}/"))
    return {HOST + name: json.loads((folder / name).read_text()) for name in own}


def disagreements(draft: str, files: str) -> Iterator[str]:
    """Names of the tests that we answer otherwise."""
    resources = remotes(draft)
    for path in sorted((SUITE / "tests" / draft).glob(files)):
        for group in json.loads(path.read_text()):
            schema = group["schema"]
            if isinstance(schema, dict):
                schema = {"$schema": DRAFTS[draft], **schema}
            try:
                validator = Validator(schema, resources)
            except UnsupportedSchemaError:
                yield f"{path.name}: {group['description']}: cannot be compiled"
                continue
            for test in group["tests"]:
                findings = validator.findings(test["data"])
                if validator.is_valid(test["data"]) != test["valid"] or bool(findings) == test["valid"]:
                    yield f"{path.name}: {group['description']}: {test['description']}"


@needs_corpus
@pytest.mark.parametrize("files", ["*.json", "optional/format/*.json"])
@pytest.mark.parametrize("draft", DRAFTS)
def test_we_disagree_with_the_suite_only_where_the_baseline_says(draft: str, files: str) -> None:
    known = json.loads(BASELINE.read_text())[f"{draft}/{files}"]
    assert sorted(disagreements(draft, files)) == known


@needs_corpus
def test_the_only_required_tests_in_the_baseline_take_formats_for_comments() -> None:
    known = json.loads(BASELINE.read_text())
    assert known["draft7/*.json"] == []
    assert all(name.endswith("is only an annotation by default") for name in known["draft2020-12/*.json"])


# docs/explanation/dependencies.md says these.
@needs_corpus
@pytest.mark.parametrize(
    ("draft", "agreed", "required"), [("draft2020-12", 1280, 1299), ("draft7", 927, 927)]
)
def test_so_many_of_the_required_tests_are_answered_as_the_suite_does(
    draft: str, agreed: int, required: int
) -> None:
    files = (json.loads(path.read_text()) for path in (SUITE / "tests" / draft).glob("*.json"))
    assert sum(len(group["tests"]) for groups in files for group in groups) == required
    assert required - len(json.loads(BASELINE.read_text())[f"{draft}/*.json"]) == agreed
