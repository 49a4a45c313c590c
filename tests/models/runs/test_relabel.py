from __future__ import annotations

from typing import Any

import pytest

from scoring.models import Relabel, Run, Score, Status, Verdict
from scoring.models.runs.relabel import attach_later_labels
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

RELABEL = Relabel(thresholds={"close": 0.7}, passed={"close": 1})


def scored(score: float, verdict: Verdict, code: str = "") -> Score:
    return Score(status=Status.SCORED, score=score, verdict=verdict, code=code)


@pytest.mark.parametrize(
    ("scorer", "score", "verdict"),
    [
        ("close", scored(0.7, Verdict.FAIL), Verdict.PASS),
        ("close", scored(0.69, Verdict.PASS), Verdict.FAIL),
        ("close", scored(0.0, Verdict.FAIL, "invalid_json"), Verdict.FAIL),
        ("same", scored(0.2, Verdict.PASS), Verdict.PASS),
        ("close", Score(status=Status.ERROR), None),
    ],
)
def test_a_score_is_compared_with_the_later_threshold(
    scorer: str, score: Score, verdict: Verdict | None
) -> None:
    assert RELABEL.verdict_of(scorer, score) == verdict


def test_a_forced_result_fails_at_threshold_0() -> None:
    forced = scored(0.0, Verdict.FAIL, "invalid_json")
    assert Relabel(thresholds={"close": 0.0}).verdict_of("close", forced) == Verdict.FAIL


def test_a_case_fails_where_any_scorer_fails_it() -> None:
    low, other = scored(0.5, Verdict.PASS), scored(1.0, Verdict.PASS)
    error, skip = Score(status=Status.ERROR), Score(status=Status.SKIPPED)
    assert RELABEL.case_verdict([("close", low), ("same", error)]) == Verdict.FAIL
    assert RELABEL.case_verdict([("same", other), ("close", error)]) == Verdict.ERROR
    assert RELABEL.case_verdict([("same", other), ("close", skip)]) == Verdict.PASS
    assert RELABEL.case_verdict([("close", skip)]) == Verdict.SKIPPED


def test_the_thresholds_are_said_in_words() -> None:
    assert Relabel(thresholds={"close": 0.7, "same": 1.0}).text == "close 0.7, same 1"


@pytest.mark.django_db
def test_the_latest_of_each_run_is_in_force(
    make_dataset: MakeDataset, django_assert_num_queries: Any
) -> None:
    version = make_dataset([{}])
    first, second, _ = (run_with(version, {"close": [1.0]}) for _ in range(3))
    counts = {"pass_count": 1, "fail_count": 0, "error_count": 0, "skipped_count": 0}
    made = [
        Relabel.objects.create(run=run, thresholds={"close": t}, passed={"close": 1}, **counts)
        for run, t in ((first, 0.1), (second, 0.2), (first, 0.3))
    ]
    assert list(Relabel.objects.in_force()) == [made[2], made[1]]
    runs = list(Run.objects.order_by("pk"))
    with django_assert_num_queries(0):
        attach_later_labels(runs)
    assert [run.later_labels for run in runs] == [None] * 3
    Run.objects.update(suite_name="release")
    runs = list(Run.objects.order_by("pk"))
    with django_assert_num_queries(1):
        attach_later_labels(runs)
    assert [run.later_labels for run in runs] == [made[2], made[1], None]
