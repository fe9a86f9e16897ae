"""From a signature to a JSON Schema and back to typed arguments: the one file that knows pydantic.

In: a signature. Out: a JSON Schema 2020-12 and a model that turns arguments that fit it into fresh Python
values. Promise: any parameter name works (fields go by position, names are aliases); every object is closed
that does not say otherwise; the same signature gives the same schema in every process; what pydantic cannot
publish is refused with the parameter named.

pydantic is imported whole but its heavy parts are loaded by its own lazy attributes, at the first tool.
"""

from __future__ import annotations

import functools
import typing
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, get_args, get_origin

import pydantic

from callgate.calls import Finding, pointer, thaw
from callgate.errors import ToolDeclarationError

from ._close import close_objects
from ._signature import NOTHING, Signature, Slot
from ._tidy import words
from ._typeddict import with_typed_dicts

_EXTRA: Final = "__pydantic_extra__"


@dataclass(frozen=True, slots=True)
class Field:
    """A published parameter.

    Its ``name`` in the schema, the ``slot`` it fills, the attribute of the model that holds it.

    ``fills`` means that the model's own default must be handed over when the argument is absent
    (``Field(default=…)``). ``described`` means that the author said what it is (``Field(description=…)``).
    """

    name: str
    slot: Slot
    attribute: str
    fills: bool = False
    described: bool = False


@dataclass(frozen=True, slots=True)
class Model:
    """A pydantic model of all parameters, and its schema.

    ``schema`` may hold ``x-`` annotations that are not published. ``is_flat``: arguments that fit it hold no
    object and no array.
    """

    fields: tuple[Field, ...]
    schema: dict[str, Any]
    kind: Any
    has_extra: bool
    is_flat: bool = False

    def read(self, arguments: Any, context: Any = None) -> dict[str, Any]:
        """Typed values by Python name; absent parameters that have a Python default are left out.

        Raises:
            pydantic.ValidationError: The values do not fit the types, though they may fit the schema.
        """
        made = self.kind.__pydantic_validator__.validate_python(arguments, context=context)
        typed = made.__dict__
        values = {
            field.slot.name: typed[field.attribute]
            for field in self.fields
            if field.fills or field.name in arguments
        }
        if self.has_extra:
            values.update(made.__pydantic_extra__)
        return values

    def keeps(self, name: str, mark: str = "") -> bool:
        """Whether a parameter's type hands its value on just as it was written.

        With a ``mark``, of the types inside it whose core schema has it among its metadata alone.
        """
        fields, definitions = _core(self.kind)
        attribute = next(field.attribute for field in self.fields if field.name == name)
        nodes = _nodes(fields[attribute]["schema"], definitions)
        if mark:
            return not any(changed for node, changed in nodes if mark in node.get("metadata", ()))
        return all(node["type"] in _KEPT and not _CHANGING.intersection(node) for node, _ in nodes)

    def findings(self, arguments: Any) -> tuple[Finding, ...]:
        """What the types still refuse in arguments that fit the schema.

        ``CHECK_FAILED`` where a validator of the author's breaks.
        """
        # The author's validators may change what they are given; a flat object has nothing of that kind.
        given = arguments if self.is_flat else thaw(arguments)
        try:
            self.kind.__pydantic_validator__.validate_python(given)
        except pydantic.ValidationError as problem:
            errors = problem.errors(include_url=False)
            return tuple(_finding(error, arguments) for error in errors[:8])
        except Exception:  # noqa: BLE001 - whatever an author's validator raises, the call is not judged
            return (Finding("CHECK_FAILED", expected="the tool's own types to give an answer"),)
        return ()


def build_model(signature: Signature) -> Model:
    """Publish a signature.

    Raises:
        ToolDeclarationError: A type cannot be published, or two parameters have one public name.
    """
    _load()
    fields: list[Field] = []
    definitions: dict[str, Any] = {}
    for position, slot in enumerate(signature.slots):
        field, definition = _field(slot, f"p{position}")
        if any(field.name == other.name for other in fields):
            message = "two parameters have the same public name"
            raise ToolDeclarationError(message, tool=signature.name, parameter=slot.name, name=field.name)
        fields.append(field)
        definitions[field.attribute] = definition
    try:
        kind, schema = _published(definitions, signature)
    except _REFUSALS() as problem:
        _blame(fields, definitions, signature)
        message = "pydantic cannot publish these parameters"
        raise ToolDeclarationError(message, tool=signature.name, why=_first_line(problem)) from problem
    has_extra = signature.extra is not NOTHING
    nodes = _nodes(list(_core(kind)[0].values()), {})
    is_flat = not has_extra and all(node["type"] in _FLAT for node, _ in nodes)
    return Model(tuple(fields), schema, kind, has_extra, is_flat)


