"""Every value of an example stands in its request: a small model copies what it is shown."""

import re

from callgate.workspace import workspace_tools
from callgate.workspace._examples import EXAMPLES


def test_every_tool_has_its_examples() -> None:
    assert {tool.name for tool in workspace_tools()} == set(EXAMPLES)
    assert all(len(shown) >= 3 for shown in EXAMPLES.values())


def test_what_an_example_answers_stands_in_its_request() -> None:
    for shown in EXAMPLES.values():
        for request, arguments in shown:
            for value in arguments.values():
                # "The first 5 lines" begin at 1, which nobody says.
                assert str(value) in request or (value == 1 and re.search(r"\bfirst\b", request)), request
