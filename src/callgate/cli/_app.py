"""The commands, in one table; each file holds one of them."""

from __future__ import annotations

from importlib.metadata import version as version_of
from typing import Annotated

import typer

from ._decode import decode
from ._demo import demo
from ._journal import journal
from ._lint import lint
from ._model import model
from ._run import run

app = typer.Typer(
    name="callgate",
    help="Everything between what a language model says and what your code does.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (demo, run, decode, lint):
    app.command()(command)
app.add_typer(model, name="model")
app.add_typer(journal, name="journal")


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"callgate {version_of('callgate')}")
        raise typer.Exit


@app.callback()
def callgate(
    version: Annotated[
        bool,
        typer.Option("--version", help="Say the version and end.", is_eager=True, callback=_say_version),
    ] = False,
) -> None:
    """Everything between what a language model says and what your code does."""


def main() -> None:
    """The ``callgate`` command; Ctrl-C ends it with ``Exit.INTERRUPTED`` and what ran is in the journal."""
    app()
