"""Figures from attached rows equal those of the comparison, whatever the runs."""

from __future__ import annotations

import random
from typing import Any

import pytest

from scoring.engine.compare import comparison
from scoring.engine.compare import report as compare_report
from scoring.engine.reports.release_figures import compute_figures, compute_states, rows_digest
from scoring.engine.reports.release_report import build_release_report
from scoring.models import Review, Run, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given, run_with
from tests.support.waived_runs import waive

pytestmark = pytest.mark.django_db
CASES = 24


def scores(seed: int, count: int) -> list[Given]:
    chance = random.Random(seed)
    given: list[Given] = [0.0, 0.25, 0.5, 0.75, 1.0, "error", "skip"]
    return [chance.choice(given) for _ in range(count)]


def runs_of(make_dataset: MakeDataset, seed: int, trials: int) -> tuple[Run, Run]:
    """Two versions in another order, with tags, scorers of one run alone, and trials."""
    cases = [{"key": f"q{n:02}", "tags": ["even", "odd"][n % 2 :]} for n in range(CASES)]
    first = make_dataset(cases)
    second = first if seed % 2 else make_dataset(cases[::-1])
    count = CASES * trials
    old = run_with(
        first, {"close": scores(seed, count), "old": scores(seed + 1, count)}, trials=trials
    )
    own = {"close": scores(seed + 2, count), "new": scores(seed + 3, count)}
    return old, run_with(second, own, trials=trials)


def close(left: Any, right: Any) -> bool:
    return left == right or left == pytest.approx(right, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("trials", [1, 3])
def test_they_are_those_of_the_comparison(
    make_dataset: MakeDataset, seed: int, trials: int
) -> None:
    old, new = runs_of(make_dataset, seed * 10 + seed % 2, trials)
    rows = build_release_report(new, old, Review.objects.of_run(new))["rows"]
    found, wanted = (
        compute_figures(rows),
        compare_report.as_json(comparison.compute_figures(old, new)),
    )
    for name in ("pairs", "broke", "fixed", "unchanged", "unclear", "judged_in_neither"):
        assert found[name] == wanted[name], name
    for name in ("p", "p_corrected", "slices_p_corrected"):
        assert close(found[name], wanted[name]), name
    assert [each["name"] for each in found["scorers"]] == ["close"]
    for name in ("n", "means", "delta", "interval", "p", "p_corrected"):
        assert close(found["scorers"][0][name], wanted["scorers"][0][name]), name
    for name, value in found["scorers"][0]["flips"].items():
        assert close(value, wanted["scorers"][0]["flips"][name]), name
    for left, right in zip(found["slices"], wanted["slices"], strict=True):
        assert all(close(left[name], right[name]) for name in left)


def test_states_follow_from_rows_waivers_and_decisions(
    make_dataset: MakeDataset, alice: User
) -> None:
    version = make_dataset([{"key": key} for key in "abc"])
    old = run_with(version, {"close": [1.0] * 3})
    new = run_with(version, {"close": [0.0] * 3, "extra": [0.0, 1.0, 1.0]})
    for key in "ab":
        waive(new, key, "close", alice)
    report = build_release_report(new, old, Review.objects.of_run(new))
    assert compute_states(report) == {"open": 2, "accepted": 0, "rejected": 0, "waived": 1}


def test_the_digest_is_of_the_values_not_of_their_order() -> None:
    assert rows_digest({"a": [1], "b": 2}) == rows_digest({"b": 2, "a": [1]})
    assert rows_digest({"a": [1]}) != rows_digest({"a": [2]})
