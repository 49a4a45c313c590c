"""The kept figures of two runs: one row a pair, true only while neither run was scored again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from scoring.models import Comparison, Dataset, Run
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{}])
    return run_with(version, {"close": [1.0]}), run_with(version, {"close": [0.0]}, name="w47")


@pytest.fixture
def kept(runs: tuple[Run, Run]) -> Comparison:
    finished = [run.finished_at for run in runs]
    assert finished[0]
    assert finished[1]
    return Comparison.objects.create(
        baseline=runs[0],
        candidate=runs[1],
        baseline_finished_at=finished[0],
        candidate_finished_at=finished[1],
    )


def test_it_is_current_until_a_run_ends_anew(kept: Comparison) -> None:
    assert str(kept) == "w46 → w47"
    assert list(Comparison.objects.current()) == [kept]
    for run in (kept.baseline, kept.candidate):
        runs, before = Run.objects.filter(pk=run.pk), run.finished_at
        runs.update(finished_at=timezone.now() + timedelta(seconds=1))
        assert not Comparison.objects.current()
        runs.update(finished_at=before)
    assert list(Comparison.objects.current()) == [kept]
    Run.objects.filter(pk=kept.candidate.pk).update(finished_at=None)  # it is being scored again
    assert not Comparison.objects.current()


def test_two_runs_are_kept_once_each_way_round(kept: Comparison) -> None:
    times = {
        "baseline_finished_at": kept.baseline_finished_at,
        "candidate_finished_at": kept.candidate_finished_at,
    }
    with pytest.raises(IntegrityError), transaction.atomic():
        Comparison.objects.create(baseline=kept.baseline, candidate=kept.candidate, **times)
    Comparison.objects.create(baseline=kept.candidate, candidate=kept.baseline, **times)


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_it_goes_with_either_run(kept: Comparison, side: str) -> None:
    getattr(kept, side).delete()
    assert not Comparison.objects.exists()
    assert Dataset.objects.exists()
