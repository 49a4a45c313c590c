"""Who measures a drift line, and how few queries it takes to look at it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from scoring.engine import errands
from scoring.engine.dispatch import work_on
from scoring.engine.drift import asks, lines_of, measure
from scoring.engine.pool import Inline
from scoring.models import (
    DatasetVersion,
    Errand,
    ErrandKind,
    ErrandState,
    Run,
    RunDrift,
    RunState,
    User,
)
from tests.conftest import MakeDataset
from tests.drifting import run_in_week, scorer_of
from tests.engine.conftest import MakeRun, MakeScorer


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{number}", "tags": ["all"]} for number in range(4)])


def test_a_line_of_small_runs_is_measured_on_the_spot(version: DatasetVersion, bob: User) -> None:
    for week, letters in enumerate(["pppp", "ppff"]):
        run_in_week(version, week, 0.8, letters)
    (line,) = asks.lines_for(version.dataset, bob)
    assert line.is_measured
    assert line.points[1].broke == 2
    assert not Errand.objects.exists()


def test_how_far_the_worker_is_is_told_while_it_measures(
    version: DatasetVersion, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asks, "AT_ONCE", 3)
    for week, letters in enumerate(["pppp", "ppff"]):
        run_in_week(version, week, 0.8, letters)
    asks.lines_for(version.dataset, bob)
    seen, tell = [asks.progress_of(version.dataset, ["a"])], Errand.tell

    def told(errand: Errand, progress: Any) -> None:
        tell(errand, progress)
        seen.append(asks.progress_of(version.dataset, [errand.request["series"], "another"]))

    monkeypatch.setattr(Errand, "tell", told)
    errands.do(Errand.objects.get())
    assert seen[0] is None
    assert [each and each[:2] for each in seen[1:]] == [(1, 3), (2, 3), (3, 3)]
    assert seen[-1] is not None
    assert seen[-1].seconds_left == 0
    assert asks.progress_of(version.dataset, ["a"]) is None


def test_a_line_of_large_runs_is_left_to_the_worker(
    version: DatasetVersion, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asks, "AT_ONCE", 3)
    for week, letters in enumerate(["pppp", "ppff"]):
        run_in_week(version, week, 0.8, letters)
    for _ in range(2):
        (line,) = asks.lines_for(version.dataset, bob)
        assert not line.is_measured
        assert (line.points[1].mean, line.points[1].broke) == (0.8, None)
    errand = Errand.objects.get()  # asked twice, left once
    assert (errand.kind, errand.asked_by) == (ErrandKind.MEASURE_DRIFT, bob)
    errands.do(errand)
    errand.refresh_from_db()
    assert (errand.state, errand.answer) == (ErrandState.DONE, {"written": 3})
    (line,) = asks.lines_for(version.dataset, bob)
    assert (line.is_measured, line.points[1].broke) == (True, 2)


def test_a_dataset_that_is_gone_needs_no_measuring(version: DatasetVersion) -> None:
    asks.ask(version.dataset, "a", None)
    version.dataset.delete()
    errand = Errand.objects.get()
    errands.do(errand)
    errand.refresh_from_db()
    assert (errand.state, errand.answer) == (ErrandState.DONE, {"written": 0})


@pytest.mark.parametrize(
    ("state", "is_left"), [(RunState.FINISHED, True), (RunState.CANCELLED, False)]
)
def test_a_finished_run_leaves_its_series_to_the_worker(
    version: DatasetVersion, state: RunState, is_left: bool
) -> None:
    run = run_in_week(version, 1, 0.8, "pppp")
    run.state = state
    asks.leave_after(run)
    assert Errand.objects.filter(kind=ErrandKind.MEASURE_DRIFT).exists() == is_left


def test_a_small_run_is_measured_by_the_command_that_scored_it(
    make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    run = make_run(["yes", "no"], make_scorer("exact_match"))
    work_on(run, Inline())
    errand = Errand.objects.get(kind=ErrandKind.MEASURE_DRIFT)
    assert (errand.state, errand.answer, errand.tries) == (ErrandState.DONE, {"written": 1}, 1)
    assert RunDrift.objects.get().run == run


def test_what_a_worker_measures_is_left_to_it(version: DatasetVersion) -> None:
    run = run_in_week(version, 1, 0.8, "pppp")
    asks.leave_after(run)
    soon = timezone.now() + timedelta(seconds=20)
    Errand.objects.update(state=ErrandState.WORKING, held_by="elsewhere:1", held_until=soon)
    asks.measure_after(run)
    assert not RunDrift.objects.exists()


def test_a_run_that_ends_while_its_series_is_measured_is_measured_after_it(
    version: DatasetVersion,
) -> None:
    """The errand under way has read its runs already."""
    asks.leave_after(run_in_week(version, 1, 0.8, "pppp"))
    Errand.objects.update(state=ErrandState.WORKING)
    later = run_in_week(version, 2, 0.8, "ppff")
    for _ in range(2):
        asks.leave_after(later)
    assert list(Errand.objects.order_by("pk").values_list("state", flat=True)) == [
        ErrandState.WORKING,
        ErrandState.WAITING,
    ]


def test_a_run_that_was_worked_on_leaves_its_series_to_measure(
    make_run: MakeRun, make_scorer: MakeScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asks, "AT_ONCE", 1)
    run = make_run(["yes", "no"], make_scorer("exact_match"))
    work_on(run, Inline())
    errand = Errand.objects.get(kind=ErrandKind.MEASURE_DRIFT)
    dataset = run.output_set.version.dataset
    assert errand.request == {"dataset": str(dataset.uuid), "series": run.output_set.series}


@pytest.mark.parametrize("count", [5, 50])
def test_lines_take_three_queries_however_many_runs(
    version: DatasetVersion, count: int, django_assert_num_queries: Any
) -> None:
    scorers = [scorer_of(version, name) for name in ("close", "same")]
    for week in range(count):
        run_in_week(version, week, 0.8, "ppff", scorers=scorers)
    measure(version.dataset, "a")
    dataset = Run.objects.latest("pk").output_set.version.dataset
    with django_assert_num_queries(3):
        lines = lines_of(dataset)
        for line in lines:
            assert line.is_measured
            assert line.sentences
            assert len(line.points) == count
    assert len(lines) == 2
