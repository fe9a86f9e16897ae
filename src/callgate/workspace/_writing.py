"""The tools that change: write_file, replace_in_file, delete_file; and how each finds out after a crash.

In: arguments of a call, paths already located. Out: what was done, with the new version. Promise: nothing is
overwritten whose version the caller did not name, or whose content did not hold what was to be replaced; what
is deleted goes into the record.
"""

from __future__ import annotations

import base64
from itertools import islice
from typing import Annotated, Any, Final

from pydantic import Field

from callgate.calls import Finding, Mode, ToolCall
from callgate.errors import LocalProtocolError, ToolError
from callgate.tools import (
    CannotTell,
    Context,
    DidNotHappen,
    Happened,
    Located,
    Reconciliation,
    Result,
    WorkspacePath,
)

from ._content import VERSION_DIGITS, version_of
from ._reading import resource
from ._refusals import refuse
from ._text import Replacement, text_of
from ._trash import Removed
from ._workspace import ABSENT, FILE_BYTES, Workspace

KEPT_BYTES: Final = 8 << 20
"""The largest file that delete_file takes: all of it is kept in the journal."""

ORIGINS: Final = 1_000  # texts that are tried when looking for what a replacement was made of

Version = Annotated[str | None, Field(pattern=f"^[0-9a-f]{{{VERSION_DIGITS}}}$")]


def write_file(path: WorkspacePath, content: str, expected_version: Version = None) -> Result:
    """Write a text file: a new one, or all of an existing one anew.

    Args:
        path: The file, relative to the workspace's root; missing folders on the way are made.
        content: All that the file shall hold.
        expected_version: The version read_file gave, to replace that file; without it the file must be new.
    """
    version = path.write_bytes(content.encode(), expected_version or ABSENT)
    return Result("replaced" if expected_version else "created", resource(path), version, trusted=True)


def replace_in_file(
    path: WorkspacePath,
    old: Annotated[str, Field(min_length=1)],
    new: str,
    expected_version: Version = None,
) -> Result:
    """Replace one piece of text in a file by another; the rest is kept as it is.

    Args:
        path: The file, relative to the workspace's root.
        old: The text to replace, copied exactly; it must occur once in the file.
        new: The text to put in its place.
        expected_version: The version that read_file gave, to make sure that nothing changed since.
    """
    data = path.read_bytes()
    current = version_of(data)
    if expected_version is not None and expected_version != current:
        message = "the file has another version by now"
        raise refuse("VERSION_CONFLICT", message, path, current_version=current)
    text = text_of(data, path)
    changed = Replacement.fitted(text, old, new).apply(text, path).encode()
    version = path.write_bytes(changed, current)
    return Result("replaced", resource(path), version, trusted=True)


def really_new(old: str, new: str) -> Finding | None:
    """A check: a replacement changes something."""
    return Finding("RULE_BROKEN", "/new", "a text that differs from old") if old == new else None


def delete_file(path: WorkspacePath, ctx: Context) -> Result:
    """Delete a file.

    Args:
        path: The file, relative to the workspace's root.
    """
    _refuse_link(_workspace(path.files), path)
    trash, key = _workspace(path.files).trash, _key(ctx)
    return _deleted(path, trash.recall(path, key, KEPT_BYTES) or trash.take(path, key, KEPT_BYTES))


def not_the_root(path: str) -> Finding | None:
    """A check: before anybody is asked."""
    if set(path) <= {".", "/"}:
        return Finding("RULE_BROKEN", "/path", "a file", "the workspace itself is never deleted")
    return None


def restore(workspace: Workspace, relative: str, kept: Any) -> str:
    """Put back what ``delete_file`` deleted, from what the journal kept. Gives the version.

    Args:
        workspace: Where it was.
        relative: Its canonical name; that of another place puts it there.
        kept: The value of the call's ``kept`` field.

    Raises:
        ToolError: ``ALREADY_EXISTS``: something has the name by now.
        LocalProtocolError: ``kept`` is none of ``delete_file``.
    """
    try:
        removed = _removed(kept)
    except (KeyError, TypeError, ValueError) as problem:
        raise LocalProtocolError("this is not what delete_file keeps", why=str(problem)) from problem
    return workspace.write_bytes(relative, removed.data, ABSENT, mode=removed.mode)


