"""Changes of a dataset besides its cases: its name, the archive, deletion and restoring."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import groupby

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from scoring.engine.imports import cleanup
from scoring.engine.jobs.isolation import do_each
from scoring.engine.runs.hooks import SERIES_CHANGED, call_hooks
from scoring.models import AlertRule, AuditEntry, Dataset, Run, User
from scoring.models.data.dataset import RETENTION
from scoring.models.locks import lock_row
from scoring.models.runs.run import OLDEST_FIRST, UNFINISHED


def rename_dataset(dataset: Dataset, name: str, by: User | None) -> None:
    """Give the dataset another name; links, runs and reports keep it under the new one.

    Raises ValidationError where the team has a dataset of that name.
    """
    old = dataset.name
    try:
        with transaction.atomic():
            lock_row(dataset, "name")
            old = dataset.name
            if name == old:
                return
            dataset.name = name
            dataset.save(update_fields=["name"])
            changed = {"old": {"name": old}, "new": {"name": name}}
            AuditEntry.objects.record(dataset.team, by, "dataset.renamed", dataset, **changed)
    except IntegrityError:
        dataset.name = old
        raise ValidationError(f"There is a dataset “{name}” already.") from None


def archive_dataset(dataset: Dataset, by: User | None) -> None:
    """Take the dataset off lists and choices; its pages, runs and commands keep it."""
    _mark(dataset, timezone.now(), "dataset.archived", by)


def unarchive_dataset(dataset: Dataset, by: User | None) -> None:
    _mark(dataset, None, "dataset.unarchived", by)


def delete_dataset(dataset: Dataset, by: User | None) -> None:
    """Hide the dataset, its runs and alert rules until it is restored, or purged after RETENTION.

    Raises ValidationError while a run of it has not ended or an upload into it is open.
    """
    with transaction.atomic():
        dataset = Dataset.with_deleted.select_for_update().get(pk=dataset.pk)
        if dataset.deleted_at is not None:
            return
        runs = Run.objects.of_dataset(dataset)
        if runs.filter(state__in=UNFINISHED).exists():
            raise ValidationError("A run of this dataset has not ended: cancel it first.")
        if dataset.uploads.unfinished().exists():
            raise ValidationError("An upload into this dataset is open: cancel it first.")
        now = timezone.now()
        counts = {"runs": runs.count(), "alert_rules": dataset.alert_rules.count()}
        Run.objects.filter(pk__in=runs.values("pk")).update(deleted_at=now)
        dataset.alert_rules.update(deleted_at=now)
        dataset.deleted_at = now
        dataset.save(update_fields=["deleted_at"])
        AuditEntry.objects.record(dataset.team, by, "dataset.deleted", dataset, old=counts)


def restore_dataset(dataset: Dataset, by: User | None) -> None:
    """Show a deleted dataset again, with the runs and rules that were deleted with it.

    Raises ValidationError where another dataset has its name by now.
    """
    with transaction.atomic():
        dataset = Dataset.with_deleted.select_for_update().get(pk=dataset.pk)
        if dataset.deleted_at is None:
            return
        if Dataset.objects.filter(team=dataset.team, name=dataset.name).exists():
            text = f"There is a dataset “{dataset.name}” by now: rename that one first."
            raise ValidationError(text)
        deleted_with_it = {"deleted_at": dataset.deleted_at}
        rules = AlertRule.with_deleted.filter(dataset=dataset, **deleted_with_it)
        rules.update(deleted_at=None)
        runs = Run.with_deleted.of_dataset(dataset).filter(**deleted_with_it)
        restored = list(runs.values_list("pk", flat=True))
        back = {"deleted_at": None, "restored_at": timezone.now()}
        Run.with_deleted.filter(pk__in=restored).update(**back)
        dataset.deleted_at = None
        dataset.save(update_fields=["deleted_at"])
        AuditEntry.objects.record(dataset.team, by, "dataset.restored", dataset)
        for series in _by_series(restored):
            call_hooks(SERIES_CHANGED, series)


def _by_series(runs: Collection[int]) -> Iterator[list[Run]]:
    """The runs of each series, in the order of time."""
    ordered = Run.objects.filter(pk__in=runs).select_related("output_set__version")
    rows = ordered.order_by("output_set__series", *OLDEST_FIRST)
    for _, series in groupby(rows, key=lambda run: run.output_set.series):
        yield list(series)


def purge_deleted_datasets() -> None:
    """Remove for good the datasets that were deleted more than RETENTION ago.

    Their runs are purged first, by `purge_deleted_runs`.
    """
    old = Dataset.with_deleted.filter(deleted_at__lt=timezone.now() - RETENTION)
    do_each(old.select_related("team").order_by("pk"), _purge, "purging a dataset")


def _purge(dataset: Dataset) -> None:
    if not Run.with_deleted.of_dataset(dataset).exists():
        with transaction.atomic():
            AuditEntry.objects.record(dataset.team, None, "dataset.purged", dataset)
        cleanup.remove_dataset(dataset)


def _mark(dataset: Dataset, when: datetime | None, action: str, by: User | None) -> None:
    """Set or clear the time and audit that, unless it is set or clear already."""
    with transaction.atomic():
        unmarked = Dataset.objects.filter(pk=dataset.pk, archived_at__isnull=when is not None)
        if unmarked.update(archived_at=when):
            AuditEntry.objects.record(dataset.team, by, action, dataset)
    dataset.archived_at = when
