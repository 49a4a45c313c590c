"""Stamps as rows: what they keep, and which ones are about a scorer over a dataset."""

from __future__ import annotations

import pytest

from scoring.core.stats.calibration import VerdictTable
from scoring.core.stats.gate_fitness import FitnessFigures
from scoring.models import ScorerStamp, Team, User
from tests.support.datasets import published_version
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.django_db


def test_stamps_are_found_by_scorer_and_dataset(team: Team, alice: User) -> None:
    figures = FitnessFigures(VerdictTable(50, 3, 3, 44), 0)
    runs = [
        run_with(published_version(team, [{"input": "q"}], name), {"close": [1.0], "far": [0.0]})
        for name in ("one", "other")
    ]
    first, second = runs[0].scorers.order_by("position")
    stamp = ScorerStamp.objects.give(first, figures, "gpt, claude", by=alice)
    later = ScorerStamp.objects.give(first, figures, "", by=alice)
    ScorerStamp.objects.give(runs[1].scorers.get(name="close"), figures, "", by=alice)
    dataset = runs[0].output_set.version.dataset_id
    assert list(ScorerStamp.objects.about([first, second], dataset)) == [later, stamp]
    assert not ScorerStamp.objects.about([second], dataset).exists()
    assert (stamp.fitness, stamp.labels, stamp.limit) == ("gating", 100, 0.6)
    assert stamp.judge_models == "gpt, claude"
    assert str(stamp).endswith(": gating")
