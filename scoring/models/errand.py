"""Errands: what a page asks of the worker, because the web process must not do it itself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, Self

from django.db import models
from django.utils import timezone

from scoring.models.base import AddressedRow
from scoring.models.connection import Connection
from scoring.models.team import Team, User


class ErrandKind(models.TextChoices):
    TRY_SCORER = "try_scorer", "try a scorer"
    PREVIEW_SCORER = "preview_scorer", "preview a scorer on a run"
    TEST_CONNECTION = "test_connection", "test a connection"
    TRY_PROMPT = "try_prompt", "try a prompt"
    CHECK_NOISE = "check_noise", "check a judge's noise"
    COMPARE = "compare", "compare two runs"
    MEASURE_DRIFT = "measure_drift", "measure the drift of a series"
    PUBLISH_DRAFT = "publish_draft", "publish a draft"
    FIND_LIKENESSES = "find_likenesses", "find cases that are alike"


class ErrandState(models.TextChoices):
    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"
    FAILED = "failed"


KEPT_FOR: Final = timedelta(days=1)
OPEN: Final = (ErrandState.WAITING, ErrandState.WORKING)
#: They cost nothing and come to the same each time, so one that was cut short is begun again.
REPEATABLE: Final = (
    *(ErrandKind.COMPARE, ErrandKind.MEASURE_DRIFT),
    *(ErrandKind.PUBLISH_DRAFT, ErrandKind.FIND_LIKENESSES),
)
MOST_TRIES: Final = 3


class ErrandQuerySet(models.QuerySet["Errand"]):
    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))

    def unfinished(self) -> Self:
        return self.filter(state__in=OPEN)

    def latest_test_of(self, connection: Connection) -> Errand | None:
        tests = self.filter(team=connection.team_id, kind=ErrandKind.TEST_CONNECTION)
        return tests.filter(request__connection=str(connection.uuid)).order_by("pk").last()

    def forget_old(self) -> None:
        """Remove the errands of more than KEPT_FOR ago, but for what still follows a change."""
        to_do = models.Q(state__in=OPEN, kind__in=REPEATABLE)
        self.filter(created_at__lt=timezone.now() - KEPT_FOR).exclude(to_do).delete()


class Errand(AddressedRow):
    """One request to the worker and its answer.

    The shapes of `request` and `answer` belong to the kind. `problem` says in a sentence why there
    is no answer. `asked_by` is None where nobody waits: for what follows the end of a run
    or a new version, or makes a later page quicker. Old errands are forgotten after a day.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="errands")
    kind = models.CharField(max_length=20, choices=ErrandKind.choices)
    state = models.CharField(
        max_length=10, choices=ErrandState.choices, default=ErrandState.WAITING
    )
    asked_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    request = models.JSONField(default=dict)
    answer = models.JSONField(default=dict)
    problem = models.TextField(default="", blank=True)
    tries = models.PositiveSmallIntegerField(default=0, editable=False)
    held_by = models.CharField(max_length=80, blank=True, default="")
    held_until = models.DateTimeField(null=True, blank=True)

    objects = ErrandQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["state"], name="errand_by_state")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.state}"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    def tell(self, progress: Mapping[str, Any]) -> bool:
        """How far the worker is, in the answer's place until that is there; whether anybody still
        wants it.
        """
        mine = Errand.objects.filter(pk=self.pk, state=ErrandState.WORKING)
        return bool(mine.update(answer=progress))

    @property
    def may_begin(self) -> bool:
        """Whether it waits, or was cut short and can be begun again: one that ends its worker each
        time is not tried for ever.
        """
        again = self.kind in REPEATABLE and self.tries < MOST_TRIES
        return self.state == ErrandState.WAITING or (self.is_open and again)
