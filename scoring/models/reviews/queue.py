"""Review queues: which outputs of a run are to be reviewed, by whom and in which order."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from datetime import date, timedelta
from typing import Final, Self

from django.db import IntegrityError, models, transaction
from django.db.models import Count, Exists, IntegerField, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from scoring.models.base import AddressedRow, validate_name
from scoring.models.reviews.question_set import QuestionSet
from scoring.models.runs.run import Output, Run
from scoring.models.team.team import Team, User

MAX_CASES: Final = 20_000  # of a queue
MAX_REVIEWERS_PER_CASE: Final = 5
_BATCH: Final = 900  # SQLite may be built for no more than 999 parameters
RESERVATION: Final = timedelta(minutes=15)  # how long a case taken from a pool is one person's


class QueueOrder(models.TextChoices):
    """How the cases of a queue were chosen."""

    VALUE = "value", "most informative first"
    RANDOM = "random", "random sample"


class TaskReason(models.IntegerChoices):
    """Why a case is in a queue; of several the first one in this order."""

    NEAR_THRESHOLD = 1, "near the threshold"
    DISAGREEING = 2, "scorers disagree"
    FLIPPED = 3, "changed since the baseline"
    WAVERING = 4, "judge wavers"
    UNSEEN = 5, "not reviewed yet"
    REVIEWED = 6, "reviewed before"
    SAMPLED = 7, "random sample"


class ReviewQueueQuerySet(models.QuerySet["ReviewQueue"]):
    def visible_to(self, user: User) -> Self:
        return self.filter(run__in=Run.objects.visible_to(user))

    def open(self) -> Self:
        return self.filter(closed_at=None)

    def waiting_for(self, user: User) -> Self:
        """The open ones with cases for the person, counted as `own_open`."""
        own_open = ReviewTask.objects.open().asked_of(user).filter(queue=OuterRef("pk"))
        return self.open().filter(Exists(own_open)).annotate(own_open=_count_outputs(own_open))

    def random_of(self, run: Run) -> Self:
        """Those whose cases were drawn at random from the whole run, see `is_random_sample`.

        Runs of the same outputs share reviews, and so they share what was drawn of them.
        """
        sampled = self.filter(order=QueueOrder.RANDOM, filters="", baseline=None)
        return sampled.filter(run__output_set=run.output_set_id)

    def with_progress(self, user: User) -> Self:
        """Newest first, with the counts `done` of tasks, and `own_open` of the user's cases."""
        tasks = ReviewTask.objects.filter(queue=OuterRef("pk"))
        done = tasks.filter(done_at__isnull=False).order_by().values("queue")
        own_open = tasks.filter(done_at=None).asked_of(user)
        return self.annotate(
            done=Coalesce(Subquery(done.values(number=Count("pk"))), 0),
            own_open=_count_outputs(own_open),
        ).order_by("-pk")


