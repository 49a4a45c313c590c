from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from scoring.core.wording.numbers import to_ascii
from scoring.engine.thresholds.preview import RUNS, Preview
from scoring.models import Run, RunState
from tests.conftest import MakeDataset
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db


def test_the_newest_runs_come_first(make_dataset: MakeDataset) -> None:
    version = make_dataset([{}] * 4)
    for number in range(RUNS + 2):
        suite_run(version, {"close": [0.2, 0.6, 0.7, "error"]}, name=f"w{number}")
    preview = Preview.of(entry_of(), 0.65)
    assert [run.run.name for run in preview.runs] == [f"w{n}" for n in range(11, 1, -1)]
    assert preview.latest is preview.runs[0]
    assert preview.latest.counts == (3, 2, 1)
    assert (preview.latest.counts.scored, preview.latest.expected) == (3, 4)
    assert to_ascii(preview.latest.sentence) == (
        "At 0.65 instead of 0.5, 1 of 3 cases of w11 would fail instead of pass; "
        "the pass rate changes from 66.7 % to 33.3 %."
    )
    assert preview.latest.case_verdicts == 1


def test_only_finished_runs_of_the_suite_with_the_scorer_count(make_dataset: MakeDataset) -> None:
    version = make_dataset([{}])
    scores = {"close": [0.6], "same": [1]}
    wanted, cancelled, deleted, elsewhere = (suite_run(version, scores, name=n) for n in "abcd")
    suite_run(version, {"same": [1]}, name="e")
    Run.objects.filter(pk=cancelled.pk).update(state=RunState.CANCELLED)
    Run.objects.filter(pk=deleted.pk).update(deleted_at=deleted.finished_at)
    Run.objects.filter(pk=elsewhere.pk).update(suite=None)
    assert [run.run for run in Preview.of(entry_of(), 0.5).runs] == [wanted]


def test_a_run_of_an_earlier_threshold_is_seen_from_the_present_one(
    make_dataset: MakeDataset,
) -> None:
    suite_run(make_dataset([{}] * 2), {"close": [0.6, 0.8]}, thresholds={"close": 0.7})
    (run,) = Preview.of(entry_of(), 0.7).runs
    assert run.scorer.threshold == 0.7
    assert (run.counts.before, run.counts.after) == (2, 1)


def test_case_verdicts_of_cases_that_fail_otherwise_stay(make_dataset: MakeDataset) -> None:
    suite_run(make_dataset([{}] * 3), {"close": [0.6, 0.6, 0.9], "same": [0, 1, 1]})
    (run,) = Preview.of(entry_of(), 0.7).runs
    assert (run.counts.flips, run.case_verdicts) == (2, 1)
    assert (
        run.case_verdicts_sentence == "1 case verdict changes; the others also fail another scorer."
    )


def test_without_a_run_there_is_nothing_to_show(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}]), {"close": [0.6]})
    run.delete()
    preview = Preview.of(entry_of(), 0.7)
    assert (preview.latest, list(preview.runs)) == (None, [])


def test_a_preview_takes_two_queries(
    make_dataset: MakeDataset, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    version = make_dataset([{}] * 2)
    for number in range(4):
        suite_run(version, {"close": [0.2, 0.6]}, name=f"w{number}")
    entry = entry_of()
    with django_assert_num_queries(2):
        figures = [run.as_json() for run in Preview.of(entry, 0.7).runs]
    assert figures[0] == {
        "run": str(Run.objects.latest("pk").uuid),
        "name": "w3",
        "scorer_version": 1,
        "run_threshold": 0.5,
        "n": 2,
        "scored": 2,
        "pass_rate": 0.5,
        "new_pass_rate": 0.0,
        "to_pass": 0,
        "to_fail": 1,
    }
