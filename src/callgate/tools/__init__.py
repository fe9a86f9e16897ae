"""What a tool is, fixed at declaration; sets of tools and what to look at in them.

The ports that a running tool may use.
"""

from ._accesses import accesses, gather, must_look
from ._context import Context, Hooks, Page, Paging
from ._declare import declare, declare_schema
from ._effects import MODES, NOTES, RANK, VERBS, said_by_name, words
from ._facts import NO_FACTS, Facts, Keeper, Located, PathResolver, Touch, Versions, World
from ._followed import FOLLOWED, Risk
from ._json import to_json
from ._lint import LintFinding, lint
from ._markers import Marker, reads, source, unguarded, writes
from ._options import ToolOptions
from ._outcomes import CannotTell, DidNotHappen, Happened, Reconciliation, Result
from ._paths import WORKSPACE_PATH_FORMAT, Files, Opening, WorkspacePath
from ._risk import Parameter, classify
from ._tool import Binding, Tool
from ._toolset import Toolset

__all__ = [
    "FOLLOWED",
    "MODES",
    "NOTES",
    "NO_FACTS",
    "RANK",
    "VERBS",
    "WORKSPACE_PATH_FORMAT",
    "Binding",
    "CannotTell",
    "Context",
    "DidNotHappen",
    "Facts",
    "Files",
    "Happened",
    "Hooks",
    "Keeper",
    "LintFinding",
    "Located",
    "Marker",
    "Opening",
    "Page",
    "Paging",
    "Parameter",
    "PathResolver",
    "Reconciliation",
    "Result",
    "Risk",
    "Tool",
    "ToolOptions",
    "Toolset",
    "Touch",
    "Versions",
    "WorkspacePath",
    "World",
    "accesses",
    "classify",
    "declare",
    "declare_schema",
    "gather",
    "lint",
    "must_look",
    "reads",
    "said_by_name",
    "source",
    "to_json",
    "unguarded",
    "words",
    "writes",
]
