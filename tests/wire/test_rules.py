"""The rows of rules name keywords and formats that exist, and the limits that the providers publish."""

import pytest

from callgate.schema import ANNOTATIONS, LIST, ONE, TABLE
from callgate.wire._lower import Rules
from callgate.wire._rules import ANTHROPIC, ANY, OPENAI

PLAIN = (
    "type enum const required dependentRequired multipleOf minimum maximum exclusiveMinimum exclusiveMaximum "
    "minLength maxLength pattern format minItems maxItems uniqueItems minProperties maxProperties $ref"
)


@pytest.mark.parametrize("rules", [OPENAI, ANTHROPIC, ANY])
def test_a_row_names_keywords_of_json_schema_only(rules: Rules) -> None:
    known = {*PLAIN.split(), *ANNOTATIONS, *LIST, *ONE, *TABLE}
    assert (rules.keywords or set()) <= known
    assert rules.strict is None or rules.strict.keywords <= known


def test_the_strict_form_of_openai_has_the_published_limits() -> None:
    strict = OPENAI.strict
    assert strict is not None
    assert (strict.properties, strict.levels, strict.listed, strict.letters) == (5_000, 10, 1_000, 120_000)
    assert strict.keywords.isdisjoint(
        {"allOf", "oneOf", "not", "if", "minLength", "default", "patternProperties"}
    )


def test_only_a_model_that_reads_schemas_as_text_takes_any_top() -> None:
    assert [rules.plain_top for rules in (OPENAI, ANTHROPIC, ANY)] == [True, True, False]
