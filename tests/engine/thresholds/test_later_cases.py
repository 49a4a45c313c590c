"""The later verdict of a case with several trials is that of a run judged by those thresholds."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from scoring.engine.thresholds.later_cases import read_later_cases
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import Run
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db
CHOICES: list[Given] = ["error", "skip", *(n / 8 for n in range(9))]


def first_trials(run: Run, column: str) -> dict[int, Any]:
    """By the position of the case."""
    rows = run.verdicts.filter(of_case__isnull=False)
    return dict(rows.values_list("position", column))


def test_it_is_that_of_a_run_judged_by_the_new_threshold(
    make_dataset: MakeDataset, django_assert_num_queries: Any
) -> None:
    random = Random(9)
    version = make_dataset([{}] * 40)
    scores = {name: random.choices(CHOICES, k=80) for name in ("close", "same")}
    run = suite_run(version, scores, trials=2)
    again = suite_run(version, scores, trials=2, thresholds={"close": 0.7})
    entry_of().change_threshold(0.7, by=None, reason="x")
    relabel = relabel_run(run, by=None)
    outputs = first_trials(run, "output")
    with django_assert_num_queries(6):
        later = read_later_cases(relabel, list(outputs.values()))
    found = {position: later[output] for position, output in outputs.items()}
    assert found == first_trials(again, "of_case")
    assert found != first_trials(run, "of_case")
    with django_assert_num_queries(0):
        assert read_later_cases(relabel, []) == {}
