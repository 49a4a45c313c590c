"""Runs with so many errors that their figures are not to be gone by."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from scoring.engine.runs.run_errors import find_failed_runs, find_run_errors
from scoring.models import DatasetVersion, Run, RunState, RunSummary
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.drift_runs import run_again, run_in_week
from tests.support.run_states import EXACT, finished_run

MANY = "ended in an error, over 5\u202f%. Figures are of what was scored alone. "
MISSING = "No connection answers; set a default one, or add the one of the name."


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{number}"} for number in range(60)])


def run_of(version: DatasetVersion, letters: str, *codes: str, week: int = 1) -> Run:
    """A finished run of these verdicts, its errors with these codes, the first one most often."""
    run = run_in_week(version, week, letters=letters)
    causes = {code: len(codes) - number for number, code in enumerate(codes)}
    RunSummary.objects.filter(scorer__run=run).update(error_causes=causes)
    return run


@pytest.mark.parametrize(
    ("letters", "codes", "sentence"),
    [
        (
            "e" * 60,
            ["connection_missing", "timeout"],
            f"All 60 cases ended in an error. {MISSING} Then retry 60 cases.",
        ),
        ("e", ["connection_missing"],
         f"The only case ended in an error. {MISSING} Then retry 1 case."),
        ("e" * 4 + "p" * 56, ["key_refused"],
         f"4 of 60 cases {MANY}"
         "The endpoint refused the key; give the connection a valid one. Then retry 4 cases."),
        ("e" * 59 + "s", ["no_output"],
         f"59 of 60 cases {MANY}"
         "The output could not be produced; its error says why."),
        ("ee", ["own_code"], "All 2 cases ended in an error. Then retry 2 cases."),
        ("ee", [], "All 2 cases ended in an error."),
    ],
)  # fmt: skip
def test_what_the_errors_mean_and_what_mends_them(
    version: DatasetVersion, letters: str, codes: list[str], sentence: str
) -> None:
    errors = find_run_errors(run_of(version, letters, *codes))
    assert errors
    assert errors.sentence == sentence
    assert errors.is_of_connection == (codes[:1] in (["connection_missing"], ["key_refused"]))


@pytest.mark.parametrize("letters", ["p" * 60, "e" * 3 + "f" * 57, ""])
def test_few_errors_are_no_matter(
    version: DatasetVersion, letters: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run = run_of(version, letters)
    scorers = list(run.scorers.with_summary())
    with django_assert_num_queries(0):
        assert find_run_errors(run, scorers) is None


def test_errors_behind_failed_cases_are_named_by_their_scorer(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    outputs = make_outputs(make_dataset([{"expected": "yes"}] * 3), ["no"] * 3)
    run = finished_run(outputs, EXACT, ("judge", "factuality", {"model": "m"}))
    errors = find_run_errors(run)
    assert errors
    assert (run.fail_count, run.error_count, errors.is_total) == (3, 0, False)
    assert errors.sentence == (
        f"judge could not score 3 of 3 cases, over 5\u202f%. {MISSING} Then retry 3 cases."
    )


def failed(version: DatasetVersion) -> list[str]:
    return [errors.run.name for errors in find_failed_runs(version.dataset.team, 2)]


def test_runs_of_errors_alone_stand_until_their_series_goes_on(version: DatasetVersion) -> None:
    first = run_of(version, "eeee", "timeout")
    run_in_week(version, 2, letters="eeep", series="b")
    run_in_week(version, 3, letters="eees", series="c")
    run_in_week(version, 4, letters="e", series="d")
    assert failed(version) == ["w4", "w1"]
    again = run_again(first.output_set, 0.8, "eeee")
    assert failed(version) == ["again", "w4"]
    run_in_week(version, 5, letters="f")
    assert failed(version) == ["w4"]
    Run.objects.filter(name="w4").update(archived_at=again.finished_at)
    assert failed(version) == []


def test_unfinished_and_deleted_runs_are_left_out(version: DatasetVersion) -> None:
    run = run_of(version, "eeee")
    Run.objects.filter(pk=run.pk).update(state=RunState.CANCELLED)
    assert failed(version) == []
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED, deleted_at=run.finished_at)
    assert failed(version) == []


def test_failed_runs_cost_the_same_however_many_they_are(
    version: DatasetVersion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for week in range(3):
        run_of(version, "ee", "timeout", week=week)
    with django_assert_num_queries(3):
        sentences = [each.sentence for each in find_failed_runs(version.dataset.team, 9)]
    assert len(sentences) == 3
