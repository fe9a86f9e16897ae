"""JSON Schema as data.

Published from Python signatures, resolved, closed, compiled, and asked what is wrong with a value.
"""

from ._close import close_objects
from ._docstrings import Docs, read_docstring
from ._explain import describe
from ._nearest import nearest
from ._pydantic import Field, Model, build_model
from ._shape import by_type, note, plain_top, types_of
from ._signature import NOTHING, Signature, Slot, innermost, own_name, read_signature
from ._strict import Strictness, close, undo
from ._tidy import ANNOTATIONS, LIST, ONE, TABLE, Report, Tidy, tidy
from ._validator import MAX_FINDINGS, Validator
from ._walk import Path, children, find, place, reachable, rebuild, resolve, strip, subschemas, target

__all__ = [
    "ANNOTATIONS",
    "LIST",
    "MAX_FINDINGS",
    "NOTHING",
    "ONE",
    "TABLE",
    "Docs",
    "Field",
    "Model",
    "Path",
    "Report",
    "Signature",
    "Slot",
    "Strictness",
    "Tidy",
    "Validator",
    "build_model",
    "by_type",
    "children",
    "close",
    "close_objects",
    "describe",
    "find",
    "innermost",
    "nearest",
    "note",
    "own_name",
    "place",
    "plain_top",
    "reachable",
    "read_docstring",
    "read_signature",
    "rebuild",
    "resolve",
    "strip",
    "subschemas",
    "target",
    "tidy",
    "types_of",
    "undo",
]
