"""The worker's desk: who comes first, and what is begun again after a worker's end."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any
from uuid import UUID

import pytest

from scoring.engine import errands, hold
from scoring.engine.drift import asks, measure
from scoring.engine.errand_desk import ErrandDesk
from scoring.engine.pool import Inline
from scoring.models import (
    Comparison,
    DatasetVersion,
    Errand,
    ErrandKind,
    ErrandState,
    Run,
    RunStep,
    Team,
    User,
)
from scoring.models.errand import MOST_TRIES
from tests.compared import run_with
from tests.conftest import MakeDataset, MakeOutputs
from tests.engine.conftest import Site, wait_until
from tests.scored import queued_run

MEASURE, COMPARE, TEST = (
    ErrandKind.MEASURE_DRIFT,
    ErrandKind.COMPARE,
    ErrandKind.TEST_CONNECTION,
)
DEAD = "elsewhere:1"  # without a time: a hold that ran out


class Waiting:
    """An executor that begins nothing, and remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[Errand] = []

    def submit(self, work: Callable[..., Any], errand: Errand) -> Future[Any]:
        self.given.append(errand)
        return Future()

    def restart(self) -> None:
        """Nothing runs."""


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"expected": "yes"} for _ in range(4)])


@pytest.fixture
def runs(version: DatasetVersion) -> tuple[Run, Run]:
    old, new = (run_with(version, {"close": [score] * 4}) for score in (1.0, 0.0))
    return old, new


def left(team: Team, number: int) -> None:
    errands.leave(MEASURE, team, {"dataset": str(UUID(int=number)), "series": "a"})


def test_a_person_comes_before_what_follows_runs(team: Team, alice: User) -> None:
    left(team, 1)
    left(team, 2)
    errands.ask(TEST, team, alice, {"connection": "1"})
    desk = Waiting()
    ErrandDesk(desk).step()
    assert [errand.kind for errand in desk.given] == [TEST, MEASURE]


def test_what_follows_runs_is_done_one_at_a_time(team: Team) -> None:
    for number in range(3):
        left(team, number)
    desk = ErrandDesk(Inline())
    done = []
    for _ in range(4):
        desk.step()
        done.append(Errand.objects.filter(state=ErrandState.DONE).count())
    assert done == [1, 2, 3, 3]


def test_what_somebody_waits_for_is_theirs_and_comes_first(team: Team, alice: User) -> None:
    left(team, 1)
    left(team, 2)
    second = str(UUID(int=2))
    asked = errands.ask(MEASURE, team, alice, {"dataset": second, "series": "a"})
    assert (Errand.objects.count(), Errand.objects.get(pk=asked.pk).asked_by) == (2, alice)
    desk = Waiting()
    ErrandDesk(desk).step()
    assert [errand.request["dataset"] == second for errand in desk.given] == [True, False]


def test_a_comparison_whose_worker_died_is_done_by_the_next(runs: tuple[Run, Run]) -> None:
    old, new = runs
    request = {"baseline": str(old.uuid), "candidate": str(new.uuid)}
    errands.leave(COMPARE, old.team, request)
    Errand.objects.update(state=ErrandState.WORKING, held_by=DEAD, tries=1)
    ErrandDesk(Inline()).step()
    errand = Errand.objects.get()
    assert (errand.state, errand.problem, errand.tries) == (ErrandState.DONE, "", 2)
    assert Comparison.objects.get().figures["broke"] == 4


def test_one_that_ends_its_worker_each_time_is_given_up(runs: tuple[Run, Run]) -> None:
    errands.leave(COMPARE, runs[0].team, {"baseline": "x", "candidate": "y"})
    Errand.objects.update(state=ErrandState.WORKING, held_by=DEAD, tries=MOST_TRIES)
    ErrandDesk(Inline()).step()
    errand = Errand.objects.get()
    assert (errand.state, errand.problem) == (
        ErrandState.FAILED,
        "the worker ended meanwhile; ask again",
    )


@pytest.mark.parametrize(
    ("kind", "state"), [(MEASURE, ErrandState.WAITING), (TEST, ErrandState.FAILED)]
)
def test_a_desk_that_closes_puts_back_what_costs_nothing(
    team: Team, kind: ErrandKind, state: ErrandState
) -> None:
    errands.ask(kind, team, None, {"dataset": "1", "series": "a"})
    desk = ErrandDesk(Waiting())
    desk.step()
    Errand.objects.update(state=ErrandState.WORKING)
    desk.stop()
    errand = Errand.objects.get()
    assert (errand.state, errand.held_by, hold.is_held(errand)) == (state, "", False)


def test_what_was_done_meanwhile_is_not_put_back(team: Team) -> None:
    left(team, 1)
    Errand.objects.update(state=ErrandState.DONE)
    errands.put_back(Errand.objects.get())
    assert Errand.objects.get().state == ErrandState.DONE


def test_done_twice_it_is_there_once(runs: tuple[Run, Run]) -> None:
    """Two processes may do the same at once; the rows come out as by one."""
    old, new = runs
    for _ in range(2):
        errands.leave(COMPARE, old.team, {"baseline": str(old.uuid), "candidate": str(new.uuid)})
        asks.leave_after(new)
        for errand in Errand.objects.unfinished():
            errands.do(errand)
    assert (Comparison.objects.count(), RunStep.objects.count()) == (1, 1)
    assert measure(old.output_set.version.dataset, "a") == 0


def test_a_killed_worker_leaves_no_run_uncompared(
    site: Site, version: DatasetVersion, make_outputs: MakeOutputs
) -> None:
    """Killed as soon as the runs have ended; the next worker does what follows, once."""
    first, second = (
        queued_run(make_outputs(version, [answer] * 4, series="a"), name=answer)
        for answer in ("yes", "no")
    )
    worker = site.start("worker")
    wait_until(lambda: not Run.objects.unfinished().exists())
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert Errand.objects.filter(kind=COMPARE).count() == 1
    site.start("worker")
    wait_until(lambda: not Errand.objects.unfinished().exists())
    kept, step = Comparison.objects.get(), RunStep.objects.get()
    assert (kept.baseline, kept.candidate, kept.figures["broke"]) == (first, second, 4)
    assert (step.before, step.after, step.broke) == (first, second, 4)
