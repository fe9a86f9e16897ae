"""Options of a tool: known words only."""

import pytest

from callgate.errors import ToolDeclarationError
from callgate.tools import ToolOptions


def test_a_word_that_is_no_option_is_refused_with_the_nearest() -> None:
    with pytest.raises(ToolDeclarationError) as refused:
        ToolOptions().but(idempotant=True)
    assert refused.value.facts == {"option": "idempotant", "mend": "did you mean 'idempotent'?"}
    with pytest.raises(ToolDeclarationError, match="no option"):
        ToolOptions().but(zzz=1)


def test_the_rest_stays_as_it_was() -> None:
    options = ToolOptions(name="x", tags=("a",)).but(name="y")
    assert (options.name, options.tags) == ("y", ("a",))
