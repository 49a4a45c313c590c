"""Figures over cases where each has several trials."""

from __future__ import annotations

import pytest

from scoring.core.stats.trials import ReducedScores
from scoring.models import Output, RunSummary
from tests.conftest import MakeDataset, MakeOutputs
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


def test_every_trial_counts_in_the_runs_own_figures(summary: RunSummary) -> None:
    assert (summary.n, summary.scored, summary.errors, summary.passed) == (12, 11, 1, 5)


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
