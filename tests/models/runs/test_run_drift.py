"""Stored drift figures: which hold, and what they say without reading rows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from scoring.core.stats.flips import FlipCounts
from scoring.models import Run, RunDrift
from scoring.models.runs.run_drift import CountedStep, RunStep, counted_steps, steps_into
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

NOW = timezone.now()
RUN, AGAIN = Run(finished_at=NOW), Run(finished_at=NOW + timedelta(hours=1))


@pytest.mark.parametrize(
    ("before", "after", "scorers", "holds"),
    [
        (RUN, RUN, {}, True),
        (RUN, RUN, None, False),
        (AGAIN, RUN, {}, False),
        (RUN, AGAIN, {}, False),
    ],
)
def test_a_step_holds_while_neither_run_is_scored_again(
    before: Run, after: Run, scorers: dict[str, Any] | None, holds: bool
) -> None:
    step = RunStep(before_finished_at=NOW, after_finished_at=NOW, scorers=scorers)
    assert step.holds_for(before, after) == holds


@pytest.mark.parametrize("kind", [CountedStep, RunStep])
def test_a_scorer_that_one_run_lacks_has_no_flips(kind: Any) -> None:
    step = kind(pairs=9, fixed=1, broke=2, scorers={"close": [8, 0, 3]})
    assert step.flips == FlipCounts(9, 1, 2)
    assert step.flips_of("close") == FlipCounts(8, 0, 3)
    assert step.flips_of("tone") == FlipCounts(0, 0, 0)


@pytest.mark.parametrize(
    ("sampled", "distinct", "commonest", "share", "is_same"),
    [(0, 0, None, None, False), (10, 5, 6, 0.5, False), (100, 2, 99, 0.02, True)],
)
def test_texts_are_told_to_be_one_where_nearly_all_are(
    sampled: int, distinct: int, commonest: int | None, share: float | None, is_same: bool
) -> None:
    drift = RunDrift(sampled=sampled, distinct=distinct, commonest=commonest)
    assert drift.distinct_share == share
    assert bool(drift.same_text) == is_same


def test_of_stored_steps_only_those_that_hold_are_counted(make_dataset: MakeDataset) -> None:
    version = make_dataset([{}])
    one, two = (run_with(version, {"close": [1.0]}, name=name) for name in ("w1", "w2"))
    Run.objects.update(finished_at=NOW)
    times = {"before_finished_at": NOW, "after_finished_at": NOW}
    RunStep.objects.create(before=one, after=two, pairs=1, fixed=0, broke=0, scorers={}, **times)
    pair = (one.pk, two.pk)
    assert list(steps_into([one, two])) == [pair]
    assert counted_steps([two.pk]) == {pair: CountedStep(1, 0, 0, {})}
    Run.objects.filter(pk=one.pk).update(finished_at=NOW + timedelta(hours=1))
    assert list(steps_into([two])) == [pair]
    assert counted_steps([two.pk]) == {}
