"""What the providers take of JSON Schema: one row a provider.

Sources: OpenAI, Structured Outputs, "Supported schemas" and the errors of the chat and responses endpoints;
Anthropic, Messages, "Tool use" and its errors. Where documentation and errors differ, the errors count: one
tool beyond the rules and the whole request is refused.
"""

from __future__ import annotations

from typing import Final

from callgate.schema import Strictness

from ._lower import Rules

OPENAI: Final = Rules(
    description_limit=1024,
    most_tools=128,
    strict=Strictness(
        keywords=frozenset(
            (
                *("type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "$ref"),
                *("title", "description", "pattern", "format", "multipleOf", "minItems", "maxItems"),
                *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
            )
        ),
        formats=frozenset(
            ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
        ),
        properties=5_000,
        levels=10,
        listed=1_000,
        letters=120_000,
    ),
)
"""Chat Completions and Responses. Without strict form any keyword is taken below a plain top."""

ANTHROPIC: Final = Rules(parameter_name=r"[a-zA-Z0-9_.-]{1,64}")
"""Messages. Any keyword of draft 2020-12 below a plain top; the names of the parameters are checked."""

ANY: Final = Rules(plain_top=False)
"""A model that reads schemas as text: nothing is refused."""
