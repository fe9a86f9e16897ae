import pickle
import re
from typing import Any, Final

import pytest

from callgate import errors
from callgate.errors import CallgateError, ToolError, TransportError

CLASSES: Final = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, CallgateError)
]

TREE: Final = re.findall(r"^    ([│├└─ ]*)(\w+)", errors.__doc__ or "", re.MULTILINE)


def said(error: CallgateError) -> dict[str, Any]:
    return {"kind": type(error), "text": str(error), "facts": error.facts, **vars(error)}


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_survives_a_pickle(kind: type[CallgateError]) -> None:
    error = kind("what happened", tool="read_file", where="/a", none=None)
    assert said(pickle.loads(pickle.dumps(error))) == said(error)


def test_a_tool_error_pickles_all_that_its_author_said() -> None:
    error = ToolError("busy", tool_code="RANGE", transient=True, retry_after=1.5, lines=40)
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.tool_code, again.transient, again.retry_after, again.facts) == (
        "busy",
        "RANGE",
        True,
        1.5,
        {"lines": 40},
    )


def test_each_class_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in CLASSES]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[A-Z_]+", code) for code in codes)


def test_the_tree_in_the_docstring_is_the_tree_of_classes() -> None:
    drawn, above = {}, [""]
    for branch, name in TREE:
        depth = len(branch) // 4
        above[depth:] = [name]
        drawn[name] = above[depth - 1] if depth else "Exception"
    assert drawn == {kind.__name__: kind.__bases__[0].__name__ for kind in CLASSES}


def test_the_text_tells_the_facts_that_are_known() -> None:
    error = CallgateError("no such run", run="a\nb", holder=None)
    assert str(error) == r"no such run (run='a\nb')"
    assert str(CallgateError("closed")) == "closed"


def test_a_transport_error_is_not_to_be_retried_unless_it_says_so() -> None:
    assert TransportError("refused").retryable is False
    assert TransportError("refused").retry_after is None
    asked = TransportError("busy", retryable=True, retry_after=2.0)
    assert (asked.retryable, asked.retry_after) == (True, 2.0)
