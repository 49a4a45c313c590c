"""Datasets, their immutable versions and the cases in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar, Final, Self

from django.apps import apps
from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import StrIndex
from django.utils import timezone

from scoring.core.search_text import fold_text
from scoring.models.base import AddressedRow, validate_name
from scoring.models.locks import lock_row
from scoring.models.search_text import SearchTextField, quoted_text
from scoring.models.subqueries import count_rows
from scoring.models.team.team import Team, User
from scoring.models.written_json import WrittenJSONField

KEY_LENGTH = 200
RETENTION: Final = timedelta(days=7)  # a deleted dataset can be restored so long
_PER_QUERY: Final = 900  # SQLite may be built for no more than 999 parameters


class DatasetQuerySet(models.QuerySet["Dataset"]):
    def visible_to(self, user: User) -> Self:
        """The datasets of this person's teams, those still loading included."""
        return self.filter(team__in=Team.objects.of(user))

    def published(self) -> Self:
        """Those with at least one ready version."""
        return self.filter(latest__isnull=False)

    def listed(self) -> Self:
        """The published ones that are not archived."""
        return self.published().filter(archived_at=None)

    def deleted(self) -> Self:
        """Those that can still be restored; only `Dataset.with_deleted` has them."""
        return self.filter(deleted_at__gte=timezone.now() - RETENTION)

    def for_list(self) -> Self:
        """Newest first, with `latest` joined and the attribute `run_count`."""
        runs = apps.get_model("scoring", "Run").objects
        own = runs.filter(output_set__version__dataset=models.OuterRef("pk"))
        counted = self.annotate(run_count=count_rows(own))
        return counted.select_related("latest").order_by("-id")


_Datasets = models.Manager.from_queryset(DatasetQuerySet)


class UndeletedDatasets(_Datasets["Dataset"]):
    """The one door to datasets: those that nobody has deleted."""

    def get_queryset(self) -> models.QuerySet[Dataset]:
        return super().get_queryset().filter(deleted_at=None)


class Dataset(AddressedRow):
    """A named set of cases a team keeps; what changes over time is its versions.

    A deleted one can be restored for RETENTION, with the runs and rules deleted in that moment.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="datasets")
    name = models.CharField(max_length=120, validators=[validate_name])
    latest = models.ForeignKey(
        "DatasetVersion", models.SET_NULL, null=True, blank=True, related_name="+"
    )
    suite = models.ForeignKey(
        "Suite", models.SET_NULL, null=True, blank=True, related_name="datasets",
        help_text="Scores this dataset's runs where no other suite is named.",
    )  # fmt: skip
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = UndeletedDatasets()
    with_deleted = DatasetQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"], condition=Q(deleted_at=None), name="dataset_name_once"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_ready(self) -> bool:
        return self.latest_id is not None


class VersionState(models.TextChoices):
    LOADING = "loading"
    READY = "ready"


class ReadyVersions(models.Manager["DatasetVersion"]):
    """Only versions that are whole: one that is still loading does not exist for anybody."""

    def get_queryset(self) -> models.QuerySet[DatasetVersion]:
        return super().get_queryset().filter(state=VersionState.READY)

    def visible_to(self, user: User) -> models.QuerySet[DatasetVersion]:
        return self.filter(dataset__team__in=Team.objects.of(user), dataset__deleted_at=None)


class DatasetVersion(AddressedRow):
    """The cases of a dataset at one moment; never changed once ready.

    `number` counts from 1 and is given on publishing; `content_hash` is SHA-256 over every case
    in order, so equal content is recognised.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField(null=True, editable=False)
    state = models.CharField(
        max_length=10, choices=VersionState.choices, default=VersionState.LOADING
    )
    content_hash = models.CharField(max_length=64, blank=True)
    case_count = models.PositiveIntegerField(default=0)
    skipped_rows = models.PositiveIntegerField(default=0)
    source_name = models.CharField(max_length=255, blank=True)
    mapping = WrittenJSONField(default=dict, blank=True)
    message = models.TextField(blank=True, default="", help_text="Why it was made, by who made it.")
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    published_at = models.DateTimeField(null=True, blank=True)

    objects = ReadyVersions()
    with_loading: ClassVar[models.Manager[DatasetVersion]] = models.Manager()

    class Meta:
        base_manager_name = "with_loading"
        ordering = ["dataset_id", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "number"], name="version_number_once"),
            models.CheckConstraint(
                condition=Q(state=VersionState.LOADING) | Q(number__isnull=False),
                name="ready_version_has_number",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dataset} v{self.number}" if self.number else f"{self.dataset} (loading)"

    @property
    def numbered(self) -> str:
        """Its number, beside that of the latest version where there is a later one: "1 of 2"."""
        latest = self.dataset.latest
        is_older = latest is not None and (latest.number or 0) > (self.number or 0)
        return f"{self.number} of {latest.number}" if latest and is_older else str(self.number)

    def publish(self, *, content_hash: str, case_count: int, skipped_rows: int = 0) -> None:
        """Make this version the dataset's latest, in one short transaction.

        Raises DatabaseError where the version was removed meanwhile.
        """
        with transaction.atomic():
            lock_row(self.dataset, "latest")
            last = DatasetVersion.objects.filter(dataset=self.dataset).first()
            self.number = (last.number or 0) + 1 if last else 1
            self.state = VersionState.READY
            self.content_hash, self.case_count = content_hash, case_count
            self.skipped_rows, self.published_at = skipped_rows, timezone.now()
            self.save(force_update=True)
            self.dataset.latest = self
            self.dataset.save(update_fields=["latest"])


