"""Names of tools: what may be one, and which two look alike.

In: names. Out: a form that is equal for names that a person or a model would take for one another. Promise: case, width, accents' composition,
separators and the common Cyrillic and Greek doubles make no difference.

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
_DOUBLES: Final = str.maketrans(
    "аеорсухіјѕһԁԛԝкмтвнᴦαορνκιτυ" + "ıſ" + "0" + "1" + "|",
    "aeopcyxijshdqwkmtbhrаopvkitu".replace("а", "a") + "is" + "o" + "l" + "l",
)


def check_name(name: str) -> None:
    """Refuse what cannot be a name anywhere.

    Raises:
        ToolDeclarationError: It is empty, has blanks or control characters, or is longer than MCP allows (128).
    """
    if not name or len(name) > 2 * LONGEST or _UNUSABLE.search(name):
        message = "a tool's name is 1 to 128 characters without blanks"
        raise ToolDeclarationError(message, tool=name)


def looks(name: str) -> str:
    """What a name looks like; two tools may not look the same."""
    folded = unicodedata.normalize("NFKC", name).casefold().translate(_DOUBLES)
    return re.sub(r"[-_.]+", "_", "".join(c for c in folded if not unicodedata.category(c).startswith("C")))
