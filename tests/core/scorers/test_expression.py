"""The expression scorer: the variables of a case, and which values are scores."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.scoring import one


@pytest.mark.parametrize(
    ("source", "score"),
    [
        ("true", 1.0),
        ("false", 0.0),
        ("0.25", 0.25),
        ("1", 1.0),
        ("size(output) > 5 ? 1.0 : 0.5", 1.0),
        ("output == '{\"a\":0.5}'", 1.0),
        ("output_json.a", 0.5),
        ("input.question == 'q' && expected == 5", 1.0),
        ("metadata.lang == 'en' ? 0.75 : 0.0", 0.75),
        ("has(metadata.missing)", 0.0),
        ("references == ['b', '{\"a\": 1}'] && size(references) == 2", 1.0),
    ],
)
def test_the_variables_of_a_case(source: str, score: float) -> None:
    case: dict[str, Any] = {
        "input": {"question": "q"},
        "metadata": {"lang": "en"},
        "references": ("b", '{"a": 1}'),
    }
    assert one("expression", {"a": 0.5}, 5, {"expression": source}, **case).score == score


def test_a_target_key_selects_from_the_references() -> None:
    config = {"expression": "references == [1, 'text']", "target_output_key": "a"}
    references = ('{"a": 1}', "text", '{"b": 1}')
    assert one("expression", {"a": 2}, None, config, references=references).score == 1.0
    assert one("expression", {"a": 2}, None, {"expression": "size(references) == 0"}).score == 1.0


@pytest.mark.parametrize(
    ("source", "code", "reason"),
    [
        ("2", "score_out_of_range", "2 is not between 0 and 1"),
        ("-0.1", "score_out_of_range", "-0.1 is not between 0 and 1"),
        ("output", "not_a_score", "the expression gives str, not a number or boolean"),
        ("null", "not_a_score", "the expression gives null, not a number or boolean"),
        ("[1]", "not_a_score", "the expression gives list, not a number or boolean"),
    ],
)
def test_what_is_no_score_is_an_error(source: str, code: str, reason: str) -> None:
    result = one("expression", "x", None, {"expression": source})
    assert (result.status, result.code, result.reason) == ("error", code, reason)


def test_an_output_that_is_no_json_fails_only_where_its_json_is_asked_for() -> None:
    asked = one("expression", "prose", None, {"expression": "output_json.a == 1", "threshold": 0})
    assert (asked.score, asked.verdict, asked.code) == (0.0, "fail", "invalid_json")
    assert one("expression", "prose", None, {"expression": "output == 'prose'"}).score == 1.0
    lazy = {"expression": "output == 'prose' || output_json.a == 1"}
    assert one("expression", "prose", None, lazy).score == 1.0


def test_a_limit_is_an_error_of_the_case() -> None:
    result = one("expression", "a" * 100_001, None, {"expression": "size(output) > 1"})
    assert (result.status, result.code) == ("error", "too_large")
