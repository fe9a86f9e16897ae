"""Resource names with places for argument values: ``ticket:{id}``.

In: a template, then arguments. Out: canonical resources. Promise: a value is percent-encoded whole, so it
can neither name another level of the hierarchy nor another resource; a value that is not there makes it
everything.

RFC 3986 section 2.3 for the characters that need no encoding; RFC 6570 level 1 for the form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from callgate.calls import Mode, canonical
from callgate.errors import ToolDeclarationError

_PLACE: Final = re.compile(r"\{([^{}]*)\}")
_FORM: Final = re.compile(r"[a-z][a-z0-9+.-]*:\S*")


@dataclass(frozen=True, slots=True)
class Template:
    """A resource to be filled in. ``names`` are its parameters in order.

    ``where`` is the pointer findings and touches name.
    """

    text: str
    mode: Mode
    names: tuple[str, ...]
    where: str = ""

    def resources(self, arguments: Mapping[str, Any]) -> list[str]:
        """The resources of one call; a list value gives one for each item.

        Everything (``*``) when a value is absent or null.
        """
        found = [self.text]
        for name in self.names:
            value = arguments.get(name)
            if value is None:
                return ["*"]
            items = value if isinstance(value, list) else [value]
            found = [text.replace(f"{{{name}}}", _encoded(item)) for text in found for item in items]
        return found


def read_template(text: str, mode: Mode, known: Iterable[str], where: str = "") -> Template:
    """Check a template against the names of the parameters.

    Raises:
        ToolDeclarationError: It is not ``scheme:rest``, names an unknown parameter, or fills a value into a
            ``file:`` resource.
    """
    names = tuple(dict.fromkeys(_PLACE.findall(text)))
    if text != "*" and not _FORM.fullmatch(_PLACE.sub("_", text)):
        message = "a resource is written scheme:name, for example ticket:{id}"
        raise ToolDeclarationError(message, resource=text)
    for name in names:
        if name not in set(known):
            message = "the resource names a parameter that the tool does not have"
            raise ToolDeclarationError(message, resource=text, parameter=name)
    if text.startswith("file:") and names:
        message = "a path filled into a file: resource is not located; make the parameter a WorkspacePath"
        raise ToolDeclarationError(message, resource=text, parameter=names[0])
    return Template(text, mode, names, where)


def _encoded(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON Schema takes 1.0 for an integer, and the tool gets 1
    text = value if isinstance(value, str) else canonical(value).decode()
    return quote(text, safe="") or "%"
