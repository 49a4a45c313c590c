"""What scorers say of single cases by all their trials."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from scoring.models import Output, Run, Verdict
from scoring.models.runs.case_scores import find_trials, read_scorer_verdicts
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.django_db


def firsts_of(run: Run) -> dict[int, str]:
    """The outputs that name the cases, with the keys of these."""
    outputs = Output.objects.filter(output_set=run.output_set).order_by("-trial")
    return {pk: key for key, pk in dict(outputs.values_list("case__key", "pk")).items()}


def said_of(run: Run, named: dict[int, str]) -> list[tuple[str, str, Verdict]]:
    names = dict(run.scorers.values_list("pk", "name"))
    found = read_scorer_verdicts(run, list(named))
    return [(names[said.scorer], named[said.output], said.verdict) for said in found]


def test_trials_are_those_of_the_same_run(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": key} for key in "ab"])
    run, other = (run_with(version, {"close": [1] * 6}, trials=3) for _ in "xy")
    named = firsts_of(run)
    texts = dict(Output.objects.values_list("pk", "text"))
    found = {(texts[pk], named[first]) for pk, first in find_trials(run, list(named)).items()}
    assert found == {(f"{key} {trial}", key) for key in "ab" for trial in range(3)}
    assert find_trials(run, list(firsts_of(other))).keys().isdisjoint(firsts_of(other))


def test_one_trial_takes_no_query(
    make_dataset: MakeDataset, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run = run_with(make_dataset([{}, {}]), {"close": [1, 1]})
    outputs = list(firsts_of(run))
    with django_assert_num_queries(0):
        assert find_trials(run, outputs) == {output: output for output in outputs}


def test_each_scorer_judges_the_mean_of_the_trials(make_dataset: MakeDataset) -> None:
    """Errors and skips are left out; a case without any score has no verdict."""
    version = make_dataset([{"key": key} for key in "abc"])
    run = run_with(
        version,
        {
            "close": [1, 0.2, "error", 0, 0.2, 1, "skip", "error", "skip"],
            "same": [1, 1, 0, 0, 1, 0, 1, 1, 1],
        },
        trials=3,
    )
    assert said_of(run, firsts_of(run)) == [
        ("close", "a", Verdict.PASS),
        ("close", "b", Verdict.FAIL),
        ("same", "a", Verdict.PASS),
        ("same", "b", Verdict.FAIL),
        ("same", "c", Verdict.PASS),
    ]


def test_a_single_output_has_the_stored_verdict(make_dataset: MakeDataset) -> None:
    """Some answers fail whatever the threshold."""
    run = run_with(make_dataset([{"key": "a"}]), {"close": [0]}, thresholds={"close": 0.0})
    run.scorers.get().scores.update(verdict=Verdict.FAIL, code="invalid_json")
    assert said_of(run, firsts_of(run)) == [("close", "a", Verdict.FAIL)]
