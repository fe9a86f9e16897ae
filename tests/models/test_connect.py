"""From a word to a model."""

import sys

import pytest

from callgate.errors import ConfigurationError
from callgate.models import connect
from callgate.models._hosted import HostedModel


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("spec", "dialect", "name"),
    [
        ("openai:gpt-5.1", "openai-chat", "gpt-5.1"),
        ("openai-responses:gpt-5.1", "openai-responses", "gpt-5.1"),
        ("anthropic:claude", "anthropic", "claude"),
        ("openai:org/model:free", "openai-chat", "org/model:free"),
    ],
)
def test_the_word_says_the_dialect_and_the_model(spec: str, dialect: str, name: str) -> None:
    model = connect(spec, api_key="k")
    assert (model.dialect, model.name) == (dialect, name)


@pytest.mark.parametrize("spec", ["", "openai", "openai:", "gpt-5.1", "replay:", "mistral:m"])
def test_a_word_that_names_nothing_is_told_what_there_is(spec: str) -> None:
    with pytest.raises(ConfigurationError, match="anthropic:MODEL"):
        connect(spec, api_key="k")


@pytest.mark.parametrize(
    ("spec", "variable"), [("openai:m", "OPENAI_API_KEY"), ("anthropic:m", "ANTHROPIC_API_KEY")]
)
def test_a_missing_key_is_told_with_its_variable(
    spec: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match=variable):
        connect(spec)
    monkeypatch.setenv(variable, " sk-key\n")
    assert isinstance(connect(spec), HostedModel)


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert connect("openai:m", base_url="http://127.0.0.1:1/v1").name == "m"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    assert "127.0.0.1" in repr(connect("anthropic:m"))


def test_an_unknown_option_is_told_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="idle_seconds"):
        connect("openai:m", api_key="k", idle_second=3)
    with pytest.raises(ConfigurationError, match="chunk_bytes"):
        connect("replay:x", zzz=3)


def test_without_numpy_the_embedded_model_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "callgate.models._local", None)
    with pytest.raises(ConfigurationError, match=r"callgate\[local\]"):
        connect("local")
