"""``callgate model``: the embedded model's weights."""

from __future__ import annotations

from typing import Annotated

import typer

from callgate.models import DEFAULT_MODEL, find_model, get_model

from ._screen import plain, plainly, print_json, screen

model = typer.Typer(help="The embedded model's weights.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of words.")]


@model.command()
def get(as_json: Json = False) -> None:
    """Make sure that the weights are there and are the published ones, downloading 93 MB if they are not."""
    with plainly():
        got = get_model()
    if as_json:
        print_json({"path": str(got.path), "sha256": got.sha256, "fetched": got.fetched})
    else:
        word = "fetched" if got.fetched else "found"
        screen.print(f"{word} {plain(str(got.path))}, sha256 {got.sha256}")


@model.command()
def show(as_json: Json = False) -> None:
    """Say which model is embedded and where its weights are."""
    with plainly():
        path = find_model()
    if as_json:
        print_json(
            {"path": str(path), "requirement": DEFAULT_MODEL.requirement, "sha256": DEFAULT_MODEL.file_sha256}
        )
    else:
        screen.print(f"{plain(DEFAULT_MODEL.file)} from {DEFAULT_MODEL.requirement}: {plain(str(path))}")