class ReviewQueue(AddressedRow):
    """Outputs of a run to be reviewed. Its tasks are drawn when it is created and stay.

    The tasks are assigned to people at once or, where it `is_pooled`, taken by the people of the
    `pool` one at a time: a task is reserved for whoever takes it, and free again after a while.

    `filters` is the query of the run's case table that the cases had to pass, empty for the whole
    run. A random sample is reproducible from `seed`. With a `baseline` each output is put beside
    the baseline's output for the same case, and reviewers say which of the two they prefer.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="review_queues")
    run = models.ForeignKey(Run, models.CASCADE, related_name="review_queues")
    baseline = models.ForeignKey(
        Run, models.CASCADE, null=True, blank=True, related_name="pairwise_queues"
    )
    name = models.CharField(max_length=120, validators=[validate_name])
    order = models.CharField(max_length=10, choices=QueueOrder.choices, default=QueueOrder.VALUE)
    filters = models.TextField(blank=True, default="")
    seed = models.PositiveBigIntegerField(default=0)
    case_count = models.PositiveIntegerField(default=0, help_text="Outputs in the queue.")
    reviewers_per_case = models.PositiveSmallIntegerField(default=1)
    is_pooled = models.BooleanField(
        default=False, help_text="Whether reviewers take its cases one at a time."
    )
    pool = models.ManyToManyField(
        User, blank=True, related_name="review_pools", help_text="Who may take cases of it."
    )
    question_set = models.ForeignKey(
        QuestionSet,
        models.RESTRICT,
        null=True,
        blank=True,
        related_name="queues",
        help_text="What is asked beside the verdict.",
    )
    due_on = models.DateField(null=True, blank=True)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ReviewQueueQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.closed_at is None

    @property
    def total(self) -> int:
        """How many tasks it has."""
        return self.case_count * self.reviewers_per_case

    @property
    def is_random_sample(self) -> bool:
        """Whether its labels speak for the whole run."""
        return self.order == QueueOrder.RANDOM and not self.filters and not self.is_pairwise

    @property
    def is_pairwise(self) -> bool:
        return self.baseline_id is not None

    @property
    def unit(self) -> str:
        """What one task of it shows."""
        return "pair" if self.is_pairwise else "case"

    @property
    def done_label(self) -> str:
        """What is done with it."""
        return "compared" if self.is_pairwise else "reviewed"

    @property
    def order_label(self) -> str:
        """How its cases were chosen, as pages say it."""
        if self.is_pairwise:
            return "pairwise, at random"
        return "random sample" if self.order == QueueOrder.RANDOM else "most informative cases"

    @property
    def is_overdue(self) -> bool:
        return self.is_open and self.due_on is not None and self.due_on < _today()


def may_have_tasks(person: User) -> bool:
    """False where it is known without a query that nothing is left for the person to review: they
    are in no pool (`is_in_pools`) and all tasks of their own are done (`has_tasks`).
    """
    return getattr(person, "is_in_pools", True) or getattr(person, "has_tasks", True)


class ReviewTaskQuerySet(models.QuerySet["ReviewTask"]):
    def open(self) -> Self:
        """Those not done yet, of queues that are open."""
        return self.filter(done_at=None, queue__closed_at=None)

    def of(self, reviewer: User) -> Self:
        return self.filter(reviewer=reviewer)

    def asked_of(self, person: User) -> Self:
        """Those of the person, and those that they may be given from a pool.

        Of a pool these are all but the ones for outputs that the person has done: a reservation of
        somebody else ends by itself. Whoever is known to be in none, by `is_in_pools`, is asked
        for their own alone, which an index tells.
        """
        if not getattr(person, "is_in_pools", True):
            return self.of(person)
        pools = ReviewQueue.objects.filter(pool=person).order_by().values("pk")
        same = {"queue": OuterRef("queue"), "output": OuterRef("output")}
        done = ReviewTask.objects.filter(reviewer=person, done_at__isnull=False, **same)
        return self.filter(Q(reviewer=person) | (Q(queue__in=pools) & ~Exists(done)))

    def free(self) -> Self:
        """Those of a pool that are neither done nor reserved at this moment."""
        is_released = Q(reserved_until__lte=timezone.now())
        return self.filter(Q(reviewer=None) | is_released, done_at=None)

    def take(self, person: User) -> ReviewTask | None:
        """Reserve the first of these for the person; None where none is free.

        Of two people who take at the same moment, the second gets the next one; one person never
        gets an output twice.
        """
        tried: list[int] = []
        while task := self.free().exclude(pk__in=tried).first():
            tried.append(task.pk)
            with suppress(IntegrityError), transaction.atomic():  # another window has the output
                if ReviewTask.objects.filter(pk=task.pk).free().reserve(person):
                    task.refresh_from_db()
                    return task
        return None

    def reserve(self, person: User) -> int:
        """From this moment on; returns how many."""
        until = timezone.now() + RESERVATION
        return self.update(reviewer=person, reserved_until=until, skipped_at=None)

    def in_turn(self) -> Self:
        """In the order in which they are reviewed: skipped ones come last."""
        return self.order_by(models.F("skipped_at").asc(nulls_first=True), "position", "pk")

    def answered_by(self, labels: Collection[str]) -> Self:
        """Those for which a verdict with answers to the questions of these labels is enough."""
        asks_nothing = Q(queue__question_set=None)
        return self.filter(
            asks_nothing | Q(queue__question_set__label__in=labels), queue__baseline=None
        )

    def mark_done(self, output: Output, reviewer: User, answered: Collection[str] = ()) -> None:
        """Every review of the output that the person was asked for is done.

        Where a queue has questions, only if these are among the `answered` ones, by their labels.
        """
        self.filter(output=output).answered_by(answered).finish(reviewer)

    def mark_open(self, output: Output, reviewer: User) -> None:
        """Every review of the output that the person was asked for is open again."""
        self.filter(output=output, queue__baseline=None).reopen(reviewer)

    def mark_pair(
        self, candidate: Output, baseline: Output, reviewer: User, *, is_done: bool
    ) -> None:
        """The pairs of two outputs that the person was asked to compare are done, or open again."""
        sets = {"queue__baseline__output_set": baseline.output_set_id}
        tasks = self.filter(output=candidate, **sets)
        tasks.finish(reviewer) if is_done else tasks.reopen(reviewer)

    def finish(self, person: User) -> None:
        """Of these, the person's are done; of each output in a pool of theirs, a free one."""
        same = {"queue": OuterRef("queue"), "output": OuterRef("output")}
        offered = self.open().free().filter(queue__pool=person)
        offered = offered.filter(~Exists(ReviewTask.objects.of(person).filter(**same)))
        rows = offered.order_by("pk").values_list("queue", "output", "pk")
        firsts = list({(queue, output): pk for queue, output, pk in reversed(rows)}.values())
        for start in range(0, len(firsts), _BATCH):
            taken = ReviewTask.objects.filter(pk__in=firsts[start : start + _BATCH])
            taken.free().reserve(person)
        self.of(person).filter(done_at=None).update(done_at=timezone.now())

    def reopen(self, person: User) -> None:
        """Of these, the person's are open again; those of a pool are reserved for them."""
        until = timezone.now() + RESERVATION
        self.of(person).filter(queue__is_pooled=True).update(reserved_until=until)
        self.of(person).update(done_at=None)