def _core(kind: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The core schemas of a model's fields, and those they refer to by name."""
    core = kind.__pydantic_core_schema__
    definitions = {one["ref"]: one for one in core.get("definitions", ())}
    while "fields" not in core:
        core = core["schema"]
    return core["fields"], definitions


def _nodes(
    held: Any, definitions: Mapping[str, Any], *, changed: bool = False, seen: frozenset[str] = frozenset()
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Every core schema in another, each with whether a function around it may change its very value."""
    if isinstance(held, list | tuple):
        for one in held:
            yield from _nodes(one, definitions, changed=changed, seen=seen)
    if not isinstance(held, dict):
        return
    if isinstance(held.get("type"), str):
        yield held, changed
        changed = _may_change(held) or (changed and held["type"] not in _HOLDERS)
    reference = held.get("schema_ref", "")
    if reference in definitions and reference not in seen:
        yield from _nodes(definitions[reference], definitions, changed=changed, seen=seen | {reference})
    for key in _BELOW.intersection(held):
        below = held[key]
        inner = list(below.values()) if key in {"fields", "choices"} and isinstance(below, dict) else below
        yield from _nodes(inner, definitions, changed=changed, seen=seen)


def _may_change(core: Mapping[str, Any]) -> bool:
    """Whether a core schema hands its value through a function: pydantic's own after it only look."""
    if core["type"] == "function-after":
        function = core["function"]["function"]
        return not str(getattr(function, "func", function).__module__).startswith("pydantic.")
    return core["type"] == "chain" or str(core["type"]).startswith("function-")


_BELOW: Final = words(
    "schema items_schema keys_schema values_schema extras_schema arguments_schema lax_schema strict_schema "
    "json_schema python_schema choices steps fields"
)
_HOLDERS: Final = words(
    "list set frozenset tuple dict generator model-field dataclass-field typed-dict-field arguments"
)
"""What stands around a value is not the value."""
_SINGLE: Final = words("default nullable union none bool int str literal enum date")
_KEPT: Final = _SINGLE | words("list set frozenset tuple dict definition-ref any")
"""Types whose values have one JSON text each, once the schema took it: a date is only ``2026-01-01``."""
_FLAT: Final = _SINGLE | words("model-field float uuid url datetime time timedelta decimal function-after")
"""Types whose JSON holds nothing that could be changed."""
_CHANGING: Final = words("strip_whitespace to_lower to_upper")


def _load() -> Any:
    """Make pydantic load the submodules used below, by names that live in them."""
    return pydantic.BaseModel, pydantic.Field, pydantic.WithJsonSchema, pydantic.PydanticUserError


def _REFUSALS() -> tuple[type[Exception], ...]:  # noqa: N802 - a tuple that pydantic's lazy attributes fill
    return (
        pydantic.PydanticUserError,
        pydantic.errors.PydanticUndefinedAnnotation,
        pydantic.ValidationError,
        TypeError,
        ValueError,
        NameError,
    )


def _first_line(problem: Exception) -> str:
    return str(problem).partition("\n")[0]


def _blame(fields: list[Field], definitions: Mapping[str, Any], signature: Signature) -> None:
    """Find the parameter that cannot be published: each alone."""
    for field in fields:
        try:
            _published({field.attribute: definitions[field.attribute]}, signature, alone=True)
        except _REFUSALS() as problem:
            message = "this type cannot be published as JSON Schema"
            mend = "use JSON types, dataclasses, TypedDict, pydantic models, Enum or Literal"
            facts = {"parameter": field.slot.name, "why": _first_line(problem), "mend": mend}
            raise ToolDeclarationError(message, tool=signature.name, **facts) from problem


def _field(slot: Slot, attribute: str) -> tuple[Field, Any]:
    annotation = with_typed_dicts(Any if slot.annotation is NOTHING else slot.annotation)
    default = slot.default
    if default is None:
        # To those who write `x: int = None` it means "may be left out or null" (PEP 484 until 2018).
        annotation = typing.Optional[annotation]  # noqa: UP045 - works on every special form, `|` does not
    given = isinstance(default, pydantic.fields.FieldInfo)
    info = default if given else _field_info(annotation)
    name = _alias(info) or slot.name
    own_default = info is not None and not info.is_required()
    if given:
        annotation = Annotated[annotation, default]
        default = NOTHING
    if default is NOTHING and own_default:
        assert info is not None  # noqa: S101 - narrows the type
        keep = (
            {"default_factory": info.default_factory} if info.default_factory else {"default": info.default}
        )
        definition = pydantic.Field(alias=name, **keep)
    elif default is NOTHING:
        definition = pydantic.Field(alias=name)
    else:
        definition = pydantic.Field(default=default, alias=name)
    described = bool(info is not None and info.description)
    return Field(name, slot, attribute, default is NOTHING and own_default, described), (
        annotation,
        definition,
    )


def _field_info(annotation: Any) -> Any:
    if get_origin(annotation) is not Annotated:
        return None
    return next((m for m in get_args(annotation)[1:] if isinstance(m, pydantic.fields.FieldInfo)), None)


def _alias(info: Any) -> str:
    for alias in (getattr(info, "validation_alias", None), getattr(info, "alias", None)):
        if isinstance(alias, str):
            return alias
    return ""


def _published(
    definitions: Mapping[str, Any], signature: Signature, *, alone: bool = False
) -> tuple[Any, dict[str, Any]]:
    base = _base(signature.extra if not alone else NOTHING)
    kind = pydantic.create_model("Arguments", __base__=base, __module__=__name__, **definitions)
    if not kind.__pydantic_complete__:
        kind.model_rebuild(_types_namespace=dict(signature.namespace))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pydantic.json_schema.PydanticJsonSchemaWarning)
        schema = kind.model_json_schema(by_alias=True, schema_generator=_generator())
    return kind, _tidy(schema, signature)


def _base(extra: Any) -> Any:
    config = pydantic.ConfigDict(extra="forbid", protected_namespaces=())
    names: dict[str, Any] = {"__module__": __name__, "__qualname__": "Arguments", "model_config": config}
    if extra is not NOTHING:
        names["model_config"] = pydantic.ConfigDict(extra="allow", protected_namespaces=())
        names["__annotations__"] = {_EXTRA: dict[str, extra]}
    metaclass: Any = type(pydantic.BaseModel)
    return metaclass("Base", (pydantic.BaseModel,), names)


@functools.cache
def _generator() -> Any:
    class Generator(pydantic.json_schema.GenerateJsonSchema):
        """No titles made from names, sets in one order, and no zone asked of what may have none."""

        def field_title_should_be_set(self, _schema: Any) -> bool:
            return False

        def encode_default(self, dft: Any) -> Any:
            if isinstance(dft, set | frozenset):
                return sorted(super().encode_default(list(dft)), key=repr)
            return super().encode_default(dft)

        def datetime_schema(self, schema: Any) -> dict[str, Any]:
            if schema.get("tz_constraint") == "naive":
                return {"type": "string", "pattern": _NAIVE}
            return super().datetime_schema(schema)

        def time_schema(self, _schema: Any) -> dict[str, Any]:
            return {"type": "string", "pattern": _TIME}

    return Generator


# The format `time` of JSON Schema (RFC 3339 full-time) must have a zone, and datetime.time seldom has one.
_TIME: Final = r"^\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?$"
_NAIVE: Final = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?$"


def _tidy(schema: dict[str, Any], signature: Signature) -> dict[str, Any]:
    schema.pop("title", None)
    schema.setdefault("properties", {})
    for name, definition in schema.get("$defs", {}).items():
        title = definition.get("title")
        if isinstance(title, str) and (name == title or name.endswith(f"__{title}")):
            del definition["title"]
    closed: dict[str, Any] = close_objects(schema)
    kept_back = sorted({*signature.hidden, *signature.bound})
    if signature.extra is not NOTHING and kept_back:
        closed["propertyNames"] = {"not": {"enum": kept_back}}
    return closed


def _finding(error: Any, arguments: Any) -> Finding:
    """Pydantic's place also names union branches; only the steps that exist in the arguments are kept."""
    steps: list[str | int] = []
    current = arguments
    for step in error["loc"]:
        if (isinstance(current, dict) and step in current) or (
            isinstance(current, list) and isinstance(step, int) and 0 <= step < len(current)
        ):
            current = current[step]
        else:
            continue
        steps.append(step)
    return Finding("NOT_CONVERTIBLE", pointer(tuple(steps)), _expected(error))


def _expected(error: Any) -> str:
    """Pydantic's sentence, unless it repeats something of the value (validators of users may)."""
    said = str(error["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return (
        said
        if not any(text in said for text in _texts(error["input"]))
        else f"a value that passes {error['type']}"
    )


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for name, item in value.items() for text in (*_texts(item), str(name)) if text]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [str(value)] if value is not None and value != "" else []
