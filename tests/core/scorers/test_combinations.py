"""all, any and weighted: merging, nesting, and children that go wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.contract import Result, scored
from scoring.core.custom import custom_type
from scoring.core.registry import CUSTOM_TYPES, register
from tests.support.scoring import one, refused


def _fixed(output: str, *, score: float, reason: str = "") -> Result:
    """Gives the score its config names."""
    return scored(score, reason)


@pytest.fixture(autouse=True)
def fixed_type() -> Iterator[None]:
    register(custom_type("fixed", _fixed))
    yield
    del CUSTOM_TYPES["fixed"]


def _of(*scores: float, **weights: float) -> dict[str, Any]:
    children: list[dict[str, Any]]
    children = [{"type": "fixed", "config": {"score": score}} for score in scores]
    for child, weight in zip(children, weights.values(), strict=False):
        child["weight"] = weight
    return {"scorers": children}


@pytest.mark.parametrize(
    ("name", "config", "score"),
    [
        ("all", _of(0.3, 0.3), 0.3),
        ("all", _of(0.9, 0.2, 0.5), 0.2),
        ("all", _of(1.0), 1.0),
        ("any", _of(0.0, 0.8), 0.8),
        ("any", _of(0.3, 0.7, 0.7), 0.7),
        ("any", _of(0.0), 0.0),
        ("weighted", _of(0.5, 1.0), 0.75),
        ("weighted", _of(1.0, 0.5, a=2, b=3), 0.7),
        ("weighted", _of(1.0, 0.0, a=1, b=3), 0.25),
        ("weighted", _of(0.1, 0.2, 0.3, a=0.1, b=0.1, c=0.1), 0.2),
        ("weighted", _of(1.0, a=0.001), 1.0),
        ("weighted", _of(1.0, 0.0, a=1e9, b=1e-300), 1.0),
    ],
)
def test_scores_merge(name: str, config: dict[str, Any], score: float) -> None:
    result = one(name, "x", "y", config)
    assert result.score == score
    assert result.verdict == ("pass" if score >= 0.5 else "fail")


@pytest.mark.parametrize(
    ("name", "output", "score"),
    [
        ("all", "5", 0.0),
        ("all", "4", 1.0),
        ("any", "It is 4.", 1.0),
        ("weighted", "It is 4.", 1 / 3),
    ],
)
def test_real_children_merge(name: str, output: str, score: float) -> None:
    config = {"scorers": [{"type": "exact_match", "weight": 2}, {"type": "includes"}]}
    assert one(name, output, "4", config).score == pytest.approx(score, abs=1e-9)


def test_all_joins_the_reasons_that_there_are() -> None:
    children = [
        {"type": "fixed", "config": {"score": 0.2, "reason": "too short"}},
        {"type": "fixed", "config": {"score": 1.0}},
        {"type": "fixed", "config": {"score": 0.9, "reason": "nearly"}},
        {"type": "fixed", "config": {"score": 0.1}},
    ]
    result = one("all", "x", "y", {"scorers": children})
    assert result.reason == "too short; nearly; 0.1 is below the threshold 0.5"


def test_any_gives_the_reason_of_the_best_child_and_of_the_first_on_a_tie() -> None:
    children = [
        {"type": "fixed", "config": {"score": 0.2, "reason": "low"}},
        {"type": "fixed", "config": {"score": 0.7, "reason": "first"}},
        {"type": "fixed", "config": {"score": 0.7, "reason": "second"}},
    ]
    assert one("any", "x", "y", {"scorers": children}).reason == "first"


def test_weighted_shows_its_arithmetic() -> None:
    children = [
        {"name": "accuracy", "type": "exact_match", "weight": 2},
        {"name": "grounding", "type": "includes", "weight": 1},
    ]
    result = one("weighted", "4", "4", {"scorers": children})
    assert result.reason == "accuracy: 1.00 (w=2), grounding: 1.00 (w=1)"


def test_the_metadata_holds_every_childs_result() -> None:
    children = [{"name": "near", "type": "levenshtein"}, {"type": "exact_match"}]
    assert one("any", "helo", "hello", {"scorers": children}).metadata == {
        "children": [
            {
                "name": "near",
                "status": "scored",
                "score": 0.8,
                "verdict": "pass",
                "metadata": {"distance": 1, "max_length": 5, "truncated": False},
            },
            {
                "name": "exact_match",
                "status": "scored",
                "score": 0.0,
                "verdict": "fail",
                "reason": 'expected "hello", got "helo"',
            },
        ]
    }


def test_children_are_judged_by_the_threshold_of_their_type() -> None:
    children = [{"type": "levenshtein"}, {"type": "exact_match"}]
    result = one("any", "customer service", "customer support", {"scorers": children})
    assert [child["verdict"] for child in result.metadata["children"]] == ["fail", "fail"]
    assert result.verdict == "pass"  # 0.63 against the combination's own 0.5


def test_the_metadata_of_a_usual_tree_stays_small() -> None:
    inner = {
        "scorers": [{"type": "levenshtein"}, {"type": "json_similarity"}, {"type": "includes"}]
    }
    config = {"scorers": [{"type": "exact_match"}, {"type": "any", "config": inner}]}
    expected = {f"key{n}": "value " * 50 for n in range(20)}
    result = one("all", json.dumps({"x": "y" * 5_000}), expected, config)
    assert len(json.dumps(result.metadata)) <= 1_000
    assert len(result.reason) <= 500


def test_a_child_that_errors_makes_the_combination_an_error_naming_it() -> None:
    children = [{"type": "exact_match"}, {"name": "number", "type": "numeric"}]
    for name in ("all", "any", "weighted"):
        result = one(name, "x", "no number", {"scorers": children})
        assert (result.status, result.score, result.code) == ("error", None, "child_failed")
        assert result.reason == 'number: expected: "no number" is not a number'


def test_a_skipped_child_is_left_out() -> None:
    children = [{"type": "json_similarity", "weight": 9}, {"type": "json_match"}]
    for name in ("all", "any", "weighted"):
        assert one(name, "{}", {}, {"scorers": children}).score == 1.0


def test_a_combination_of_skips_is_skipped() -> None:
    config = {"scorers": [{"type": "json_similarity"}, {"type": "json_similarity"}]}
    result = one("all", "{}", {}, config)
    assert (result.status, result.code) == ("skipped", "all_skipped")


def test_a_forced_fail_counts_as_zero() -> None:
    config = {"scorers": [{"type": "exact_match"}, {"type": "regex", "config": {"pattern": "x"}}]}
    assert one("all", "x", None, config).score == 0.0
    assert one("any", "x", None, config).score == 1.0
    assert one("weighted", "x", None, config).score == 0.5


def test_nothing_compared_passes_under_no_threshold() -> None:
    config = {"scorers": [{"type": "exact_match"}, {"type": "levenshtein"}], "threshold": 0}
    for name in ("all", "any", "weighted"):
        result = one(name, "x", None, config)
        assert (result.score, result.verdict, result.code) == (0.0, "fail", "expected_missing")


def test_an_output_that_failed_is_an_error() -> None:
    assert one("all", "", "x", _of(1.0), failure="timed out").code == "no_output"


def _nested(depth: int) -> dict[str, Any]:
    config: dict[str, Any] = {"scorers": [{"type": "exact_match"}]}
    for _ in range(depth - 1):
        config = {"scorers": [{"type": "all", "config": config}]}
    return config


def test_combinations_nest_to_depth_8() -> None:
    assert one("any", "x", "x", _nested(8)).score == 1.0
    assert refused("any", _nested(9)) == {"scorers": ["combinations nest deeper than 8"]}
    assert "nested deeper" in refused("any", _nested(40))["config"][0]


@pytest.mark.parametrize(
    ("config", "name", "text"),
    [
        ({}, "scorers", "is required"),
        ({"scorers": []}, "scorers", "must not be empty"),
        ({"scorers": {"type": "regex"}}, "scorers", "must be a list"),
        ({"scorers": [{}]}, "scorers[0].type", "is required"),
        ({"scorers": [{"type": "nope"}]}, "scorers[0].type", "is not a scorer type"),
        (
            {"scorers": [{"type": "exact_match", "weight": 0}]},
            "scorers[0].weight",
            "greater than 0",
        ),
        (
            {"scorers": [{"type": "exact_match", "weight": -1}]},
            "scorers[0].weight",
            "greater than 0",
        ),
        ({"scorers": [{"type": "exact_match", "weight": 1e10}]}, "scorers[0].weight", "less than"),
        ({"scorers": [{"type": "exact_match", "wieght": 1}]}, "scorers[0].wieght", "not a setting"),
        (
            {"scorers": [{"type": "regex", "config": {"pattern": "("}}]},
            "scorers[0].config.pattern",
            "not closed",
        ),
        (
            {
                "scorers": [
                    {"type": "exact_match"},
                    {"type": "levenshtein", "config": {"threshold": 1}},
                ]
            },
            "scorers[1].config.threshold",
            "is not a setting",
        ),
        (
            {"scorers": [{"type": "all", "config": {"scorers": [{"type": "nope"}]}}]},
            "scorers[0].config.scorers[0].type",
            "is not a scorer type",
        ),
        (
            {"scorers": [{"type": "exact_match", "name": "a"}, {"type": "includes", "name": "a"}]},
            "scorers",
            "two scorers are called 'a'",
        ),
        ({"scorers": [{"type": "exact_match"}] * 51}, "scorers", "at most 50"),
        ({**_of(1.0), "target_output_key": "a"}, "target_output_key", "is not a setting"),
    ],
)
def test_bad_configs_name_the_place(config: dict[str, Any], name: str, text: str) -> None:
    errors = refused("weighted", config)
    assert list(errors) == [name]
    assert text in errors[name][0]


def test_unnamed_children_of_one_type_are_numbered() -> None:
    children = [
        {"type": "includes"},
        {"name": "includes 2", "type": "regex", "config": {"pattern": "x"}},
    ]
    children += [{"type": "includes"}, {"type": "includes"}]
    result = one("all", "x", "x", {"scorers": children})
    names = [child["name"] for child in result.metadata["children"]]
    assert names == ["includes", "includes 2", "includes 3", "includes 4"]


SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=5)


@given(SCORES, st.lists(st.floats(0.01, 100), min_size=5, max_size=5))
def test_weighted_lies_between_all_and_any(scores: list[float], weights: list[float]) -> None:
    config = _of(*scores, **{f"w{n}": weight for n, weight in enumerate(weights)})
    low, middle, high = (one(name, "x", "y", config).score for name in ("all", "weighted", "any"))
    assert low is not None
    assert middle is not None
    assert high is not None
    assert low - 1e-9 <= middle <= high + 1e-9


def _told(output: str) -> Result:
    lists = {"few": [1, "two"], "many": list(range(6)), "long": ["x" * 21], "deep": [{"a": 1}]}
    return scored(1.0, "", {**lists, "number": 3, "object": {"a": 1}})


def test_a_childs_short_lists_stay_and_the_others_go() -> None:
    register(custom_type("told", _told))
    result = one("all", "x", "y", {"scorers": [{"type": "told"}]})
    del CUSTOM_TYPES["told"]
    assert result.metadata["children"][0]["metadata"] == {"few": [1, "two"], "number": 3}
