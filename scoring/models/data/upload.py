"""Uploads: files that are received, checked and imported; and the worker's row."""

from __future__ import annotations

from typing import Self

from django.db import models

from scoring.models.base import AddressedRow
from scoring.models.data.dataset import Dataset, DatasetVersion
from scoring.models.team.team import Team, User
from scoring.models.written_json import WrittenJSONField


class UploadState(models.TextChoices):
    RECEIVED = "received"  # lies in the spool, waits for a mapping
    CHECKING = "checking"  # waits for or is in its dry run
    CHECKED = "checked"  # the dry run's report is there
    LOADING = "loading"  # waits for or is in its import
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNDONE = "undone"  # imported, and taken back


WAITING = (UploadState.RECEIVED, UploadState.CHECKED)  # for people
WORKING = (UploadState.CHECKING, UploadState.LOADING)


class UploadKind(models.TextChoices):
    DATASET = "dataset"
    OUTPUTS = "outputs"


class UploadQuerySet(models.QuerySet["Upload"]):
    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))

    def unfinished(self) -> Self:
        return self.filter(state__in=(*WAITING, *WORKING))


class Upload(AddressedRow):
    """One file between the browser and the rows. The file lies in the spool under `stored_name`.

    `problems` holds the first hundred as {line, column, code, message}; `row_count` counts rows
    read so far, by the dry run and then again by the import, `share_read` that of the file's
    bytes, 0 to 1; the pace is that of the last seconds.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="uploads")
    kind = models.CharField(max_length=10, choices=UploadKind.choices, default=UploadKind.DATASET)
    state = models.CharField(
        max_length=10, choices=UploadState.choices, default=UploadState.RECEIVED
    )
    dataset = models.ForeignKey(
        Dataset, models.SET_NULL, null=True, blank=True, related_name="uploads"
    )
    dataset_name = models.CharField(max_length=120, blank=True)
    file_name = models.CharField(max_length=255)
    stored_name = models.CharField(max_length=80, unique=True, editable=False)
    size_bytes = models.PositiveBigIntegerField()
    detected = WrittenJSONField(default=dict, blank=True)
    mapping = WrittenJSONField(default=dict, blank=True)
    series = models.CharField(max_length=120, blank=True)
    dated = models.DateTimeField(null=True, blank=True)
    row_count = models.PositiveIntegerField(default=0)
    share_read = models.FloatField(default=0.0)
    rows_a_second = models.FloatField(null=True, blank=True)
    seconds_left = models.FloatField(null=True, blank=True)
    problem_count = models.PositiveIntegerField(default=0)
    problems = models.JSONField(default=list, blank=True)
    report = models.JSONField(default=dict, blank=True)
    version = models.ForeignKey(
        DatasetVersion, models.SET_NULL, null=True, blank=True, related_name="uploads"
    )
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    lease_owner = models.CharField(max_length=80, blank=True, default="")
    lease_expires_at = models.DateTimeField(null=True, blank=True)

    objects = UploadQuerySet.as_manager()

    def __str__(self) -> str:
        return self.file_name

    @property
    def is_working(self) -> bool:
        return self.state in WORKING


class WorkQueue(models.TextChoices):
    """Kinds of work, each of which a worker takes or leaves to others."""

    SCORING = "scoring"  # runs that compute
    JUDGES = "judges"  # runs that ask models
    EMBEDDINGS = "embeddings"  # runs that embed
    IMPORTS = "imports"
    JOBS = "jobs"  # what people ask for besides, alerts and mail


class Worker(models.Model):
    """A worker and when it was last seen alive. `process_count` of its processes score.

    It takes work of `queues`, of all where it names none. `settings` are what it has to have in
    common with the others: by name, a value or a digest.
    """

    name = models.CharField(max_length=80, unique=True)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    process_count = models.PositiveSmallIntegerField(default=0)
    queues = models.JSONField(default=list, blank=True)
    settings = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return self.name
