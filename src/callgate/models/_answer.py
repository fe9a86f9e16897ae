"""What a model's server says when it does not reply: its error, whether to ask again, and when.

In: status, headers and body of an HTTP response. Out: plain values. Promise: never raises on what a server
sends.

Retry-After: RFC 9110 section 10.2.3. Which statuses pass: RFC 9110 section 15; the makers of the large
services add ``x-should-retry`` and ``retry-after-ms``, and 529 for an overloaded server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

_PASSING: Final = frozenset({408, 409, 429})
"""Client errors that the same request may outlive: timeout, conflict, too many requests. So may every 5xx."""
_FINAL_KINDS: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Error types that come with 429 and that no waiting mends."""
_NUMBER: Final = re.compile(r"\d{1,9}(\.\d{1,9})?")


def error_in(body: bytes) -> tuple[str, str]:
    """The error's type and message, from the shapes servers use; a body that is no JSON is the message."""
    text = body.decode("utf-8", "replace").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "", "" if text.startswith("<") else text
    # Some servers wrap the object in an array.
    if isinstance(value, list) and value:
        value = value[0]
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        return "", error if isinstance(error, str) else text
    kind = _text(error, "type", "code", "status")
    return kind, _text(error, "message", "detail", "msg") or text


def may_pass(status: int, headers: Mapping[str, str], kind: str) -> bool:
    """Whether the same request may succeed a little later."""
    told = headers.get("x-should-retry")
    if told in {"true", "false"}:
        return told == "true"
    return status >= 500 or (status in _PASSING and kind not in _FINAL_KINDS)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds the server asks to wait, if it does.

    A date is measured against the server's own clock where it tells it (``Date``), else against ``now`` (Unix
    seconds).
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    asked = headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(asked):
        return float(asked)
    then, there = _date(asked), _date(headers.get("date", ""))
    return None if then is None else max(0.0, then - (now if there is None else there))


def _text(error: dict[str, Any], *names: str) -> str:
    return next((said for name in names if isinstance(said := error.get(name), str) and said), "")


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
