"""Question sets: what a team asks reviewers beside the verdict; each version stays as it is."""

from __future__ import annotations

from functools import cached_property
from typing import Final, Self

from django.db import models, transaction
from django.db.models import Max
from django.utils import timezone

from scoring.core.questions import Questions
from scoring.models.base import AddressedRow, validate_name
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Team, User
from scoring.models.written_json import WrittenJSONField

MAX_NAME: Final = 60  # characters


class QuestionSetQuerySet(models.QuerySet["QuestionSet"]):
    def newest(self, team: Team) -> Self:
        """The newest version of each of the team's sets, by name."""
        of_team = self.filter(team=team, removed_at=None)
        numbers = of_team.order_by().values("name").annotate(newest=Max("pk")).values("newest")
        return of_team.filter(pk__in=numbers).order_by("name")

    def publish(
        self, team: Team, name: str, questions: Questions, *, by: User | None
    ) -> QuestionSet:
        """The next version of the team's set of this name; the newest one if it asks the same."""
        content = questions.as_json()
        with transaction.atomic():
            Team.objects.lock(team)
            versions = self.filter(team=team, name=name)
            newest = versions.order_by("-number").first()
            if newest and newest.content == content and newest.removed_at is None:
                return newest
            number = newest.number + 1 if newest else 1
            label = f"{name} v{number}"
            versions.update(removed_at=None)
            fields = {"number": number, "label": label, "content": content}
            made = self.create(team=team, name=name, created_by=by, **fields)
            new = {"questions": content}
            AuditEntry.objects.record(team, by, "question_set.published", made, new=new)
        return made

    def remove(self, team: Team, name: str, *, by: User) -> int:
        """Take a set off the team's list, audited; queues keep it. Returns the versions."""
        with transaction.atomic():
            Team.objects.lock(team)
            listed = self.filter(team=team, name=name, removed_at=None)
            newest = listed.order_by("-number").first()
            if newest:
                old = {"name": name}
                AuditEntry.objects.record(team, by, "question_set.removed", newest, old=old)
            return listed.update(removed_at=timezone.now())


class QuestionSet(AddressedRow):
    """One version of a team's questions. `label` is what answers to it are kept under."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="question_sets")
    name = models.CharField(max_length=MAX_NAME, validators=[validate_name])
    number = models.PositiveIntegerField()
    label = models.CharField(max_length=MAX_NAME + 12, editable=False)
    content = WrittenJSONField(help_text="The questions as `Questions.as_json` gives them.")
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    removed_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = QuestionSetQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "name", "number"], name="question_set_once"),
            models.UniqueConstraint(fields=["team", "label"], name="question_set_label_once"),
        ]

    def __str__(self) -> str:
        return self.label

    @cached_property
    def questions(self) -> Questions:
        return Questions.parse(self.content)
