"""Changes of a run besides scoring: its name and note, archiving, deletion and restoring."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from scoring.engine.jobs.isolation import do_each
from scoring.engine.runs.hooks import SERIES_CHANGED, call_hooks
from scoring.models import Attempt, AuditEntry, Baseline, CaseVerdict, Run, RunScorer, Score, User
from scoring.models.data.dataset import RETENTION
from scoring.models.locks import lock_row

ROWS_A_STEP: Final = 5_000


def edit_run(run: Run, *, name: str, note: str, by: User | None) -> None:
    """Give the run another name and note; audited where something changed."""
    with transaction.atomic():
        lock_row(run, "name", "note")
        old, new = {"name": run.name, "note": run.note}, {"name": name, "note": note}
        if old == new:
            return
        run.name, run.note = name, note
        run.save(update_fields=["name", "note"])
        AuditEntry.objects.record(run.team, by, "run.edited", run, old=old, new=new)


def archive_run(run: Run, by: User | None) -> None:
    """Take the run off the lists; links, comparisons and drift keep it."""
    _mark(run, "archived_at", timezone.now(), "run.archived", by)


def unarchive_run(run: Run, by: User | None) -> None:
    _mark(run, "archived_at", None, "run.unarchived", by)


def delete_run(run: Run, by: User | None) -> None:
    """Hide the run everywhere until it is restored, or purged after RETENTION.

    Raises ValidationError for a run that has not ended or is a baseline.
    """
    with transaction.atomic():
        state = Run.with_deleted.select_for_update().values_list("state", flat=True)
        run.state = state.get(pk=run.pk)
        if run.is_unfinished:
            raise ValidationError(f"The run is {run.state}: cancel it first.")
        if Baseline.objects.filter(run=run).exists():
            text = "The run is its series' baseline: take it back as baseline first."
            raise ValidationError(text)
        _mark(run, "deleted_at", timezone.now(), "run.deleted", by)
        call_hooks(SERIES_CHANGED, [run])


def restore_run(run: Run, by: User | None) -> None:
    """Show a run again that was deleted less than RETENTION ago."""
    with transaction.atomic():
        if _mark(run, "deleted_at", None, "run.restored", by):
            run.restored_at = timezone.now()
            run.save(update_fields=["restored_at"])
        call_hooks(SERIES_CHANGED, [run])


def restorable_until(run: Run) -> datetime | None:
    """When a deleted run is gone for good."""
    return run.deleted_at + RETENTION if run.deleted_at else None


def _mark(run: Run, field: str, when: datetime | None, action: str, by: User | None) -> bool:
    """Set or clear the time and audit that, unless it is set or clear already, which is False."""
    with transaction.atomic():
        unmarked = Run.with_deleted.filter(pk=run.pk, **{f"{field}__isnull": when is not None})
        is_changed = bool(unmarked.update(**{field: when}))
        if is_changed:
            AuditEntry.objects.record(run.team, by, action, run)
    setattr(run, field, when)
    return is_changed


def purge_deleted_runs() -> None:
    """Remove for good the runs that were deleted more than RETENTION ago."""
    old = Run.with_deleted.filter(deleted_at__lt=timezone.now() - RETENTION)
    do_each(old.select_related("team").order_by("pk"), _purge, "purging a run")


def _purge(run: Run) -> None:
    Attempt.objects.filter(run=run).delete()  # with its shards: nobody scores it any more
    for scorer in RunScorer.with_deleted.filter(run=run):
        _remove(Score.objects.filter(scorer=scorer))
    _remove(CaseVerdict.objects.filter(run=run))
    with transaction.atomic():
        AuditEntry.objects.record(run.team, None, "run.purged", run)
        run.delete()


def _remove(rows: QuerySet[Any]) -> None:
    """In short transactions, so that other writers get their turn."""
    while batch := list(rows.order_by().values_list("pk", flat=True)[:ROWS_A_STEP]):
        rows.filter(pk__in=batch).delete()
