"""The demo, run whole, as a stranger runs it: without a terminal."""

import pytest

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
    codes = {result["code"] for shown in document["requests"] for result in shown["results"]}
    assert "OUTSIDE_WORKSPACE" in codes
    assert document["approval"] == "approved by --yes"
    assert [result["status"] for result in document["requests"][-1]["results"]] == ["ok"]
    assert document["crash"]["ok"]
    assert document["crash"]["booked"] == ["10", "20"]
