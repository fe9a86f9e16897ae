import copy
import json
import pickle
from collections.abc import Callable
from typing import Any, Final

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given
from pydantic import TypeAdapter

from callgate.calls import FrozenDict, FrozenList, freeze, thaw
from tests.strategies import json_values, typed

SAMPLE: Final = {"a": [1, {"b": None}], "c": "资料"}

DICT_MUTATORS: Final[dict[str, Callable[[Any], object]]] = {
    "setitem": lambda d: d.__setitem__("a", 2),
    "delitem": lambda d: d.__delitem__("a"),
    "ior": lambda d: d.__ior__({"b": 1}),
    "clear": lambda d: d.clear(),
    "pop": lambda d: d.pop("a"),
    "popitem": lambda d: d.popitem(),
    "setdefault": lambda d: d.setdefault("b", 1),
    "update": lambda d: d.update(b=1),
}

LIST_MUTATORS: Final[dict[str, Callable[[Any], object]]] = {
    "setitem": lambda x: x.__setitem__(0, 2),
    "setslice": lambda x: x.__setitem__(slice(0, 1), []),
    "delitem": lambda x: x.__delitem__(0),
    "iadd": lambda x: x.__iadd__([1]),
    "imul": lambda x: x.__imul__(2),
    "append": lambda x: x.append(1),
    "clear": lambda x: x.clear(),
    "extend": lambda x: x.extend([1]),
    "insert": lambda x: x.insert(0, 1),
    "pop": lambda x: x.pop(),
    "remove": lambda x: x.remove(1),
    "reverse": lambda x: x.reverse(),
    "sort": lambda x: x.sort(),
}


@pytest.mark.parametrize("mutator", DICT_MUTATORS)
def test_no_method_changes_a_frozen_object(mutator: str) -> None:
    frozen = freeze({"a": 1})
    with pytest.raises(TypeError, match="thaw"):
        DICT_MUTATORS[mutator](frozen)
    assert frozen == {"a": 1}


@pytest.mark.parametrize("mutator", LIST_MUTATORS)
def test_no_method_changes_a_frozen_array(mutator: str) -> None:
    frozen = freeze([1])
    with pytest.raises(TypeError, match="thaw"):
        LIST_MUTATORS[mutator](frozen)
    assert frozen == [1]


@pytest.mark.parametrize(("plain", "frozen"), [(dict, FrozenDict), (list, FrozenList)])
def test_no_mutator_of_the_plain_type_was_forgotten(plain: type, frozen: type) -> None:
    """What a frozen type inherits neither changes the value nor hands out the way to."""
    reading = {"copy", "count", "fromkeys", "get", "index", "items", "keys", "values"}
    inherited = {name for name in vars(plain) if name not in vars(frozen) and not name.startswith("__")}
    in_place = {
        name for name in vars(plain) if name.startswith("__i") and name not in {"__init__", "__iter__"}
    }
    assert inherited <= reading
    assert in_place <= vars(frozen).keys()


@given(json_values)
def test_frozen_values_are_equal_to_what_they_froze_and_are_frozen_all_the_way_down(value: Any) -> None:
    frozen = freeze(value)
    assert typed(frozen) == typed(value)
    assert all_kinds(frozen) <= {FrozenDict, FrozenList, str, int, float, bool, type(None)}


def all_kinds(value: Any) -> set[type]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {type(value)}.union(*map(all_kinds, inner))


@given(json_values)
def test_thaw_gives_a_plain_deep_copy(value: Any) -> None:
    thawed = thaw(freeze(value))
    assert typed(thawed) == typed(value)
    assert not all_kinds(thawed) & {FrozenDict, FrozenList}


@given(json_values)
def test_frozen_values_hash_as_they_compare(value: Any) -> None:
    assert hash(freeze(value)) == hash(freeze(thaw(value)))


@given(json_values)
def test_frozen_values_survive_a_pickle_frozen(value: Any) -> None:
    again = pickle.loads(pickle.dumps(freeze(value)))
    assert typed(again) == typed(value)
    assert type(again) is type(freeze(value))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_pickle_protocol_brings_them_back(protocol: int) -> None:
    assert pickle.loads(pickle.dumps(freeze(SAMPLE), protocol)) == SAMPLE


def test_a_copy_is_the_value_itself() -> None:
    for frozen in (freeze(SAMPLE), freeze([SAMPLE])):
        assert copy.copy(frozen) is frozen
        assert copy.deepcopy(frozen) is frozen
        assert freeze(frozen) is frozen


@given(json_values)
def test_json_and_msgspec_write_frozen_values_as_they_write_plain_ones(value: Any) -> None:
    assert json.dumps(freeze(value)) == json.dumps(value)
    assert msgspec.json.encode(freeze(value)) == msgspec.json.encode(value)


def test_jsonschema_rs_judges_frozen_values_as_it_judges_plain_ones() -> None:
    schema = freeze({"type": "object", "properties": {"a": {"type": "array"}}, "required": ["c"]})
    validator = jsonschema_rs.validator_for(thaw(schema))
    assert validator.is_valid(freeze(SAMPLE))
    assert not validator.is_valid(freeze({"a": {}, "c": 1}))


def test_pydantic_takes_frozen_values_and_hands_out_fresh_changeable_ones() -> None:
    frozen = freeze({"a": ["1", "2"]})
    typed_copy = TypeAdapter(dict[str, list[int]]).validate_python(frozen)
    typed_copy["a"].append(3)
    assert typed_copy == {"a": [1, 2, 3]}
    assert frozen == {"a": ["1", "2"]}


def test_tuples_become_arrays() -> None:
    assert type(freeze((1, (2,)))) is FrozenList
    assert freeze((1, (2,))) == [1, [2]]


@pytest.mark.parametrize("value", [{1: 2}, {"a": {None: 1}}, {"a": {1, 2}}, [b"x"], object()])
def test_what_is_not_json_cannot_be_frozen(value: Any) -> None:
    with pytest.raises(TypeError):
        freeze(value)
