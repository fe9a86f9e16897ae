"""The demo, run whole, as a stranger runs it: without a terminal."""

import json
from pathlib import Path

import pytest

import callgate as cg
from callgate.cli._demo import RUN, Show, _act
from callgate.cli._recorded import recorded
from callgate.cli._scenes import SCENES, build
from callgate.cli._screen import print_json
from callgate.errors import ModelError
from callgate.models import find_model
from tests.cli.talking import child, finished


def test_the_demo_does_what_it_says() -> None:
    try:
        find_model()
    except ModelError:
        pytest.skip("the embedded model's weights are not installed")
    said = finished(child("demo", "--yes", "--json"), seconds=280)
    assert said.code == 0, said.err
    document = said.document
    assert len(document["requests"]) == 6
    assert document["right"] >= 4
    # Where the model did not propose what must be shown, a recorded turn was fed.
    ends = [(shown["recorded"] or shown)["results"] for shown in document["requests"]]
    assert "OUTSIDE_WORKSPACE" in {result["code"] for results in ends for result in results}
    assert document["approval"] == "approved by --yes"
    assert [result["status"] for result in ends[-1]] == ["ok"]
    assert all(shown["said"] and shown["seconds"] > 0 for shown in document["requests"])
    assert document["crash"]["ok"]
    assert document["crash"]["booked"] == ["10", "20"]


@pytest.mark.anyio
async def test_what_the_model_said_is_told_also_where_a_recorded_turn_is_fed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bodies = recorded("list_files", path="src"), recorded("write_file", path="../outside.txt", content="x")
    tools, show = cg.workspace_tools(), Show(tmp_path, yes=True, quiet=True)
    show.definitions = tools.definitions()
    async with cg.open_gate(tools, build(tmp_path)) as gate:
        await gate.begin(RUN)
        for number, body in enumerate(bodies):
            file = tmp_path / f"{number}.sse"
            file.write_bytes(body)
            await _act(show, gate, cg.connect(f"replay:{file}"), SCENES[3])
    print_json(show.done)
    strayed, right = json.loads(capsys.readouterr().out)
    assert strayed["said"].startswith("list_files")
    assert [result["name"] for result in strayed["results"]] == ["list_files"]
    assert not strayed["right"]
    assert strayed["recorded"]["said"].startswith("write_file")
    assert [result["code"] for result in strayed["recorded"]["results"]] == ["OUTSIDE_WORKSPACE"]
    assert right["said"].startswith("write_file")
    assert right["right"]
    assert right["recorded"] is None
