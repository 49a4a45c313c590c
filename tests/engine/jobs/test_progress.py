"""How far a job of several stages is, how long the rest takes, and what is told of it."""

from __future__ import annotations

import pytest

from scoring.engine.jobs import lease
from scoring.engine.jobs.progress import (
    REPORT_SECONDS,
    JobProgress,
    Stage,
    StageProgress,
    scale_share,
)
from scoring.models import Job, JobKind, JobState, Team


class Clock:
    """Stands still but for what `pass_by` adds."""

    now = 100.0

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


STAGES = [Stage("one", 1.0), Stage("two", 3.0)]


def test_time_left_is_what_the_rest_takes_at_this_pace(clock: Clock) -> None:
    found: list[JobProgress] = []
    stages = StageProgress(iter(STAGES), found.append, clock)
    reach = stages.begin(10)
    clock.pass_by(2)
    reach(0.5)
    clock.pass_by(2)
    stages.begin(20)
    assert found == [
        JobProgress("one", 0, 10, 0.0, None),
        JobProgress("one", 5, 10, 0.125, 14.0),
        JobProgress("two", 0, 20, 0.25, 12.0),
    ]


@pytest.mark.parametrize(("seconds", "share"), [(0.9, 0.9), (50, 0.1)])
def test_at_first_nothing_is_said_of_the_rest(clock: Clock, seconds: float, share: float) -> None:
    found: list[JobProgress] = []
    reach = StageProgress(iter(STAGES), found.append, clock).begin(10)
    clock.pass_by(seconds)
    reach(share)
    assert [each.seconds_left for each in found] == [None, None]


def test_it_is_told_now_and_then_and_when_a_stage_begins(clock: Clock) -> None:
    found: list[JobProgress] = []
    stages = StageProgress(iter(STAGES), found.append, clock)
    reach = stages.begin(100)
    for share in range(1, 100):
        clock.pass_by(REPORT_SECONDS / 4)
        reach(share / 100)
    assert [each.done for each in found] == [0, *range(4, 100, 4)]
    stages.begin(100)
    assert found[-1].doing == "two"


def test_a_part_of_the_way_is_reached_within_it() -> None:
    shares: list[float] = []
    reach = scale_share(shares.append, 0.25, 0.5)
    for share in (0.0, 0.5, 1.0):
        reach(share)
    assert shares == [0.25, 0.5, 0.75]


@pytest.mark.parametrize(
    ("seconds", "share", "left"),
    [(0.0, 0.0, 8.0), (0.9, 0.9, 7.1), (3.0, 0.0, 5.0), (2.0, 0.5, 14.0), (9.0, 0.0, None)],
)
def test_costs_in_seconds_say_what_is_left_until_one_is_sure(
    clock: Clock, seconds: float, share: float, left: float | None
) -> None:
    found: list[JobProgress] = []
    made = StageProgress(
        iter([Stage("a", 2.0), Stage("b", 6.0)]), found.append, clock, are_seconds=True
    )
    reach = made.begin(10)
    clock.pass_by(seconds)
    reach(share)
    assert found[-1].seconds_left == pytest.approx(left)


@pytest.mark.django_db
def test_what_a_job_tells_counts_while_somebody_works_on_it(team: Team) -> None:
    half = JobProgress("replies", 5, 10, 0.5, 4.0)
    job = Job.objects.create(team=team, kind=JobKind.PREVIEW_SCORER)
    assert not job.store_progress(half._asdict())  # nobody has begun it
    job.state = JobState.WORKING
    job.save()
    assert lease.acquire(job)
    job.refresh_from_db()
    assert JobProgress.of(job) is None
    assert job.store_progress(half._asdict())
    job.refresh_from_db()
    assert JobProgress.of(job) == half
    lease.release(job)
    job.refresh_from_db()
    assert JobProgress.of(job) is None
    assert JobProgress.of(None) is None
