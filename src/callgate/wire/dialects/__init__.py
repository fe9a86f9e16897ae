"""The dialects callgate speaks: name → how it is read, and how it is written."""

from typing import Final

from callgate.wire._dialect import Decoding
from callgate.wire._writing import Writing

from . import (
    _anthropic,
    _anthropic_request,
    _json_mode,
    _json_mode_request,
    _openai_chat,
    _openai_chat_request,
    _openai_responses,
    _openai_responses_request,
)

DIALECTS: Final[dict[str, Decoding]] = {
    "openai-chat": _openai_chat.DECODING,
    "openai-responses": _openai_responses.DECODING,
    "anthropic": _anthropic.DECODING,
    "json-mode": _json_mode.DECODING,
}

WRITINGS: Final[dict[str, Writing]] = {
    "openai-chat": _openai_chat_request.WRITING,
    "openai-responses": _openai_responses_request.WRITING,
    "anthropic": _anthropic_request.WRITING,
    "json-mode": _json_mode_request.WRITING,
}

__all__ = ["DIALECTS", "WRITINGS"]
