"""Names of tools: what may be one, and which two look alike.

In: names. Out: a form that is equal for names that a person or a model would take for one another. Promise:
case, width, accents' composition, separators and the common Cyrillic and Greek doubles make no difference.

Unicode UTS 39 section 4 (confusables) is the idea; the table here holds the letters of identifiers only.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from callgate.errors import ToolDeclarationError

LONGEST: Final = 64
"""Characters that every provider takes (OpenAI and Anthropic: 64)."""
PORTABLE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every provider takes as it is; other names are mapped on the way out."""
_UNUSABLE: Final = re.compile(r"[\s\x00-\x1f\x7f]")
# Letters that most fonts draw alike: Cyrillic, Greek, dotless and long Latin ones, and two digits.
_DOUBLES: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u043a\u043c\u0442\u0432\u043d"
    "\u03b1\u03bf\u03c1\u03bd\u03ba\u03b9\u03c4\u03c5\u0131\u017f01|",
    "aeopcyxijshdqwkmtbhaopvkituisoll",
)


def check_name(name: str) -> None:
    """Refuse what cannot be a name anywhere.

    Raises:
        ToolDeclarationError: It is empty, has blanks or control characters, or is longer than MCP allows
            (128).
    """
    if not name or len(name) > 2 * LONGEST or _UNUSABLE.search(name):
        message = "a tool's name is 1 to 128 characters without blanks"
        raise ToolDeclarationError(message, tool=name)


def looks(name: str) -> str:
    """What a name looks like; two tools may not look the same."""
    folded = unicodedata.normalize("NFKC", name).casefold().translate(_DOUBLES)
    return re.sub(r"[-_.]+", "_", "".join(c for c in folded if not unicodedata.category(c).startswith("C")))
