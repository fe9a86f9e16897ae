"""One call: how its name and its arguments are read."""

import pytest

from callgate.calls import CallKind, FrozenDict, ToolCall
from callgate.wire._slot import Slot, Terms, call_of, is_open, own_name, server_call_of

TERMS = Terms("openai-chat")


def slot(*parts: str, closed: bool = True, **fields: object) -> Slot:
    made = Slot(0, CallKind.FUNCTION, "c")
    made.parts, made.closed = list(parts), closed
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def read(made: Slot, *, is_well: bool = True) -> ToolCall:
    return call_of(made, TERMS, is_well=is_well)


def code(call: ToolCall) -> str:
    return call.fault.code if call.fault else ""


def test_fragments_are_joined_and_read() -> None:
    call = read(slot('{"a"', ":1", "}"))
    assert (call.arguments, call.arguments_text, call.complete) == ({"a": 1}, '{"a":1}', True)
    assert call.key.position == 0


def test_what_nothing_closed_is_incomplete_whatever_it_looks_like() -> None:
    call = read(slot("{}", closed=False))
    assert (call.complete, code(call), call.arguments_text) == (False, "CALL_INCOMPLETE", "{}")


def test_in_a_reply_that_went_wrong_only_whole_arguments_are_complete() -> None:
    assert read(slot('{"a":1}'), is_well=False).complete
    for text in ("", " ", '{"a":', "x"):
        call = read(slot(text), is_well=False)
        assert (call.complete, code(call)) == (False, "CALL_INCOMPLETE")
    assert code(read(slot("x"))) == "NOT_JSON"


def test_arguments_in_one_piece_must_say_what_the_fragments_said() -> None:
    assert read(slot(given='{"a":1}')).arguments == {"a": 1}
    assert read(slot('{"a":1}', given='{"a":1}')).complete
    assert read(slot('{"a": 1}', given='{"a":1}')).complete
    assert code(read(slot('{"a":1}', given='{"a":2}'))) == "TWO_ARGUMENTS"
    assert code(read(slot('{"a":1}', given="x"))) == "TWO_ARGUMENTS"


@pytest.mark.parametrize("between", ["", " ", "\n\n"])
def test_the_same_object_twice_counts_once_and_two_different_ones_not_at_all(between: str) -> None:
    made = slot('{"a":1}', between, '{"a":1}', between, '{"a":1}')
    assert read(made).arguments == {"a": 1}
    assert made.repeated
    assert code(read(slot('{"a":1}', between, '{"a":2}'))) == "TWO_ARGUMENTS"
    assert code(read(slot('{"a":1}', between, "1"))) == "NOT_JSON"
    assert code(read(slot('{"a":1}', between, "{"))) == "NOT_JSON"


def test_many_objects_one_after_another_are_looked_at_in_linear_time() -> None:
    assert code(read(slot("{} " * 100_000 + "[]"))) == "NOT_JSON"
    assert code(read(slot("[" * 100_000))) in ("NOT_JSON", "TOO_DEEP")


def test_the_input_of_a_custom_tool_is_text_and_not_json() -> None:
    call = read(slot("print(", "3)", kind=CallKind.CUSTOM))
    assert (call.arguments, call.arguments_text, call.kind) == (
        {"input": "print(3)"},
        "print(3)",
        CallKind.CUSTOM,
    )
    assert code(read(slot("a", kind=CallKind.CUSTOM, given="b"))) == "TWO_ARGUMENTS"
    half = read(slot("a\ud800", kind=CallKind.CUSTOM))
    assert (code(half), half.arguments_text) == ("TEXT_NOT_UNICODE", "a\ufffd")


def test_a_call_is_read_once() -> None:
    made = slot('{"a":1}')
    first = read(made)
    made.parts.append("x")
    assert read(made).arguments is first.arguments


@pytest.mark.parametrize(
    ("names", "known", "wanted"),
    [
        (["read", "read"], [], "read"),
        (["re", "ad"], [], "read"),
        (["get", "get"], ["getget"], "getget"),
        (["get", "get"], ["get", "getget"], "get"),
        (["read", "er"], ["read"], "read"),
        (["re", "ad", "read"], [], "read"),
        ([], ["read"], ""),
    ],
)
def test_a_name_in_fragments_is_read_so_that_it_names_a_tool(
    names: list[str], known: list[str], wanted: str
) -> None:
    terms = Terms("openai-chat", names={name: name for name in known})
    assert own_name(slot(names=names), terms) == wanted


def test_arguments_of_the_strict_form_are_undone_for_their_tool_alone() -> None:
    def undo(arguments: FrozenDict) -> FrozenDict:
        return FrozenDict({name: value for name, value in arguments.items() if value is not None})

    terms = Terms("openai-chat", undo={"t": undo})
    call = call_of(slot('{"a":null}', names=["t"]), terms, is_well=True)
    assert (call.arguments, call.arguments_text) == ({}, '{"a":null}')
    assert call_of(slot('{"a":null}', names=["u"]), terms, is_well=True).arguments == {"a": None}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"a":"b', True),
        ('{"a"', True),
        ("{", True),
        ("", True),
        ('{"a":1}', False),
        ("{'a'", False),
        ('{"a":1}x', False),
    ],
)
def test_a_text_that_breaks_off_is_told_from_one_that_is_wrong(text: str, wanted: bool) -> None:
    assert is_open(text) is wanted


def test_a_server_s_call_tells_its_arguments_as_they_came() -> None:
    told = server_call_of(slot('{"q"', ":1}", names=["search"], kind=None))
    assert (told.name, told.call_id, told.arguments_text) == ("search", "c", '{"q":1}')
    assert server_call_of(slot(given="{}")).arguments_text == "{}"
