"""Bound scorers: thresholds, verdicts, reasons, rounding, and cases that go wrong."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from scoring.core.config import Config
from scoring.core.configured import (
    ConfiguredScorer,
    apply_threshold,
    configure_scorer,
    read_threshold,
)
from scoring.core.contract import (
    Case,
    ConfigError,
    Result,
    ServiceError,
    error,
    forced_fail,
    scored,
    skipped,
)
from scoring.core.registry import ScorerType
from tests.support.scoring import refused

Score = Callable[[Sequence[Case], Config], list[Result]]


def _bound(score: Score, threshold: float = 0.5, decimals: int | None = 9) -> ConfiguredScorer:
    made = ScorerType("made", "", "", Config, score, 0.5, decimals=decimals)
    return ConfiguredScorer(made, Config(), threshold)


def _giving(*results: Result) -> ConfiguredScorer:
    return _bound(lambda cases, _: list(results))


@pytest.mark.parametrize(
    ("config", "explicit", "threshold"),
    [
        ({}, None, 0.7),
        ({"threshold": 0.9}, None, 0.9),
        ({"threshold": 0.9}, 0.4, 0.4),
        ({"threshold": 0}, None, 0.0),
        ({"threshold": None}, None, 0.7),
        ({}, 0, 0.0),
        ({}, 1, 1.0),
    ],
)
def test_an_explicit_threshold_wins_over_the_configs_over_the_types(
    config: dict[str, Any], explicit: float | None, threshold: float
) -> None:
    assert configure_scorer("levenshtein", config, explicit).threshold == threshold


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf, "0.5", True, [], 10**400])
def test_a_threshold_outside_0_to_1_is_a_config_error(value: Any) -> None:
    assert refused("levenshtein", {}, value) == {"threshold": ["must be a number from 0 to 1"]}
    assert "threshold" in refused("levenshtein", {"threshold": value})


def test_a_missing_threshold_is_not_one() -> None:
    with pytest.raises(ConfigError):
        read_threshold(None)


@pytest.mark.parametrize("config", [None, [], "x", 5])
def test_a_config_that_is_no_object_is_refused(config: Any) -> None:
    assert refused("levenshtein", config) == {"config": ["must be an object"]}


def test_an_unknown_key_beside_threshold_is_refused() -> None:
    errors = refused("levenshtein", {"threshold": 0.5, "tresholt": 0.5})
    assert errors == {"tresholt": ["is not a setting of this scorer"]}


@pytest.mark.parametrize(
    ("score", "threshold", "verdict"),
    [
        (0.7, 0.7, "pass"),
        (0.1 + 0.6, 0.7, "pass"),  # 0.7 less float noise
        (0.6999999994, 0.7, "fail"),
        (0.6999999995, 0.7, "pass"),  # half up at the ninth decimal
        (2 / 3, 2 / 3, "pass"),
        (0.0, 0.0, "pass"),
        (1.0, 1.0, "pass"),
        (1.0000000000000002, 1.0, "pass"),
        (-1e-17, 0.0, "pass"),
    ],
)
def test_the_reported_score_is_compared(score: float, threshold: float, verdict: str) -> None:
    (result,) = _bound(lambda *_: [scored(score)], threshold).score([Case("x")])
    assert result.verdict == verdict
    assert result.score is not None
    assert 0 <= result.score <= 1
    assert result.score == pytest.approx(score, abs=5.1e-10)


def test_types_that_round_by_themselves_keep_their_scores() -> None:
    (result,) = _bound(lambda *_: [scored(1 / 3)], decimals=None).score([Case("x")])
    assert result.score == 1 / 3


def test_a_fail_without_a_reason_of_its_own_gets_one() -> None:
    (result,) = _giving(scored(0.42)).score([Case("x")])
    assert result == Result("scored", 0.42, "fail", "0.42 is below the threshold 0.5", {})


def test_a_plain_pass_needs_no_reason() -> None:
    (result,) = _giving(scored(0.6)).score([Case("x")])
    assert result.reason == ""


def test_a_reason_of_the_type_is_kept() -> None:
    results = _giving(scored(0.4, "too short"), scored(0.6, "nearly")).score([Case("x"), Case("y")])
    assert [result.reason for result in results] == ["too short", "nearly"]


@pytest.mark.parametrize("score", [1.1, -0.1, math.nan, math.inf, -math.inf])
def test_a_score_outside_0_to_1_is_an_error_of_that_case_only(score: float) -> None:
    bad, good = _giving(scored(score), scored(1.0)).score([Case("x"), Case("y")])
    assert (bad.status, bad.score, bad.verdict, bad.code) == (
        "error",
        None,
        None,
        "score_out_of_range",
    )
    assert good.verdict == "pass"


@pytest.mark.parametrize("name", ["exact_match", "levenshtein", "json_similarity", "numeric"])
def test_an_output_that_failed_is_an_error_and_never_scored(name: str) -> None:
    results = configure_scorer(name).score(
        [Case("1", "1"), Case("", "1", failure="timed out"), Case("1", "1")]
    )
    assert [result.status for result in results] == ["scored", "error", "scored"]
    assert results[1].code == "no_output"
    assert results[1].reason == "no output: timed out"


@pytest.mark.parametrize(
    ("before", "threshold", "verdict", "reason"),
    [
        (Result("scored", 0.6, "pass", "", {}), 0.7, "fail", "0.6 is below the threshold 0.7"),
        (Result("scored", 0.6, "fail", "0.6 is below the threshold 0.7", {}), 0.5, "pass", ""),
        (
            Result("scored", 0.6, "fail", "0.6 is below the threshold 0.7", {}),
            0.8,
            "fail",
            "0.6 is below the threshold 0.8",
        ),
        (Result("scored", 0.6, "fail", "own reason", {}), 0.5, "pass", "own reason"),
        (Result("scored", 0.6, "pass", "own reason", {}), 0.9, "fail", "own reason"),
    ],
)
def test_a_stored_result_is_judged_again_without_scoring(
    before: Result, threshold: float, verdict: str, reason: str
) -> None:
    after = apply_threshold(before, threshold)
    assert (after.score, after.verdict, after.reason) == (before.score, verdict, reason)


@pytest.mark.parametrize(
    "result",
    [forced_fail("expected_missing", "no expected output"), error("x", "y"), skipped("x", "y")],
)
def test_no_threshold_changes_a_forced_fail_an_error_or_a_skip(result: Result) -> None:
    assert apply_threshold(result, 0.0) == result
    assert _bound(lambda *_: [result], threshold=0.0).score([Case("x")]) == [result]


def test_judging_again_equals_scoring_under_that_threshold() -> None:
    cases = [Case(f"case {n}", "case 5") for n in range(10)] + [Case("x"), Case("", failure="f")]
    for threshold in (0.0, 0.5, 0.83, 0.84, 1.0):
        again = [
            apply_threshold(result, threshold)
            for result in configure_scorer("levenshtein").score(cases)
        ]
        assert again == configure_scorer("levenshtein", {}, threshold).score(cases)


def _explodes_on(bad: str) -> Score:
    def score(cases: Sequence[Case], _: Config) -> list[Result]:
        if any(case.output == bad for case in cases):
            raise RuntimeError("boom")
        return [scored(1.0) for _ in cases]

    return score


def test_a_bug_in_one_case_does_not_sink_the_batch() -> None:
    results = _bound(_explodes_on("b")).score([Case("a"), Case("b"), Case("c")])
    assert [result.status for result in results] == ["scored", "error", "scored"]
    assert results[1].code == "scorer_failed"
    assert results[1].reason == "RuntimeError: boom"


def test_a_scorer_that_loses_results_is_asked_case_by_case() -> None:
    results = _bound(lambda cases, _: [scored(1.0)]).score([Case("a"), Case("b")])
    assert [result.score for result in results] == [1.0, 1.0]


def test_a_service_that_does_not_answer_is_for_the_caller() -> None:
    def score(*_: Any) -> list[Result]:
        raise ServiceError("refused", retry=True)

    with pytest.raises(ServiceError):
        _bound(score).score([Case("a")])


def test_no_cases_give_no_results() -> None:
    assert configure_scorer("levenshtein").score([]) == []


def test_a_bound_scorer_travels_to_another_process() -> None:
    bound = configure_scorer("includes", {"values": ["a"], "threshold": 0.4})
    copy = pickle.loads(pickle.dumps(bound))
    assert copy == bound
    assert copy.score([Case("abc")]) == bound.score([Case("abc")])
