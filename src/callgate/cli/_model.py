"""``callgate model``: the embedded model's weights."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Annotated

import typer
from rich.markup import escape

from callgate.errors import ConfigurationError

from ._screen import plainly, print_json, screen

model = typer.Typer(help="The embedded model's weights.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of words.")]


@model.command()
def get(as_json: Json = False) -> None:
    """Make sure that the weights are there and are the published ones, downloading 93 MB if they are not."""
    with plainly():
        got = _local().get_model()
    if as_json:
        print_json({"path": str(got.path), "sha256": got.sha256, "fetched": got.fetched})
    else:
        word = "fetched" if got.fetched else "found"
        screen.print(f"{word} {escape(str(got.path))}, sha256 {got.sha256}")


@model.command()
def show(as_json: Json = False) -> None:
    """Say which model is embedded and where its weights are."""
    with plainly():
        local = _local()
        path, published = local.find_model(), local.DEFAULT_MODEL
    if as_json:
        print_json({"path": str(path), "requirement": published.requirement, "sha256": published.file_sha256})
    else:
        screen.print(f"{escape(published.file)} from {published.requirement}: {escape(str(path))}")


def _local() -> ModuleType:
    try:
        # The door of an extra: without NumPy the other commands must still run.
        return import_module("callgate.models.local")
    except ModuleNotFoundError as problem:
        raise ConfigurationError("the embedded model needs NumPy: pip install 'callgate[local]'") from problem
