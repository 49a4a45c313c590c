"""How far a review queue is: its cases by what is done, and each reviewer's progress and pace."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from django.db.models import Aggregate, Count, Max, Q
from django.utils import timezone

from scoring.models import ReviewQueue, User

_PACE_FROM: Final = 50  # each reviewer's last tasks, from which the pace is measured
_MIN_GAPS: Final = 3
_BREAK: Final = 600  # seconds; whoever takes longer was away


class QueueCounts(NamedTuple):
    """The cases of a queue: each is counted once, by the reviews it has in the queue.

    `waiting` and `reserved` have none yet; `reviewed` has by number of reviews, from one on up to
    what the queue asks for, how many cases have as many.
    """

    waiting: int
    reserved: int
    reviewed: Sequence[int]

    @property
    def complete(self) -> int:
        """The cases with all reviews that the queue asks for."""
        return self.reviewed[-1]

    @property
    def partly(self) -> list[tuple[int, int]]:
        """Of the others that have any: the number of reviews, and how many cases have it."""
        return list(enumerate(self.reviewed[:-1], start=1))

    @property
    def cases(self) -> int:
        return self.waiting + self.reserved + sum(self.reviewed)

    @property
    def is_complete(self) -> bool:
        return self.complete == self.cases


class ReviewerFigures(NamedTuple):
    """How many tasks somebody has; in a pool what they did, and what they hold at this moment."""

    total: int = 0
    done: int = 0
    skipped: int = 0
    last_done: datetime | None = None


class ReviewerProgress(NamedTuple):
    """One reviewer's tasks of a queue; `pace` is the median time for one of them."""

    reviewer: User
    figures: ReviewerFigures
    pace: timedelta | None = None

    @property
    def total(self) -> int:
        return self.figures.total

    @property
    def done(self) -> int:
        return self.figures.done

    @property
    def open(self) -> int:
        return self.total - self.done

    @property
    def is_done(self) -> bool:
        return self.done == self.total

    @property
    def remaining(self) -> timedelta | None:
        """How long the open ones take at this pace; None for a pool, whose rest is shared."""
        return self.pace * self.open if self.pace else None


class QueueProgress:
    """A queue's counts and its reviewers, as they are at this moment; queried once."""

    def __init__(self, queue: ReviewQueue) -> None:
        self._queue = queue

    @cached_property
    def counts(self) -> QueueCounts:
        numbers = range(1, self._queue.reviewers_per_case + 1)
        cases = self._queue.tasks.order_by().values("position")  # one of each output, and indexed
        cases = cases.annotate(done=Count("done_at"), held=Count("position", filter=_is_reserved()))
        counted = cases.aggregate(
            waiting=Count("position", filter=Q(done=0, held=0)),
            reserved=Count("position", filter=Q(done=0, held__gt=0)),
            **{f"of_{each}": Count("position", filter=Q(done=each)) for each in numbers},
        )
        reviewed = [counted[f"of_{each}"] for each in numbers]
        return QueueCounts(counted["waiting"], counted["reserved"], reviewed)

    @cached_property
    def done(self) -> int:
        """The number of tasks that are done."""
        return sum(number * cases for number, cases in enumerate(self.counts.reviewed, start=1))

    @cached_property
    def reviewers(self) -> list[ReviewerProgress]:
        """By e-mail address; of a pool everybody in it, and whoever did a task before leaving."""
        tasks = self._queue.tasks.filter(reviewer__isnull=False).order_by()
        rows = {
            pk: ReviewerFigures(*figures)
            for pk, *figures in tasks.values("reviewer")
            .annotate(**_figures(self._queue))
            .values_list("reviewer", *ReviewerFigures._fields)
        }
        people = User.objects.in_bulk(rows)
        people |= {person.pk: person for person in self._queue.pool.all()}
        progress = [
            ReviewerProgress(person, figures, self._pace_of(person) if figures.done else None)
            for pk, person in people.items()
            for figures in [rows.get(pk, ReviewerFigures())]
        ]
        return sorted(progress, key=lambda each: each.reviewer.email)

    def of(self, person: User) -> ReviewerProgress | None:
        """The person's; None unless they are asked for anything here."""
        return next((each for each in self.reviewers if each.reviewer == person), None)

    def open_for(self, person: User) -> int:
        """How many cases the person is still to review; of a pool, may still be given."""
        asked = self._queue.tasks.filter(done_at=None).asked_of(person)
        return asked.values("output").distinct().count()

    def _pace_of(self, person: User) -> timedelta | None:
        done = self._queue.tasks.of(person).filter(done_at__isnull=False).order_by("-done_at")
        times = done.values_list("done_at", flat=True)[:_PACE_FROM]
        return measure_pace([when for when in reversed(times) if when])


def own_progress(queue: ReviewQueue, person: User) -> ReviewerProgress:
    """One reviewer's progress, without the pace."""
    row = queue.tasks.filter(reviewer=person).aggregate(**_figures(queue))
    return ReviewerProgress(person, ReviewerFigures(**row))


def measure_pace(times: Sequence[datetime]) -> timedelta | None:
    """The median time from one task to the next, in the order in which they were done.

    None for too few. Tasks that were done at one moment are not counted: an import did them.
    """
    gaps = ((later - earlier).total_seconds() for earlier, later in pairwise(times))
    counted = [gap for gap in gaps if 0 < gap <= _BREAK]
    return timedelta(seconds=median(counted)) if len(counted) >= _MIN_GAPS else None


def _figures(queue: ReviewQueue) -> dict[str, Aggregate]:
    """`ReviewerFigures` of tasks, as columns."""
    is_theirs = _is_reserved() | Q(done_at__isnull=False) if queue.is_pooled else Q()
    return {
        "total": Count("pk", filter=is_theirs),
        "done": Count("done_at"),
        "skipped": Count("skipped_at", filter=Q(done_at=None)),
        "last_done": Max("done_at"),
    }


def _is_reserved() -> Q:
    return Q(done_at=None, reserved_until__gt=timezone.now())
