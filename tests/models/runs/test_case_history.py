"""A case through the runs of its series."""

from __future__ import annotations

import pytest

from scoring.models import CaseVerdict, DatasetVersion, Run, RunState, Verdict
from scoring.models.runs.case_history import read_case_history
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week
from tests.support.undone import undone


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": "q1"}, {"key": "q2"}])


def weeks(version: DatasetVersion, letters: str) -> Run:
    """A run for each letter, which is the verdict on q1; the last one of them."""
    runs = [run_in_week(version, week, 0.8, one + "p") for week, one in enumerate(letters)]
    return runs[-1]


def test_flips_the_first_bad_run_and_the_one_that_passed_again(
    version: DatasetVersion, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, int, str | None, str | None]] = [
        ("ppp", 0, None, None),
        ("ppppppppff", 1, "w8", None),
        ("pfp", 2, "w1", "w2"),
        ("pffpp", 2, "w1", "w3"),
        ("pfpf", 3, "w3", None),
        ("pfpfffp", 4, "w3", "w6"),  # the latest stretch
        ("fpp", 1, "w0", "w1"),
        ("fff", 0, None, None),
        ("fpf", 2, "w2", None),
        ("pef", 1, "w2", None),  # an error is neither good nor bad
        ("pfe", 1, "w1", None),
        ("pfep", 2, "w1", "w3"),
        ("pfsf", 1, "w1", None),
        ("p-ff", 1, "w2", None),
        ("e", 0, None, None),
    ]
    for letters, flips, first_bad, again in cases:
        with (
            subtests.test(letters=letters, flips=flips, first_bad=first_bad, again=again),
            undone(),
        ):
            history = read_case_history(weeks(version, letters), "q1")
            assert len(history.seen) == len(letters.replace("-", ""))
            assert history.flips == flips
            names = [seen and seen.name for seen in (history.first_bad, history.passed_again)]
            assert names == [first_bad, again]


def test_it_is_told_oldest_first_with_the_place_in_each_run(
    version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    later = make_dataset([{"key": "new"}, {"key": "q2"}, {"key": "q1"}])
    second = run_in_week(later, 2, 0.8, "ppf")
    first = run_in_week(version, 1, 0.8, "pp")
    seen = read_case_history(second, "q1").seen
    assert [(each.run, each.position, each.verdict) for each in seen] == [
        (first.uuid, 1, Verdict.PASS),
        (second.uuid, 3, Verdict.FAIL),
    ]


def test_other_series_datasets_and_unfinished_runs_are_left_out(
    version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    run = run_in_week(version, 3, 0.8, "pp")
    run_in_week(version, 1, 0.8, "fp", series="b")
    run_in_week(make_dataset([{"key": "q1"}], name="Others"), 1, 0.8, "f")
    running = run_in_week(version, 2, 0.8, "fp")
    Run.objects.filter(pk=running.pk).update(state=RunState.RUNNING)
    assert [each.name for each in read_case_history(run, "q1").seen] == ["w3"]


def test_each_trial_has_a_history_of_its_own(version: DatasetVersion) -> None:
    run = run_in_week(version, 1, 0.8, "pp")
    first = CaseVerdict.objects.get(run=run, position=1)
    CaseVerdict.objects.create(
        run=run, output_id=first.output_id, position=1, trial=1, verdict=Verdict.FAIL
    )
    assert [each.verdict for each in read_case_history(run, "q1", trial=1).seen] == [Verdict.FAIL]
    assert [each.verdict for each in read_case_history(run, "q1").seen] == [Verdict.PASS]


@pytest.mark.parametrize("count", [5, 50])
def test_three_queries_however_many_runs(
    version: DatasetVersion, count: int, django_assert_num_queries: object
) -> None:
    run = weeks(version, "pf" * (count // 2))
    with django_assert_num_queries(3):  # type: ignore[operator]
        assert len(read_case_history(run, "q1").seen) == count // 2 * 2
