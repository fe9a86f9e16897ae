"""Declaring a tool: from a callable, and from a raw schema."""

from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
import pytest

from callgate.calls import Effect, freeze
from callgate.errors import ToolDeclarationError, UnsupportedSchemaError
from callgate.tools import ToolOptions, WorkspacePath, declare, declare_schema, unguarded


def answer(arguments: dict[str, Any]) -> None: ...


def raw(schema: dict[str, Any], name: str = "get_x", **options: Any) -> Any:
    return declare_schema(name, "", schema, answer, ToolOptions(**options))


def test_the_class_is_declared_or_said_by_the_name() -> None:
    def frobnicate(x: int) -> None: ...
    def delete_x(x: int) -> None: ...

    assert declare(delete_x).effect is Effect.IRREVERSIBLE
    assert declare(delete_x, ToolOptions(effect=Effect.READ)).effect is Effect.READ
    assert declare(frobnicate, ToolOptions(name="list_x")).effect is Effect.READ
    with pytest.raises(ToolDeclarationError) as refused:
        declare(frobnicate)
    assert "Effect.READ" in refused.value.facts["mend"]


@pytest.mark.parametrize(
    ("name", "hints", "effect"),
    [
        ("frobnicate", {}, Effect.IRREVERSIBLE),
        ("frobnicate", {"readOnlyHint": True}, Effect.IRREVERSIBLE),
        ("get_x", {}, Effect.READ),
        ("get_x", {"readOnlyHint": False}, Effect.IRREVERSIBLE),
        ("get_x", {"readOnlyHint": False, "destructiveHint": False}, Effect.WRITE),
        ("run_x", {"readOnlyHint": True}, Effect.EXECUTE),
    ],
)
def test_the_class_of_a_raw_schema_tool(name: str, hints: dict[str, Any], effect: Effect) -> None:
    assert raw({}, name, hints=hints).effect is effect


def test_a_hint_also_raises_what_was_declared() -> None:
    assert raw({}, effect=Effect.READ, hints={"destructiveHint": True}).effect is Effect.IRREVERSIBLE


@pytest.mark.parametrize("annotation", [str, str | None, list[str], Path, Any])
def test_an_unguarded_path_is_refused_with_the_parameter_and_the_mend(annotation: Any) -> None:
    def read_x(path: Any) -> None: ...

    read_x.__annotations__["path"] = annotation
    with pytest.raises(ToolDeclarationError) as refused:
        declare(read_x)
    assert refused.value.facts["parameter"] == "path"
    assert "WorkspacePath" in refused.value.facts["mend"]


def test_an_unguarded_command_or_address_is_refused() -> None:
    def run_x(command: str) -> None: ...
    def get_y(url: pydantic.AnyUrl) -> None: ...
    def get_z(options: "Nested") -> None: ...

    for function in (run_x, get_y, get_z):
        with pytest.raises(ToolDeclarationError):
            declare(function)


class Nested(pydantic.BaseModel):
    file: str


def test_a_guard_a_closed_set_or_a_reason_lets_it_through() -> None:
    def read_x(
        path: WorkspacePath,
        files: list[WorkspacePath],
        command: Literal["build", "test"],
        url: Annotated[str, unguarded("only logged")],
    ) -> None: ...

    kinds = {p.name: (p.kind, p.guarded, p.unguarded_reason) for p in declare(read_x).parameters}
    assert kinds == {
        "path": ("path", True, ""),
        "files": ("path", True, ""),
        "command": ("value", True, ""),
        "url": ("url", True, "only logged"),
    }


def test_on_a_raw_schema_tool_an_unguarded_path_makes_every_call_ask() -> None:
    schema = {"properties": {"path": {"type": "string"}, "n": {"type": "integer"}}}
    assert raw(schema).always_ask == "'path' is an unguarded path"
    assert raw(schema, unguarded={"path": "the server is chrooted"}).always_ask == ""
    assert raw({"properties": {"n": {"type": "integer"}}}).always_ask == ""


def test_a_path_that_no_listed_property_shows_asks_too() -> None:
    inner = {"type": "object", "properties": {"command": {"type": "string"}}}
    assert raw({"$ref": "#/$defs/a", "$defs": {"a": inner}}).always_ask == "'command' is an unguarded command"
    free = {"additionalProperties": {"type": "string", "format": "uri"}}
    assert raw(free).always_ask == "'*' is an unguarded url"


def test_a_server_cannot_say_that_its_path_is_guarded() -> None:
    sly = {
        "type": "string",
        "format": "workspace-path",
        "x-callgate-path": [""],
        "x-callgate-unguarded": ["trust me"],
    }
    tool = raw({"properties": {"path": sly}})
    assert tool.always_ask
    assert tool.touches(freeze({"path": "a"})) == ()


