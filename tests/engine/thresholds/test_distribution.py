from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from pytest_django import DjangoAssertNumQueries

from scoring.core.stats.score_distribution import ScoreDistribution
from scoring.engine.runs.summaries import summarize_run
from scoring.engine.thresholds.distribution import read_distributions
from scoring.models import Run, RunScorer, Score, ScoreHistogram
from tests.conftest import MakeDataset
from tests.support.suite_runs import suite_run

pytestmark = pytest.mark.django_db


def scorers_of(*runs: Run) -> list[RunScorer]:
    return list(RunScorer.objects.filter(run__in=runs).select_related("run", "summary"))


def distribution_of(run: Run, *thresholds: float) -> ScoreDistribution:
    (scorer,) = scorers_of(run)
    return read_distributions([scorer], thresholds)[scorer.pk]


def test_the_pass_rate_at_the_threshold_of_a_run_is_its_own(make_dataset: MakeDataset) -> None:
    random = Random(7)
    choices = ["error", "skip", 0.0, *(n / 7 for n in range(8))]
    version = make_dataset([{}] * 80)
    for number in range(10):
        threshold = random.choice([0.0, 1.0, 3 / 7, random.random()])
        given = random.choices(choices, k=80)
        frozen = {"close": threshold}
        run = suite_run(version, {"close": given}, name=f"w{number}", thresholds=frozen)
        (scorer,) = scorers_of(run)
        distribution = distribution_of(run, threshold)
        assert distribution.scored == scorer.summary.scored
        assert distribution.pass_rate(threshold) == scorer.summary.pass_rate


def test_faults_fail_at_every_threshold(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}] * 3), {"close": [0, 0, 1]})
    Score.objects.filter(pk=Score.objects.earliest("pk").pk).update(code="invalid_json")
    summarize_run(run)
    distribution = distribution_of(run)
    assert [distribution.count_passed(t) for t in (0, 0.001, 1)] == [2, 1, 1]


def test_a_run_without_stored_counts_is_counted(make_dataset: MakeDataset) -> None:
    scores: Sequence[float] = [0.1, 0.5, 0.5001, 1]
    run = suite_run(make_dataset([{}] * 4), {"close": scores})
    stored = distribution_of(run, 0.50005)
    ScoreHistogram.objects.all().delete()
    assert distribution_of(run, 0.50005) == stored
    assert stored.count_passed(0.50005) == 2


@pytest.mark.parametrize(
    ("thresholds", "queries"), [((), 1), ((0.6, 0.601), 1), ((0.6, 1 / 3), 2), ((1 / 7, 1 / 3), 3)]
)
def test_the_number_of_runs_takes_no_more_queries(
    make_dataset: MakeDataset,
    django_assert_num_queries: DjangoAssertNumQueries,
    thresholds: tuple[float, ...],
    queries: int,
) -> None:
    version = make_dataset([{}] * 2)
    runs = [suite_run(version, {"close": [0.2, 0.6]}, name=f"w{n}") for n in range(5)]
    scorers = scorers_of(*runs)
    with django_assert_num_queries(queries):
        distributions = read_distributions(scorers, thresholds)
    assert [distributions[s.pk].count_passed(0.6) for s in scorers] == [1] * 5
