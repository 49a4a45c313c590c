"""Drafts: edits of a dataset's cases that are not a version yet."""

from __future__ import annotations

from typing import Self

from django.db import models

from scoring.models.base import AddressedRow
from scoring.models.data.dataset import KEY_LENGTH, CaseContent, Dataset, DatasetVersion
from scoring.models.prepared_query import prepared_query
from scoring.models.team.team import Team, User


class DraftState(models.TextChoices):
    OPEN = "open"
    PUBLISHED = "published"
    DISCARDED = "discarded"


class DraftQuerySet(models.QuerySet["Draft"]):
    def visible_to(self, user: User) -> Self:
        return self.filter(dataset__team__in=Team.objects.of(user), dataset__deleted_at=None)

    def open_of(self, dataset: Dataset) -> Draft | None:
        """The dataset's open draft with the version it edits, if there is one."""
        return _open_drafts.first(dataset.pk)

    def last_of(self, dataset: Dataset) -> Draft | None:
        """The newest draft in any state, with the version that was made of it."""
        drafts = self.filter(dataset=dataset).order_by("-pk")
        return drafts.select_related("based_on", "published__created_by").first()


@prepared_query
def _open_drafts(dataset: int) -> models.QuerySet[Draft]:
    drafts = Draft.objects.filter(dataset=dataset, state=DraftState.OPEN)
    return drafts.select_related("based_on")


class Draft(AddressedRow):
    """What people have changed since a version; a dataset has at most one that is open.

    Runs, exports and the API know nothing of a draft: it shows once it is `published` as a
    version. `is_publishing` from the request until then; what is being published takes no edits.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="drafts")
    based_on = models.ForeignKey(DatasetVersion, models.CASCADE, related_name="+")
    state = models.CharField(max_length=10, choices=DraftState.choices, default=DraftState.OPEN)
    is_publishing = models.BooleanField(default=False)
    message = models.TextField(blank=True, default="")
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    published = models.ForeignKey(
        DatasetVersion, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    discarded_at = models.DateTimeField(null=True, blank=True)

    objects = DraftQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["dataset"], condition=models.Q(state="open"), name="one_open_draft"
            )
        ]

    def __str__(self) -> str:
        return f"draft of {self.dataset}"

    @property
    def is_open(self) -> bool:
        return self.state == DraftState.OPEN

    @property
    def is_discarded(self) -> bool:
        return self.state == DraftState.DISCARDED

    def counts(self) -> dict[str, int]:
        """How many cases the draft adds, edits and deletes, by kind, and how many `conflicts`
        are to be saved again; one query.
        """
        kinds = {kind.value: models.Count("pk", models.Q(kind=kind)) for kind in EditKind}
        conflicts = models.Count("pk", models.Q(is_conflict=True))
        counts: dict[str, int] = self.edits.order_by().aggregate(conflicts=conflicts, **kinds)
        return counts

    @property
    def is_behind(self) -> bool:
        """Whether the dataset got another version since the draft was begun."""
        return self.based_on_id != self.dataset.latest_id


class EditKind(models.TextChoices):
    ADD = "add"
    EDIT = "edit"
    DELETE = "delete"


class DraftEdit(CaseContent):
    """What becomes of one case: its whole new content, or nothing where it is deleted.

    `revision` counts the saves, so that nobody overwrites what they have not seen. `is_conflict`
    where the case changed in another version meanwhile, until somebody saves it again.
    """

    draft = models.ForeignKey(Draft, models.CASCADE, related_name="edits", db_index=False)
    key = models.CharField(max_length=KEY_LENGTH)
    kind = models.CharField(max_length=6, choices=EditKind.choices)
    revision = models.PositiveIntegerField(default=1)
    is_conflict = models.BooleanField(default=False)
    edited_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    edited_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["draft_id", "id"]
        constraints = [models.UniqueConstraint(fields=["draft", "key"], name="draft_edit_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