def test_what_a_server_published_is_kept() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Args",
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/A"}},
        "definitions": {"A": {"type": "object", "properties": {"b": {"type": "string", "title": "B"}}}},
    }
    published = raw(schema).definition.parameters
    assert {k: published[k] for k in schema if k != "definitions"} == {
        k: schema[k] for k in schema if k != "definitions"
    }
    assert published["additionalProperties"] is False
    assert published["definitions"]["A"]["additionalProperties"] is False


def test_a_misspelled_name_is_refused_also_where_the_server_left_its_objects_open() -> None:
    tool = raw({"properties": {"depth": {"type": "integer"}}})
    (finding,) = tool.findings(freeze({"dept": 1}))
    assert (finding.code, finding.where, finding.mend) == (
        "UNKNOWN_PARAMETER",
        "/dept",
        "did you mean 'depth'?",
    )
    assert raw({"properties": {}, "additionalProperties": True}).findings(freeze({"x": 1})) == ()
    assert raw({"type": "object"}).findings(freeze({"x": 1})) == ()


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"type": "array"}, "#/type"),
        ({"properties": {"a": {"$ref": "https://example.com/s.json"}}}, "#/properties/a/$ref"),
        ({"properties": {"a": {"$ref": "#/$defs/gone"}}}, "#/properties/a/$ref"),
        ({"properties": {"a": {"type": "text"}}}, "#/properties/a/type"),
        ({"properties": []}, "#/properties"),
        ({"required": True}, "#/required"),
    ],
)
def test_a_raw_schema_that_cannot_be_judged_is_refused_with_its_place(
    schema: dict[str, Any], where: str
) -> None:
    with pytest.raises(UnsupportedSchemaError) as refused:
        raw(schema)
    assert refused.value.facts["where"] == where
    assert refused.value.facts["tool"] == "get_x"


def test_a_python_tool_takes_the_options_of_safety_too() -> None:
    def get_page(url: str, ticket: str, options: "Nested") -> None: ...

    more = {"url": "only logged", "/options/file": "a name in an archive"}
    tool = declare(get_page, ToolOptions(unguarded=more, sources={"ticket": "request"}))
    said = {p.name: (p.guarded, p.unguarded_reason, p.source) for p in tool.parameters}
    assert said == {
        "url": (True, "only logged", ""),
        "ticket": (True, "", "request"),
        "options": (True, "", ""),
        "options.file": (True, "a name in an archive", ""),
    }
    raised = declare(get_page, ToolOptions(unguarded=more, hints={"destructiveHint": True}))
    assert raised.effect is Effect.IRREVERSIBLE


def test_an_option_names_a_nested_parameter_by_its_pointer() -> None:
    edits = {"type": "array", "items": {"type": "object", "properties": {"file": {"type": "string"}}}}
    schema = {"properties": {"edits": edits, "file": {"type": "string"}}}
    assert raw(schema, unguarded={"/edits/*/file": "chrooted"}).always_ask == "'file' is an unguarded path"
    assert raw(schema, unguarded={"file": "chrooted"}).always_ask == "'edits.file' is an unguarded path"


@pytest.mark.parametrize(
    "options",
    [
        {"unguarded": {"path": " "}},
        {"unguarded": {"path": None}},
        {"unguarded": {"/path/x": "why"}},
        {"unguarded": "path"},
        {"sources": {"path": "requst"}},
        {"sources": {"pth": "request"}},
        {"phases": "plan"},
        {"tags": "abc"},
        {"tags": [1]},
        {"egress": 0},
        {"idempotent": "yes"},
        {"hints": ["readOnlyHint"]},
        {"effect": "reed"},
    ],
)
def test_an_option_that_could_not_be_meant_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ToolDeclarationError):
        raw({"properties": {"path": {"type": "string"}}}, **options)

    def get_x(path: WorkspacePath) -> None: ...

    with pytest.raises(ToolDeclarationError):
        declare(get_x, ToolOptions(**options))


def test_an_effect_said_as_a_word_is_the_effect() -> None:
    assert raw({}, effect="write").effect is Effect.WRITE


def test_declarations_that_cannot_work() -> None:
    class Tool: ...

    wrong: list[Any] = [
        lambda: declare(Tool),
        lambda: declare(3),  # type: ignore[arg-type]
        lambda: declare(lambda x: x, ToolOptions(effect=Effect.READ)),
        lambda: raw({}, name="get_x", unguarded={"path": "x"}),
        lambda: declare_schema("get_x", "", {}, lambda: 0),
        lambda: declare_schema("get_x", "", {}, answer, ToolOptions(name="other")),
    ]
    for attempt in wrong:
        with pytest.raises(ToolDeclarationError):
            attempt()
