"""A tool's own checks: their answers and their faults."""

from typing import Any

import pytest

from callgate.calls import Finding
from callgate.errors import ToolDeclarationError
from callgate.tools._rules import make_rules

LATER = Finding("RULE_BROKEN", "/end", "an end after the start")


def ask(check: Any, **typed: Any) -> tuple[Finding, ...]:
    return tuple(f for rule in make_rules(check, typed, "tool") for f in rule.findings(typed, {"raw": 1}))


@pytest.mark.parametrize("answer", [None, True, "", [], [None, True]])
def test_these_answers_pass(answer: Any) -> None:
    assert ask(lambda a: answer, a=1) == ()


@pytest.mark.parametrize(
    ("answer", "findings"),
    [
        (False, (Finding("RULE_BROKEN", expected="arguments that keep the tool's own rule"),)),
        ("at most 3", (Finding("RULE_BROKEN", expected="at most 3"),)),
        (LATER, (LATER,)),
        ([LATER, "more"], (LATER, Finding("RULE_BROKEN", expected="more"))),
        (Finding("FORBIDDEN", "/a", "x"), (Finding("RULE_BROKEN", "/a", "x"),)),
        (Finding("NO_SUCH_CODE", "/a"), (Finding("RULE_BROKEN", "/a"),)),
    ],
)
def test_these_answers_refuse(answer: Any, findings: tuple[Finding, ...]) -> None:
    assert ask(lambda a: answer, a=1) == findings


def test_a_check_that_breaks_refuses_and_tells_nothing() -> None:
    def broken(a: int) -> None:
        raise RuntimeError("postgres://u:hunter2@db")

    (finding,) = ask(broken, a=1)
    assert finding.code == "CHECK_FAILED"
    assert "hunter2" not in repr(finding)
    assert ask(lambda a: object(), a=1)[0].code == "CHECK_FAILED"


def test_a_check_takes_what_it_names_or_everything() -> None:
    seen: list[Any] = []
    ask(lambda b: seen.extend([b]), a=1, b=2)
    ask(lambda arguments: seen.extend([arguments]), a=1)
    ask([lambda a: seen.extend([a]), lambda a, b: seen.append(a + b)], a=1, b=2)
    ask(lambda a, unknown=5: seen.append((a, unknown)), a=1)
    assert seen == [2, {"raw": 1}, 1, 3, (1, 5)]


def test_a_check_that_cannot_work_is_refused_at_once() -> None:
    async def later(a: int) -> None: ...

    for check, mend in (
        (later, "refuse"),
        (lambda abcd: None, "did you mean 'abc'?"),
        ("no function", "refuse"),
    ):
        with pytest.raises(ToolDeclarationError) as refused:
            make_rules(check, ["abc"], "tool")
        assert mend in refused.value.facts["mend"]
