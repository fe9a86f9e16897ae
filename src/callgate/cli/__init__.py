"""The command line: it asks and shows, and decides nothing."""

from ._app import app, main
from ._exits import EXITS

__all__ = ["EXITS", "app", "main"]
