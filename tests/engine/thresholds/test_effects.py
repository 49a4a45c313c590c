"""What a preview says of gates and comparisons is what a run judged by these thresholds says."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from scoring.engine.compare.gates import GateLimits, check_gates, parse_gate
from scoring.engine.thresholds.effects import ThresholdEffects, preview_effects
from scoring.models import Baseline, DatasetVersion, Run, Scorer
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given
from tests.support.suite_runs import suite_run

pytestmark = pytest.mark.django_db

GATES = [parse_gate(text) for text in ("pass_rate>=0.6", "regressions<=3", "no_regression")]
LIMITS = GateLimits(max_unjudged=1.0, drop=0.5)
CHOICES: list[Given] = ["error", "skip", *(n / 8 for n in range(9))]


def some_scores(random: Random, number: int) -> dict[str, list[Given]]:
    return {name: random.choices(CHOICES, k=number) for name in ("close", "same", "third")}


def two_runs(
    version: DatasetVersion,
    scores: list[dict[str, list[Given]]],
    trials: int,
    **more: Any,
) -> Run:
    """The second of two runs of one series."""
    for name, of_run in zip(("w45", "w46"), scores, strict=True):
        run = suite_run(version, of_run, name=name, trials=trials, **more)
    return run


def effects_of(run: Run, thresholds: dict[str, float]) -> ThresholdEffects:
    pks = {s.name: s.pk for s in Scorer.objects.filter(name__in=thresholds)}
    return preview_effects(run, {pks[name]: new for name, new in thresholds.items()}, GATES, LIMITS)


@pytest.mark.parametrize("trials", [1, 3])
def test_effects_are_those_of_runs_judged_by_the_new_thresholds(
    make_dataset: MakeDataset, trials: int
) -> None:
    random = Random(5)
    version = make_dataset([{}] * 60)
    scores = [some_scores(random, 60 * trials) for _ in range(2)]
    run = two_runs(version, scores, trials)
    changed = 0
    for _ in range(6):
        new = {"close": random.choice([0.0, 0.375, random.random()]), "third": random.random()}
        found = effects_of(run, new)
        again = two_runs(version, scores, trials, thresholds=new)
        before, after = found.verdicts
        assert before == run.verdict_counts
        assert after == again.verdict_counts
        assert found.baseline is not None
        assert found.regressions is not None
        own, later = (check_gates(each, baseline, GATES, LIMITS) for each, baseline in (
            (run, Run.objects.earliest("pk")), (again, Run.objects.order_by("-pk")[1]),
        ))  # fmt: skip
        for effect, stored, judged in zip(found.gates, own.outcomes, later.outcomes, strict=True):
            assert effect.before[:3] == stored[:3]
            assert effect.after[:3] == judged[:3]
            changed += effect.differs
        assert found.regressions[1]._replace(warnings=(), flips=None) == (
            later.regressions._replace(warnings=(), flips=None)
        )
        Run.objects.filter(pk__gt=run.pk).delete()
    assert changed


def test_a_run_without_a_baseline_has_no_comparison(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}] * 2), {"close": [0.6, 0.9]})
    found = effects_of(run, {"close": 0.7})
    assert (found.baseline, found.regressions, found.sentence) == (None, None, "")
    assert found.pass_rates == (1.0, 0.5)
    assert [effect.after.state for effect in found.gates] == ["failed", "passed", "passed"]


def test_a_baseline_that_is_being_retried_is_not_compared_with(make_dataset: MakeDataset) -> None:
    version = make_dataset([{}] * 2)
    run = two_runs(version, [{"close": [0.9, 0.9]}, {"close": [0.6, 0.9]}], 1)
    Baseline.objects.pin(Run.objects.earliest("pk"), by=None)
    assert effects_of(run, {"close": 0.7}).baseline is not None
    Run.objects.filter(name="w45").update(state="running")
    found = effects_of(run, {"close": 0.7})
    assert (found.baseline, found.regressions, found.sentence) == (None, None, "")


def test_a_sentence_says_what_becomes_of_the_comparison(make_dataset: MakeDataset) -> None:
    version = make_dataset([{}] * 20)
    scores: list[dict[str, list[Given]]] = [{"close": [0.9] * 20}, {"close": [0.7] * 20}]
    run = two_runs(version, scores, 1)
    assert effects_of(run, {"close": 0.8}).sentence == (
        "Against w45, 0 broke and 0 were fixed as scored; 20 would have broken and 0 would be "
        "fixed. That would be a statistically significant drop."
    )
    assert effects_of(run, {"close": 0.6}).sentence == (
        "Against w45, 0 broke and 0 were fixed as scored, and nothing changes."
    )
