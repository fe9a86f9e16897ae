"""The dialects callgate speaks: name → how it is read and written."""

from typing import Final

from callgate.wire._dialect import Decoding

from . import _anthropic, _json_mode, _openai_chat, _openai_responses

DIALECTS: Final[dict[str, Decoding]] = {
    "openai-chat": _openai_chat.DECODING,
    "openai-responses": _openai_responses.DECODING,
    "anthropic": _anthropic.DECODING,
    "json-mode": _json_mode.DECODING,
}

__all__ = ["DIALECTS"]