def reconcile_write(context: Context, call: ToolCall) -> Reconciliation:
    """It happened if the file holds the content; it did not if the file is as it was to be before."""
    found = _found(context, call)
    if found is None:
        return CannotTell()
    _, located = found
    content, expected = call.arguments["content"], call.arguments.get("expected_version")
    version = version_of(content.encode())
    if located.version == version:
        said = "replaced" if expected else "created"
        return Happened(Result(said, located.resource, version, trusted=True))
    if located.version == expected and located.exists == bool(expected):
        return DidNotHappen()
    return CannotTell()


def reconcile_replace(context: Context, call: ToolCall) -> Reconciliation:
    """Certain with the version from before; without it only a text that still waits to be replaced tells."""
    found = _found(context, call)
    expected = call.arguments.get("expected_version")
    if found is None or not found[1].exists:
        return CannotTell()
    workspace, located = found
    if expected is not None and located.version == expected:
        return DidNotHappen()
    try:
        with workspace.open_read(located.relative) as source:
            text = text_of(source.read(FILE_BYTES), located.relative)
    except ToolError:
        return CannotTell()
    replacement = Replacement.fitted(text, call.arguments["old"], call.arguments["new"])
    if expected is None:
        return DidNotHappen() if _still_waits(replacement, text) else CannotTell()
    for origin in islice(replacement.origins(text), ORIGINS):
        if version_of(origin.encode()) == expected:
            return Happened(Result("replaced", located.resource, located.version or "", trusted=True))
    return CannotTell()


def reconcile_delete(context: Context, call: ToolCall) -> Reconciliation:
    """What a delete removed stays until it is recorded: that it is there tells, and is what must be kept."""
    found = _found(context, call)
    if found is None:
        return CannotTell()
    workspace, located = found
    try:
        removed = workspace.trash.recall(located.relative, _key(context), KEPT_BYTES)
    except ToolError:
        return CannotTell()
    if removed is not None:
        return Happened(_deleted(located.relative, removed))
    return DidNotHappen() if located.exists else CannotTell()


def _still_waits(replacement: Replacement, text: str) -> bool:
    """``old`` occurs once, and not as part of what the replacement would have left."""
    places = list(islice(replacement.places(text), 2))
    if len(places) != 1 or not replacement.new:
        return len(places) == 1
    start, end = places[0], places[0] + len(replacement.old)
    return not any(
        start < place + len(replacement.new) and place < end
        for place in Replacement(replacement.new, "").places(text)
    )


def _found(context: Context, call: ToolCall) -> tuple[Workspace, Located] | None:
    files = context.files
    if not isinstance(files, Workspace):
        return None
    located = files.locate(call.arguments["path"], Mode.WRITE)
    return (files, located) if isinstance(located, Located) else None


def _workspace(files: object) -> Workspace:
    if isinstance(files, Workspace):
        return files
    raise LocalProtocolError(
        "delete_file keeps what it deletes, which takes a Workspace", got=type(files).__name__
    )


def _refuse_link(workspace: Workspace, path: WorkspacePath) -> None:
    """Whoever deletes a link does not mean the file behind it."""
    above, _, name = path.written.rstrip("/").rpartition("/")
    if name in {".", ".."}:
        return
    folder = workspace.locate(above or ("/" if path.written.startswith("/") else "."), Mode.READ)
    if isinstance(folder, Located) and workspace.kind(f"{folder.relative}/{name}") == "other":
        raise refuse("WRONG_KIND", f"{path.written} is a link; delete {path} itself, if that is meant", path)


def _key(context: Context) -> str:
    return context.idempotency_key or str(context.key)


def _deleted(path: str, removed: Removed) -> Result:
    return Result("deleted", resource(path), trusted=True, kept=_kept(removed))


def _kept(removed: Removed) -> dict[str, Any]:
    try:
        held = {"encoding": "utf-8", "content": removed.data.decode()}
    except UnicodeDecodeError:
        held = {"encoding": "base64", "content": base64.b64encode(removed.data).decode()}
    return {**held, "mode": removed.mode, "version": version_of(removed.data)}


def _removed(kept: Any) -> Removed:
    content = kept["content"]
    data = {"utf-8": str.encode, "base64": lambda text: base64.b64decode(text, validate=True)}[
        kept["encoding"]
    ](content)
    if version_of(data) != kept["version"]:
        raise ValueError("the content does not have the version that was kept with it")
    return Removed(data, int(kept["mode"]))
