"""The removal of what is too old, in short transactions, so that other writers get their turn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from scoring.engine.jobs.isolation import do_each
from scoring.engine.retention import rules
from scoring.engine.runs.lifecycle import delete_run
from scoring.models import (
    AuditEntry,
    ModelCall,
    Output,
    OutputSet,
    OutputSetState,
    Run,
    RunScorer,
    Score,
    Team,
)
from scoring.models.runs.result_rows import without_quotations
from scoring.models.runs.run import TEXT_REMOVED

ROWS_A_STEP: Final = 500


def delete_runs(team: Team, before: datetime) -> None:
    """Delete the runs as a person would: they can be restored for a while."""
    runs = rules.runs_to_delete(team, before).select_related("team")
    do_each(list(runs.order_by("pk")), _delete_run, "deleting an old run")


def _delete_run(run: Run) -> None:
    try:
        delete_run(run, None)
    except ValidationError:  # somebody has started it again, or made it a baseline
        return


def remove_texts(team: Team, before: datetime) -> None:
    """Remove the texts of outputs, and what reasons and details of their scores quote of them."""
    new = rules.sets_to_empty(team, before).select_related("version__dataset__team")
    do_each(list(new.order_by("pk")), _mark_emptied, "removing the texts of outputs")
    marked = OutputSet.objects.filter(state=OutputSetState.EMPTIED, emptied_at=None)
    of_team = marked.filter(version__dataset__team=team).order_by("pk")
    do_each(list(of_team), _empty, "removing the texts of outputs")


def _mark_emptied(output_set: OutputSet) -> None:
    """From now on nothing scores or copies the outputs."""
    with transaction.atomic():
        ready = OutputSet.objects.select_for_update().filter(
            pk=output_set.pk, state=OutputSetState.READY
        )
        if not ready.exists() or Run.objects.unfinished().filter(output_set=output_set).exists():
            return
        ready.update(state=OutputSetState.EMPTIED)
        team, new = output_set.version.dataset.team, {"outputs": output_set.output_count}
        AuditEntry.objects.record(team, None, "output_set.texts_removed", output_set, new=new)


def _empty(output_set: OutputSet) -> None:
    scorers = RunScorer.with_deleted.filter(run__output_set=output_set)
    scorer_ids = list(scorers.order_by().values_list("pk", flat=True))
    held = Output.objects.filter(output_set=output_set).exclude(text=None).order_by("pk")
    while outputs := list(held.values_list("pk", flat=True)[:ROWS_A_STEP]):
        with transaction.atomic():
            for scorer in scorer_ids:
                _remove_quotations(scorer, outputs)
            Output.objects.filter(pk__in=outputs).update(
                text=None, search_text=None, error=TEXT_REMOVED
            )
    OutputSet.objects.filter(pk=output_set.pk).update(emptied_at=timezone.now())


def _remove_quotations(scorer: int, outputs: list[int]) -> None:
    ids = defaultdict(list)
    for score in Score.objects.filter(scorer=scorer, output__in=outputs):
        ids[without_quotations(score.metadata)].append(score.pk)
    for metadata, of_metadata in ids.items():
        Score.objects.filter(pk__in=of_metadata).update(reason="", metadata_json=metadata)


def remove_replies(team: Team, before: datetime) -> None:
    """Remove the replies of model calls; their tokens and costs stay."""
    calls = rules.replies_to_remove(team, before)
    if count := calls.count():
        action = "model_replies.removed"
        AuditEntry.objects.record(team, None, action, team, new={"calls": count})
    gone = {"reply": "", "refusal": "", "cache_key": None, "removed_at": timezone.now()}
    while batch := list(calls.order_by().values_list("pk", flat=True)[:ROWS_A_STEP]):
        ModelCall.objects.filter(pk__in=batch).update(**gone)


def remove_entries(team: Team, before: datetime) -> None:
    """Remove the oldest entries of the audit log; a signed checkpoint takes their place."""
    AuditEntry.objects.remove_before(team, before, None)


#: By the field of RetentionPolicy that has the days.
REMOVALS: Final[Mapping[str, Callable[[Team, datetime], None]]] = {
    "runs_days": delete_runs,
    "texts_days": remove_texts,
    "replies_days": remove_replies,
    "audit_days": remove_entries,
}
