"""What a team's retention rules would remove: the rows older than so many days."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce, Greatest

from scoring.models import (
    AuditEntry,
    Baseline,
    ModelCall,
    OutputSet,
    OutputSetState,
    ReleaseDecision,
    ReviewQueue,
    Run,
    Team,
)
from scoring.models.runs.model_call import ModelCallQuerySet
from scoring.models.runs.run import UNFINISHED, OutputSetQuerySet, RunQuerySet
from scoring.models.team.audit_entry import AuditQuerySet


def runs_to_delete(team: Team, before: datetime) -> RunQuerySet:
    """The team's runs that ended before then and that nothing rests on."""
    return _old_runs(team, before).exclude(_NEEDED)


def runs_still_needed(team: Team, before: datetime) -> RunQuerySet:
    """The runs that stay though they are as old.

    They are baselines, have a release decision or are in an open review queue.
    """
    return _old_runs(team, before).filter(_NEEDED)


def sets_to_empty(team: Team, before: datetime) -> OutputSetQuerySet:
    """The team's output sets first stored before then, unless a run of them has not ended.

    A copy over another version of the dataset is as old as what it was copied from.
    """
    first_stored = Coalesce("original__created_at", "created_at")
    rows = OutputSet.objects.alias(first_stored=first_stored)
    unfinished = Run.with_deleted.filter(output_set=OuterRef("pk"), state__in=UNFINISHED)
    return rows.filter(
        ~Exists(unfinished),
        version__dataset__team=team,
        first_stored__lt=before,
        state=OutputSetState.READY,
    )


def replies_to_remove(team: Team, before: datetime) -> ModelCallQuerySet:
    """The team's model calls before then whose reply is still stored."""
    return ModelCall.objects.filter(team=team, created_at__lt=before, removed_at=None)


def entries_to_remove(team: Team, before: datetime) -> AuditQuerySet:
    """The oldest entries of the team's audit log."""
    return AuditEntry.objects.of(team).oldest_before(before)


_NEEDED = (
    Exists(Baseline.objects.filter(run=OuterRef("pk")))
    | Exists(ReleaseDecision.objects.filter(run=OuterRef("pk")))
    | Exists(ReviewQueue.objects.open().filter(Q(run=OuterRef("pk")) | Q(baseline=OuterRef("pk"))))
)


def _old_runs(team: Team, before: datetime) -> RunQuerySet:
    runs = Run.objects.ended().filter(team=team)
    ended, restored = (Coalesce(moment, "created_at") for moment in ("finished_at", "restored_at"))
    return runs.alias(kept_from=Greatest(ended, restored)).filter(kept_from__lt=before)
