"""Figures over cases where each has several trials."""

from __future__ import annotations

from statistics import variance

import pytest

from scoring.core.stats.trials import Bounds, ReducedScores
from scoring.models import Output, RunSummary
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.finished_runs import Given, run_with
from tests.support.fixtures.runs import MakeRun, MakeScorer, finish

pytestmark = pytest.mark.django_db

#: By case: the outputs of its three trials; `yes` is what is expected.
TRIALS = [("yes", "yes", "yes"), ("yes", "no", "no"), ("no", "no", "no"), ("yes", "no", None)]


@pytest.fixture
def summary(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, make_run: MakeRun, make_scorer: MakeScorer
) -> RunSummary:
    dataset = make_dataset([{"expected": "yes"}] * len(TRIALS))
    outputs = make_outputs(dataset, [texts[0] for texts in TRIALS])
    first = list(outputs.outputs.order_by("pk"))
    for trial in (1, 2):
        for output, texts in zip(first, TRIALS, strict=True):
            text = texts[trial]
            Output.objects.create(output_set=outputs, case=output.case, trial=trial, text=text)
    finish(make_run(outputs, make_scorer("exact_match")))
    return RunSummary.objects.get()


def test_each_case_counts_once_by_the_mean_of_its_trials(summary: RunSummary) -> None:
    assert (summary.n, summary.scored, summary.errors, summary.passed) == (4, 4, 0, 1)
    assert summary.mean == pytest.approx((1 + 1 / 3 + 0 + 1 / 2) / 4)
    assert summary.variance == pytest.approx(variance([1, 1 / 3, 0, 1 / 2]))
    assert summary.trials["outputs"] == {"n": 12, "scored": 11, "passed": 5}
    assert (summary.outputs_scored, summary.outputs_passed) == (11, 5)
    assert summary.error_causes == {"no_output": 1}


def test_the_run_counts_verdicts_of_cases_and_beside_them_of_outputs(summary: RunSummary) -> None:
    run = summary.scorer.run
    assert run.verdict_counts == {"pass": 1, "fail": 3, "error": 0, "skipped": 0}
    assert run.output_counts == {"pass": 5, "fail": 6, "error": 1, "skipped": 0}
    assert (run.case_count, run.output_count, run.expected_count) == (4, 12, 4)
    assert run.unjudged == pytest.approx(1 / 3)


def test_a_case_fails_where_it_fails_by_any_scorer(make_dataset: MakeDataset) -> None:
    """Whichever of them comes first."""
    scores: dict[str, list[Given]] = {
        "close": [1.0, 1.0, 0.0, 0.0, "error", "error", "skip", "skip"],
        "same": [0.0, 0.4, 1.0, 1.0, 1.0, 1.0, "skip", "skip"],
    }
    run = run_with(make_dataset([{}] * 4), scores, trials=2)
    assert run.verdict_counts == {"pass": 0, "fail": 2, "error": 1, "skipped": 1}


def test_a_trial_that_failed_to_run_is_unscored_by_its_share_of_the_case(
    summary: RunSummary,
) -> None:
    assert (summary.trials["lost"], summary.unscored) == (1, pytest.approx(1 / 3))
    bounds = {how: Bounds(**kept) for how, kept in summary.trials["bounds"].items()}
    assert bounds["mean"].mean == pytest.approx([(4 / 3 + 1 / 3) / 4, (4 / 3 + 2 / 3) / 4])
    assert list(bounds["min"].pass_rate) == [0.25, 0.25]
    assert (bounds["pass@3"].n, bounds["pass@3"].mean) == (4, None)
    assert list(bounds["pass@3"].pass_rate) == [0.75, 0.75]


def test_cases_whose_trials_disagree_are_counted(summary: RunSummary) -> None:
    assert (summary.trials["trials"], summary.trials["unsteady"]) == (3, 2)


FIGURES = [
    # over the scored trials of the four cases: 1, 1/3, 0 and 1/2
    ("mean", 4, 1 + 1 / 3 + 0 + 1 / 2, 1),
    ("median", 4, 1 + 0 + 0 + 0.5, 1),
    ("min", 4, 1.0, 1),
]


@pytest.mark.parametrize(("how", "n", "total", "passed"), FIGURES)
def test_trials_are_reduced_case_by_case(
    summary: RunSummary, how: str, n: int, total: float, passed: int
) -> None:
    figure = ReducedScores(**summary.trials[how])
    assert (figure.n, figure.passed) == (n, passed)
    assert figure.total == pytest.approx(total)


def test_pass_at_k_needs_k_scored_trials(summary: RunSummary) -> None:
    found = {k: ReducedScores(**kept) for k, kept in summary.trials["pass_at"].items()}
    assert {k: figure.n for k, figure in found.items()} == {"1": 4, "2": 4, "3": 3}
    assert found["1"].total == pytest.approx(1 + 1 / 3 + 0 + 1 / 2)
    assert found["2"].total == pytest.approx(1 + 2 / 3 + 0 + 1)
    assert found["3"].total == pytest.approx(1 + 1 + 0)


def test_one_trial_a_case_needs_no_such_figures(make_run: MakeRun, make_scorer: MakeScorer) -> None:
    finish(make_run(["yes", "no"], make_scorer("exact_match")))
    assert RunSummary.objects.get().trials == {}
