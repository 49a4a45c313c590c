"""Who works a comparison out: the page at once, or the worker."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from scoring.engine import compare, compare_asks, errands
from scoring.engine.compare import NotComparableError
from scoring.engine.dispatch import work_on
from scoring.engine.pool import Inline
from scoring.models import (
    Baseline,
    Comparison,
    DatasetVersion,
    Errand,
    ErrandKind,
    ErrandState,
    Run,
    RunState,
)
from tests.compared import run_with
from tests.conftest import MakeDataset, MakeOutputs
from tests.scored import queued_run

pytestmark = pytest.mark.django_db
CASES = 4


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"expected": "yes"} for _ in range(CASES)])


@pytest.fixture
def runs(version: DatasetVersion) -> tuple[Run, Run]:
    old, new = (run_with(version, {"close": [score] * CASES}) for score in (1.0, 0.0))
    return old, new


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of four cases are large ones."""
    monkeypatch.setattr(compare_asks, "AT_ONCE", CASES - 1)


def test_a_small_comparison_is_there_at_once(runs: tuple[Run, Run]) -> None:
    found = compare_asks.compared_for(*runs, by=None)
    assert found is not None
    assert (found.figures["broke"], Errand.objects.count()) == (CASES, 0)


@pytest.mark.usefixtures("few")
def test_a_large_one_is_left_to_the_worker_once(runs: tuple[Run, Run]) -> None:
    assert compare_asks.compared_for(*runs, by=None) is None
    assert compare_asks.compared_for(*runs, by=None) is None
    (errand,) = Errand.objects.all()
    assert (errand.kind, Comparison.objects.count()) == (ErrandKind.COMPARE, 0)
    errands.do(errand)
    errand.refresh_from_db()
    assert (errand.state, errand.problem) == (ErrandState.DONE, "")
    found = compare_asks.compared_for(*runs, by=None)
    assert found is not None
    assert found.figures["broke"] == CASES
    assert Errand.objects.count() == 1


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("asks", [True, False])
def test_what_cannot_be_compared_is_refused_before_it_is_asked(
    runs: tuple[Run, Run], asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_asks, "AT_ONCE", 0 if asks else CASES)
    runs[1].state = RunState.RUNNING
    with pytest.raises(NotComparableError):
        compare_asks.compared_for(*runs, by=None)
    assert not Errand.objects.exists()


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("missing", ["baseline", "candidate"])
def test_an_errand_about_a_run_that_is_gone_says_so(runs: tuple[Run, Run], missing: str) -> None:
    named = {"baseline": str(runs[0].uuid), "candidate": str(runs[1].uuid), missing: str(uuid4())}
    errand = errands.ask(ErrandKind.COMPARE, runs[0].team, None, named)
    errands.do(errand)
    errand.refresh_from_db()
    assert errand.problem == "one of the runs is no longer there"


def test_an_errand_about_a_run_begun_again_says_so(runs: tuple[Run, Run]) -> None:
    Run.objects.filter(pk=runs[0].pk).update(state=RunState.RUNNING)
    named = {"baseline": str(runs[0].uuid), "candidate": str(runs[1].uuid)}
    errand = errands.ask(ErrandKind.COMPARE, runs[0].team, None, named)
    errands.do(errand)
    errand.refresh_from_db()
    assert "is running: wait" in errand.problem


def ended(version: DatasetVersion, make_outputs: MakeOutputs, *, series: str = "a") -> Run:
    """A run that the dispatcher brings to its end."""
    run = queued_run(make_outputs(version, ["yes"] * CASES, series=series))
    work_on(run, Inline())
    run.refresh_from_db()
    return run


def asked_pairs() -> list[tuple[str, str]]:
    asked = [errand.request for errand in Errand.objects.filter(kind=ErrandKind.COMPARE)]
    return [(each["baseline"], each["candidate"]) for each in asked]


def test_at_the_end_of_a_run_its_comparison_is_left_to_the_worker(
    version: DatasetVersion, make_outputs: MakeOutputs
) -> None:
    first = ended(version, make_outputs)
    assert asked_pairs() == []  # nothing came before it
    ended(version, make_outputs, series="b")
    assert asked_pairs() == []
    second = ended(version, make_outputs)
    assert asked_pairs() == [(str(first.uuid), str(second.uuid))]
    Baseline.objects.pin(first, by=None)
    third = ended(version, make_outputs)
    assert asked_pairs()[1:] == [(str(first.uuid), str(third.uuid))]


def test_what_follows_a_run_is_left_in_the_transaction_that_ends_it(
    version: DatasetVersion, make_outputs: MakeOutputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever becomes of the process, no run has ended without it."""
    ended(version, make_outputs)
    run = queued_run(make_outputs(version, ["no"] * CASES, series="a"))

    def power_goes(_: Run) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(compare_asks, "leave_after", power_goes)
        with pytest.raises(KeyboardInterrupt):
            work_on(run, Inline())
    run.refresh_from_db()
    assert run.is_unfinished
    work_on(run, Inline())
    assert (run.state, len(asked_pairs())) == (RunState.FINISHED, 1)


def test_a_run_that_ends_before_its_baseline_is_compared_when_that_ends(
    version: DatasetVersion, make_outputs: MakeOutputs
) -> None:
    first, second = (queued_run(make_outputs(version, ["yes"] * CASES, series="a")) for _ in "xy")
    work_on(second, Inline())
    assert asked_pairs() == []
    work_on(first, Inline())
    assert asked_pairs() == [(str(first.uuid), str(second.uuid))]


def test_a_cancelled_run_leaves_nothing(runs: tuple[Run, Run]) -> None:
    runs[1].state = RunState.CANCELLED
    compare_asks.leave_after(runs[1])
    assert asked_pairs() == []


def test_a_run_scored_again_is_asked_for_again(runs: tuple[Run, Run]) -> None:
    compare.compared(*runs)
    assert runs[1].finished_at
    runs[1].finished_at += timedelta(seconds=1)
    assert compare.kept(*runs) is not None  # it looks at the rows, not at what it was given
    runs[1].save()
    assert compare.kept(*runs) is None


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("states", "has_failed"),
    [
        ([], False),
        ([ErrandState.WAITING], False),
        ([ErrandState.FAILED], True),
        ([ErrandState.FAILED, ErrandState.WAITING], False),
        ([ErrandState.DONE, ErrandState.FAILED], True),
    ],
)
def test_only_the_latest_try_tells_of_a_failure(
    runs: tuple[Run, Run], states: list[ErrandState], has_failed: bool
) -> None:
    for state in states:
        compare_asks.compared_for(*runs, by=None)
        Errand.objects.filter(pk=Errand.objects.latest("pk").pk).update(state=state)
    assert (compare_asks.failed(*runs) is not None) == has_failed
    assert compare_asks.failed(runs[1], runs[0]) is None


def test_kept_comparisons_of_several_runs_are_read_in_one_query(
    version: DatasetVersion, runs: tuple[Run, Run], django_assert_num_queries: Any
) -> None:
    old, new = runs
    third = run_with(version, {"close": [0.5] * CASES})
    compare.compared(old, new)
    compare.compared(old, third)
    with django_assert_num_queries(1):
        found = compare.kept_among(old, [new, third])
    assert set(found) == {new.pk, third.pk}
    Run.objects.filter(pk=new.pk).update(finished_at=timezone.now())
    assert set(compare.kept_among(old, [new, third])) == {third.pk}