class ReviewTask(models.Model):
    """One output for one reviewer, who is None while a pool has it.

    Like all that hangs on outputs it carries no database constraint towards them; whoever removes
    outputs removes their tasks first.
    """

    queue = models.ForeignKey(ReviewQueue, models.CASCADE, related_name="tasks", db_index=False)
    output = models.ForeignKey(
        Output, models.CASCADE, related_name="review_tasks", db_index=False, db_constraint=False
    )
    reviewer = models.ForeignKey(
        User,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="review_tasks",
        db_index=False,
    )
    reserved_until = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="Of a task that was taken from a pool."
    )
    position = models.PositiveIntegerField()
    reason = models.PositiveSmallIntegerField(choices=TaskReason.choices)
    detail = models.CharField(max_length=200, blank=True, default="")
    skipped_at = models.DateTimeField(null=True, blank=True, editable=False)
    done_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ReviewTaskQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "reviewer", "output"], name="review_task_once")
        ]
        indexes = [
            models.Index(
                fields=["queue", "reviewer", "done_at", "skipped_at", "position"],
                name="tasks_in_turn",
            ),
            models.Index(
                fields=["queue", "position", "done_at", "reserved_until"], name="tasks_by_case"
            ),
            models.Index(fields=["reviewer", "done_at", "queue"], name="tasks_of_reviewer"),
            models.Index(fields=["output", "reviewer"], name="tasks_of_output"),
        ]

    def __str__(self) -> str:
        return f"{self.queue} #{self.position}: {self.reviewer or 'in the pool'}"


def sampled_outputs(run: Run) -> set[int]:
    """The ids of the outputs that were drawn at random from the whole run, in any of its queues."""
    drawn = ReviewTask.objects.filter(queue__in=ReviewQueue.objects.random_of(run))
    return set(drawn.values_list("output", flat=True))


def _count_outputs(tasks: models.QuerySet[ReviewTask]) -> Coalesce:
    """The number of their outputs, as a column."""
    counted = tasks.order_by().values("queue").annotate(number=Count("output", distinct=True))
    return Coalesce(Subquery(counted.values("number"), output_field=IntegerField()), 0)


def _today() -> date:
    return timezone.localdate()
