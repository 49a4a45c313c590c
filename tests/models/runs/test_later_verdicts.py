from __future__ import annotations

from typing import Any

import pytest

from scoring.models import Output, Relabel, Run, Verdict
from scoring.models.runs.case_history import read_case_history
from scoring.models.runs.later_verdicts import read_later_outcomes, read_later_verdicts
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.django_db
COUNTS = {"pass_count": 0, "fail_count": 0, "error_count": 0, "skipped_count": 0}


def relabel(run: Run, threshold: float) -> Relabel:
    Run.objects.filter(pk=run.pk).update(suite_name="release")
    thresholds = {"close": threshold}
    return Relabel.objects.create(run=run, thresholds=thresholds, passed={}, **COUNTS)


def outputs_of(run: Run) -> list[int]:
    outputs = Output.objects.filter(output_set=run.output_set_id)
    return list(outputs.order_by("case__position", "trial").values_list("pk", flat=True))


def test_verdicts_are_combined_from_all_scores(
    make_dataset: MakeDataset, django_assert_num_queries: Any
) -> None:
    run = run_with(
        make_dataset([{}] * 4), {"close": [0.6, 0.8, "error", 0.8], "same": [1, 1, 1, "skip"]}
    )
    made, outputs = relabel(run, 0.7), outputs_of(run)
    with django_assert_num_queries(1):
        later = read_later_verdicts({run.pk: made}, outputs)
    wanted = [Verdict.FAIL, Verdict.PASS, Verdict.ERROR, Verdict.PASS]
    assert [later[run.pk, output] for output in outputs] == wanted
    with django_assert_num_queries(0):
        assert read_later_verdicts({}, outputs) == {}


def test_a_history_has_the_later_verdicts_of_the_runs_that_have_any(
    make_dataset: MakeDataset, django_assert_num_queries: Any
) -> None:
    version = make_dataset([{}] * 2)
    first, second, third = (
        run_with(version, {"close": [0.9, 0.6, 0.9, 0.4]}, name=name, trials=2) for name in "abc"
    )
    seen = read_case_history(first, "case-1", 1).seen
    with django_assert_num_queries(0):
        assert read_later_outcomes(seen, 1) == {}
    relabel(second, 0.7)
    relabel(third, 0.5)
    relabel(third, 0.3)
    seen = read_case_history(first, "case-1", 1).seen
    with django_assert_num_queries(4):
        later = read_later_outcomes(seen, 1)
    assert later == {second.uuid: Verdict.FAIL, third.uuid: Verdict.PASS}
    seen = read_case_history(first, "case-2", 1).seen
    assert read_later_outcomes(seen, 1) == {second.uuid: Verdict.FAIL, third.uuid: Verdict.PASS}
