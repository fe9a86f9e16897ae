import re
from collections import Counter
from typing import Final

from callgate.calls import CODES, Layer, Mender
from callgate.calls._codes import _TABLE
from tests.corpus import ROOT


def test_no_code_stands_twice() -> None:
    assert list(CODES) == [row.name for row in _TABLE]
    assert len(CODES) == len(_TABLE)


def test_no_two_codes_give_the_same_advice() -> None:
    plain = Counter(re.sub(r"\W+", " ", row.advice).lower().strip() for row in CODES.values())
    assert [advice for advice, count in plain.items() if count > 1] == []


def test_every_code_of_every_layer_has_advice_in_whole_sentences() -> None:
    assert {row.layer for row in CODES.values()} == set(Layer)
    for row in CODES.values():
        assert re.fullmatch(r"[A-Z].{15,}\.", row.advice), row.name
        assert row.mender in Mender
        assert re.fullmatch(r"[A-Z]+(_[A-Z]+)*", row.name)


def test_advice_is_short() -> None:
    """It is sent to the model with each refusal."""
    assert [row.name for row in CODES.values() if len(row.advice) > 90] == []


def test_rows_of_a_layer_stand_together_in_the_order_of_the_layers() -> None:
    order = list(Layer)
    places = [order.index(row.layer) for row in _TABLE]
    assert places == sorted(places)


# Where the source names a code: a finding, a tool's refusal, a failed call, a turn that may not be executed.
NAMED: Final = re.compile(r'(?:\bFinding\(\s*|\bRaised\([^"\n]*|\btool_code=|\bwhy_not=)"(\w+)"')


def test_every_code_that_the_package_names_has_its_row() -> None:
    named = {
        (path.name, code)
        for path in (ROOT / "src").rglob("*.py")
        for code in NAMED.findall(path.read_text(encoding="utf-8"))
    }
    assert len(named) > 10
    assert {(file, code) for file, code in named if code not in CODES} == set()
