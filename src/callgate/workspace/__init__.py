"""The folder that tools may work in, and the tools that ship with callgate."""

from ._content import version_of
from ._toolset import workspace_tools
from ._trash import Removed
from ._workspace import ABSENT, FILE_BYTES, Workspace
from ._writing import KEPT_BYTES, restore

__all__ = [
    "ABSENT",
    "FILE_BYTES",
    "KEPT_BYTES",
    "Removed",
    "Workspace",
    "restore",
    "version_of",
    "workspace_tools",
]
