"""A tool result as the model reads it: one form for every dialect.

In: a ``ToolResult``. Out: text. Promise: the same result gives the same bytes; whatever the content is, the
status can be read off the text and is the true one; the text can always be encoded as UTF-8.

The form, line by line::

    status: ok | error | refused | not_run | unknown | pending
    code: <code>                                   } each of these lines stands only
    next step: <the code table's advice>           } where there is something to say
    finding: <code> at <pointer>; expected: …; mend: …; advice: …
    resource: <resource>
    version: <version>
    truncated: yes
    next: <unit> <start> to <end> of <total>
    handle: <handle>
    evidence: <id>
                                                    (an empty line)
    <content>

The header comes first and ends at the first empty line; every value in it is on one line, since line breaks
and other control characters are written as JSON escapes. So nothing in the content can add to the header, and
a reader that stops at the first line knows what happened. Content that is text stands as it is; any other
JSON value as JSON. Neither is ASCII-escaped. Content of ``null`` is no content, and without content there is
no empty line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from callgate.calls import CODES, Finding, Range, ToolResult

from ._loose import whole

# What may end a line, for str.splitlines as much as for a reader of Unicode; and what else moves a cursor.
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def render(result: ToolResult) -> str:
    """The text of a result, as the module describes it."""
    header = "\n".join(f"{name}: {_line(value)}" for name, value in _header(result))
    body = header if result.content is None else f"{header}\n\n{content_text(result.content)}"
    return whole(body)


def content_text(content: Any) -> str:
    """A JSON value as text: a string as it is, any other value as compact JSON."""
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def _header(result: ToolResult) -> Iterator[tuple[str, str]]:
    yield "status", result.status.value
    if result.code:
        yield "code", result.code
        # A finding of the same code gives the advice beside what it is about.
        if result.code in CODES and all(finding.code != result.code for finding in result.findings):
            yield "next step", CODES[result.code].advice
    for finding in result.findings:
        yield "finding", _finding(finding)
    for name in ("resource", "version"):
        if value := getattr(result, name):
            yield name, value
    if result.truncated:
        yield "truncated", "yes"
    if result.next_range is not None:
        yield "next", _range(result.next_range)
    for name in ("handle", "evidence"):
        if value := getattr(result, name):
            yield name, value


def _finding(finding: Finding) -> str:
    row = CODES.get(finding.code)
    told = (
        ("expected", finding.expected),
        ("mend", finding.mend),
        ("advice", row.advice if row else ""),
    )
    place = f" at {finding.where}" if finding.where else ""
    return finding.code + place + "".join(f"; {name}: {text}" for name, text in told if text)


def _range(part: Range) -> str:
    total = "" if part.total is None else f" of {part.total}"
    return f"{part.unit} {part.start} to {part.end}{total}"


def _line(value: str) -> str:
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", value)
