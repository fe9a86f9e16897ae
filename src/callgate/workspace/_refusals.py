"""What the operating system refuses, in words and codes for the model.

In: an ``OSError`` met on the way to a canonical name. Out: a ``ToolError``. Promise: it names the path the
model knows and the system's own words for the trouble, nothing else of the machine.
"""

from __future__ import annotations

import errno
import os
from typing import Any, Final

from callgate.calls import Finding
from callgate.errors import ToolError

from ._resolve import resolve
from ._root import Root

_DENIED: Final = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ETXTBSY)
_CODES: Final[dict[int, str]] = {
    errno.ENOENT: "NOT_FOUND",
    errno.EEXIST: "ALREADY_EXISTS",
    errno.EISDIR: "WRONG_KIND",
    errno.ENAMETOOLONG: "PATH_UNUSABLE",
    **dict.fromkeys(_DENIED, "DENIED_BY_SYSTEM"),
}
_PASSING: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.EINTR, errno.EBUSY})
"""What may be gone a moment later."""

_IN_THE_WAY: Final = frozenset({errno.ENOTDIR, errno.ELOOP})


def refuse(code: str, message: str, path: str, **facts: Any) -> ToolError:
    """A refusal that names the path."""
    return ToolError(message, tool_code=code, path=path, **facts)


def refusal(root: Root, problem: OSError, path: str) -> ToolError:
    """What ``problem`` on the way to the canonical name ``path`` means to a model."""
    number = problem.errno or 0
    if number in _IN_THE_WAY:
        return _in_the_way(root, path)
    words = os.strerror(number) if number else "input or output failed"
    code = _CODES.get(number, "TOOL_ERROR")
    return ToolError(words, tool_code=code, transient=number in _PASSING, path=path)


def _in_the_way(root: Root, path: str) -> ToolError:
    """A link or a file stands where something else was expected: look again, to say which."""
    found = resolve(root, path)
    if isinstance(found, Finding):
        return refuse(found.code, f"it leads elsewhere by now; expected {found.expected}", path)
    if found.circle:
        return refuse("PATH_UNUSABLE", "its links lead in a circle", path)
    if "/".join(found.names) != path.removeprefix("./"):
        return refuse("RESOURCE_MOVED", "a link stands in its place by now", path)
    if found.kind == "file":
        return refuse("WRONG_KIND", "it is a file, no folder", path)
    return refuse("NOT_FOUND", "a file stands where the path needs a folder", path)
