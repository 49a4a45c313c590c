"""JSON inside other text is offered where a scorer refused the output as no JSON."""

from __future__ import annotations

import pytest

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, Json
from scoring.core.explain.json_inside import find_json_inside

FENCED = 'Sure:\n```json\n{"a": 1}\n```'


@pytest.mark.parametrize(
    ("type_name", "config", "output", "where"),
    [
        ("json_match", {}, FENCED, "a fenced block"),
        ("json_similarity", {}, 'Here is {"a": 1}.', "the text"),
        ("json_schema", {}, FENCED, "a fenced block"),
        ("exact_match", {"target_output_key": "a"}, FENCED, "a fenced block"),
        ("json_match", {"extract": "json"}, FENCED, ""),
        ("json_match", {"extract": "last_number"}, FENCED, ""),
        ("json_match", {}, "no", ""),
        ("json_match", {}, '{"a": 2}', ""),
        ("exact_match", {}, FENCED, ""),
        ("expression", {"expression": "output_json.a == 1"}, FENCED, ""),
    ],
)
def test_what_is_offered(type_name: str, config: dict[str, Json], output: str, where: str) -> None:
    (result,) = configure_scorer(type_name, config).score([Case(output, {"a": 1})])
    assert find_json_inside(type_name, config, output, result.code) == where


def test_a_type_that_is_gone_offers_nothing() -> None:
    assert find_json_inside("gone", {}, FENCED, "invalid_json") == ""
