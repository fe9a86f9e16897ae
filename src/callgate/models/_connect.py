"""From a word to a model: ``openai:gpt-5.1``, ``replay:turns/``, ``local``.

In: a specification and options. Out: a ``Model``. Promise: nothing is sent and no connection is opened; what
cannot work (an unknown option, a key that is missing) is said here and not in the middle of a run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Any, Final, NamedTuple, TypeVar

from callgate.errors import ConfigurationError

from ._port import Model
from ._replay import ReplayModel, ReplayOptions, find_recordings

Options = TypeVar("Options")


class _Provider(NamedTuple):
    """A row: how a provider's replies are read, where it is, and where its key stands."""

    dialect: str
    base_url: str
    variables: str
    headers: Callable[[str], Mapping[str, str]]


def _bearer(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"}


def _anthropic(key: str) -> Mapping[str, str]:
    return {"x-api-key": key}


_OPENAI_URL: Final = "https://api.openai.com/v1"
_PROVIDERS: Final = {
    "openai": _Provider("openai-chat", _OPENAI_URL, "OPENAI", _bearer),
    "openai-responses": _Provider("openai-responses", _OPENAI_URL, "OPENAI", _bearer),
    "anthropic": _Provider("anthropic", "https://api.anthropic.com", "ANTHROPIC", _anthropic),
}
_ALWAYS: Final[dict[str, Mapping[str, str]]] = {"anthropic": {"anthropic-version": "2023-06-01"}}
"""Dialect → headers that its servers want on every request."""


def connect(spec: str, **options: Any) -> Model:
    """A model, by a word.

    Args:
        spec: ``openai:MODEL``, ``openai-responses:MODEL`` or ``anthropic:MODEL`` (any server that speaks that
            dialect, by ``base_url=``); ``replay:FILE``, ``replay:FILE,FILE`` or ``replay:FOLDER``; ``local``
            or ``local:FILE.gguf``.
        options: Those of ``HostedOptions``, ``ReplayOptions`` or ``LocalOptions``. A key or base URL that is
            not given is read from the environment: ``OPENAI_API_KEY``, ``OPENAI_BASE_URL``,
            ``ANTHROPIC_API_KEY``, ``ANTHROPIC_BASE_URL``.

    Raises:
        ConfigurationError: No such kind of model, no such option, no key for the provider's own server, or no
            such recording.
        ModelError: The weights of the embedded model are not there.
    """
    kind, _, rest = spec.partition(":")
    if kind in _PROVIDERS and rest:
        return _hosted(_PROVIDERS[kind], rest, options)
    if kind == "local":
        return _local(rest, options)
    if kind == "replay" and rest:
        return ReplayModel(find_recordings(rest), _options(ReplayOptions, options))
    forms = ", ".join([*(f"{name}:MODEL" for name in _PROVIDERS), "replay:FILE", "local", "local:FILE.gguf"])
    raise ConfigurationError(f"a model is named by one of {forms}", got=spec)


def _hosted(provider: _Provider, name: str, given: Mapping[str, Any]) -> Model:
    # The only file that needs the network's libraries, which a run without a hosted model never loads.
    from ._hosted import HostedModel, HostedOptions  # noqa: PLC0415 - the door of the network

    options = _options(HostedOptions, given)
    key = (options.api_key or os.environ.get(f"{provider.variables}_API_KEY", "")).strip()
    url = options.base_url or os.environ.get(f"{provider.variables}_BASE_URL") or provider.base_url
    if not key and url == provider.base_url:
        raise ConfigurationError(
            f"no key: set {provider.variables}_API_KEY or give api_key=, or the base_url= of one without",
            model=name,
        )
    headers = {
        **_ALWAYS.get(provider.dialect, {}),
        **(provider.headers(key) if key else {}),
        **options.headers,
    }
    return HostedModel(name, provider.dialect, replace(options, api_key=key, base_url=url, headers=headers))


def _local(path: str, options: Mapping[str, Any]) -> Model:
    try:
        # The only file that needs NumPy, which only users of local models have.
        from ._local import LocalModel, LocalOptions  # noqa: PLC0415 - the door of an extra
    except ImportError as problem:
        raise ConfigurationError("the embedded model needs NumPy: pip install 'callgate[local]'") from problem
    return LocalModel(_options(LocalOptions, {**({"path": path} if path else {}), **options}))


def _options(kind: type[Options], given: Mapping[str, Any]) -> Options:
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type] # the three are dataclasses
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            mend = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise ConfigurationError(f"no such option; {mend}", option=name)
    return kind(**given)
