"""Jobs: background work that pages and the end of runs enqueue for the worker."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, Self

from django.db import models
from django.utils import timezone

from scoring.models.base import AddressedRow
from scoring.models.scorers.connection import Connection
from scoring.models.team.team import Team, User


class JobKind(models.TextChoices):
    TRY_SCORER = "try_scorer", "try a scorer"
    PREVIEW_SCORER = "preview_scorer", "preview a scorer on a run"
    TEST_CONNECTION = "test_connection", "test a connection"
    TRY_PROMPT = "try_prompt", "try a prompt"
    MEASURE_VARIANCE = "measure_variance", "check a judge's noise"
    COMPARE = "compare", "compare two runs"
    MEASURE_DRIFT = "measure_drift", "measure the drift of a series"
    PUBLISH_DRAFT = "publish_draft", "publish a draft"
    FIND_DUPLICATES = "find_duplicates", "find cases that are alike"
    FOLLOW_UP = "follow_up", "follow up runs that have ended"
    RELABEL_RUNS = "relabel_runs", "re-label the last runs of a suite"
    APPROVE_CORRECTIONS = "approve_corrections", "publish approved corrections"
    CARRY_OVER = "carry_over", "carry outputs over to another version"
    SCORE_AGAIN = "score_again", "score runs again over another version"


class JobState(models.TextChoices):
    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"
    FAILED = "failed"


RETENTION: Final = timedelta(days=1)
UNFINISHED: Final = (JobState.WAITING, JobState.WORKING)
#: They cost nothing and come to the same each time, so one that was cut short is begun again.
REPEATABLE: Final = (
    *(JobKind.COMPARE, JobKind.MEASURE_DRIFT),
    *(JobKind.PUBLISH_DRAFT, JobKind.FIND_DUPLICATES, JobKind.FOLLOW_UP),
    *(JobKind.RELABEL_RUNS, JobKind.APPROVE_CORRECTIONS, JobKind.CARRY_OVER),
    JobKind.SCORE_AGAIN,
)
MAX_TRIES: Final = 3  # of what ends its process each time


class JobQuerySet(models.QuerySet["Job"]):
    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))

    def unfinished(self) -> Self:
        return self.filter(state__in=UNFINISHED)

    def latest_connection_test(self, connection: Connection) -> Job | None:
        tests = self.filter(team=connection.team_id, kind=JobKind.TEST_CONNECTION)
        return tests.filter(request__connection=str(connection.uuid)).order_by("pk").last()

    def delete_expired(self) -> None:
        """Remove the jobs of more than RETENTION ago, but for what still follows a change."""
        to_do = models.Q(state__in=UNFINISHED, kind__in=REPEATABLE)
        self.filter(created_at__lt=timezone.now() - RETENTION).exclude(to_do).delete()


class Job(AddressedRow):
    """One request to the worker and its answer.

    The shapes of `request` and `answer` belong to the kind. `problem` says in a sentence why there
    is no answer. `requested_by` is None where nobody waits: for what follows the end of a run
    or a new version, or makes a later page quicker. Old jobs are forgotten after a day.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=20, choices=JobKind.choices)
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.WAITING)
    requested_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    request = models.JSONField(default=dict)
    answer = models.JSONField(default=dict)
    problem = models.TextField(default="", blank=True)
    try_count = models.PositiveSmallIntegerField(default=0, editable=False)
    lease_owner = models.CharField(max_length=80, blank=True, default="")
    lease_expires_at = models.DateTimeField(null=True, blank=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["state"], name="job_by_state")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.state}"

    @property
    def is_open(self) -> bool:
        return self.state in UNFINISHED

    def store_progress(self, progress: Mapping[str, Any]) -> bool:
        """Store how far the worker is in place of the answer, until that is there. Returns False
        once nobody wants the job any more.
        """
        row = Job.objects.filter(pk=self.pk, state=JobState.WORKING)
        return bool(row.update(answer=progress))

    @property
    def can_start(self) -> bool:
        """Whether it waits, or was cut short and can be begun again: one that ends its worker each
        time is not tried for ever.
        """
        is_repeatable = self.kind in REPEATABLE and self.try_count < MAX_TRIES
        return self.state == JobState.WAITING or (self.is_open and is_repeatable)