class CaseQuerySet(models.QuerySet["Case"]):
    def matching(self, text: str) -> Self:
        """Those that hold the text in key, input or expected, whatever the case of its letters.

        Texts are stored as JSON, so a quotation mark or a line end is searched as JSON writes it.
        """
        folded = fold_text(text)
        folded_json = fold_text(quoted_text(text))
        as_stored = (
            Q(key__holds=folded)
            | Q(input_json__holds=folded_json)
            | Q(expected_json__holds=folded_json)
        )
        return self.filter(Q(search_text=None) & as_stored | Q(search_text__holds=folded_json))

    def tagged(self, tag: str) -> Self:
        """Those with exactly this tag."""
        index = StrIndex("tags_json", models.Value(json.dumps(tag, ensure_ascii=False)))
        return self.alias(tag_index=index).filter(tag_index__gt=0)

    def positions_of(self, positions: Sequence[int]) -> dict[str, int]:
        """By key the positions of the cases at these positions, in order."""
        by_key: dict[str, int] = {}
        for start in range(0, len(positions), _PER_QUERY):
            cases = self.filter(position__in=positions[start : start + _PER_QUERY])
            by_key.update(cases.order_by("position").values_list("key", "position"))
        return by_key


#: The columns of a case's content, in the order its rows are copied in.
CONTENT: Final = ("input_json", "expected_json", "references_json", "metadata_json", "tags_json")


class CaseContent(models.Model):
    """What is asked, and what is expected of the answer.

    The `*_json` columns hold JSON text, so that any value survives character for character;
    `expected_json` is None where the case has no expected output, and "null" where it is null.
    """

    input_json = models.TextField("input")
    expected_json = models.TextField("expected", null=True, blank=True)
    references_json = models.TextField("references", default="[]")
    metadata_json = models.TextField("metadata", default="{}")
    tags_json = models.TextField("tags", default="[]")

    class Meta:
        abstract = True

    @property
    def input(self) -> Any:
        return json.loads(self.input_json)

    @property
    def has_expected(self) -> bool:
        return self.expected_json is not None

    @property
    def expected(self) -> Any:
        """The expected value; None both where it is absent and where it is null."""
        return json.loads(self.expected_json) if self.expected_json is not None else None

    @property
    def references(self) -> list[str]:
        return list(json.loads(self.references_json))

    @property
    def metadata(self) -> dict[str, Any]:
        return dict(json.loads(self.metadata_json))

    @property
    def tags(self) -> list[str]:
        return list(json.loads(self.tags_json))

    @property
    def content(self) -> tuple[str | None, ...]:
        """The columns' values, in the order of CONTENT."""
        return tuple(getattr(self, name) for name in CONTENT)


class Case(CaseContent):
    """One case of a version, under a key that lasts through versions.

    The database does not look each row's version up: whoever stores rows locks the version.
    """

    version = models.ForeignKey(
        DatasetVersion, models.CASCADE, related_name="cases", db_index=False, db_constraint=False
    )
    position = models.PositiveIntegerField(help_text="Counts from 1, in the file's order.")
    key = models.CharField(max_length=KEY_LENGTH)
    search_text = SearchTextField("key", "input_json", "expected_json")

    objects = CaseQuerySet.as_manager()

    class Meta:
        ordering = ["version_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "position"], name="case_position_once"),
            models.UniqueConstraint(fields=["version", "key"], name="case_key_once"),
        ]

    def __str__(self) -> str:
        return self.key
