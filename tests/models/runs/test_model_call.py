"""Who paid for a call, and the band within which a judge's noise lies."""

from __future__ import annotations

from math import sqrt

import pytest

from scoring.core.stats.descriptive import t_quantile
from scoring.models import JudgeVariance, ModelCall, Run
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    return run_with(make_dataset([{}]), {"close": [1.0]})


def test_a_run_pays_for_its_own_calls_alone(run: Run) -> None:
    for each in (run, None):
        ModelCall.objects.create(team=run.team, run=each, purpose="judge", model="m")
    assert [call.run for call in ModelCall.objects.paid_by(run)] == [run]


@pytest.mark.parametrize(("n", "count"), [(2, 1), (9, 300)])
def test_a_band_narrows_with_the_outputs_and_not_with_the_check(n: int, count: int) -> None:
    wanted = t_quantile(n - 1) * 0.1 / sqrt(count)
    assert JudgeVariance(n=n, deviation=0.1).band_for(count) == wanted


def test_the_newest_check_with_a_band_counts(run: Run) -> None:
    version = run.scorers.get().version
    for band in (0.1, 0.2, None):
        JudgeVariance.objects.create(run=run, version=version, band=band)
    latest = JudgeVariance.objects.latest_for(version)
    assert latest is not None
    assert latest.band == 0.2
