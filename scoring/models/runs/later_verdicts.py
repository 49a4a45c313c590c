"""The verdicts of single cases by the later labels of their runs, read from their scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db.models import Q, QuerySet

from scoring.models.prepared_query import prepared_query
from scoring.models.runs.case_history import CaseOutcome
from scoring.models.runs.relabel import Relabel, combine_verdicts
from scoring.models.runs.score import CaseVerdict, Score, Verdict


def read_later_verdicts(
    relabels: Mapping[int, Relabel], outputs: Collection[int]
) -> dict[tuple[int, int], Verdict]:
    """By run and output, for a page of outputs; `relabels` are by their runs' ids.

    One query, none without relabels.
    """
    if not (relabels and outputs):
        return {}
    # With the status, which keeps SQLite from walking the index over all of a run's scores.
    rows = Score.objects.filter(scorer__run__in=list(relabels), output__in=outputs).values_list(
        "scorer__run", "output", "scorer__name", "status", "score", "verdict", "code"
    )
    parts: defaultdict[tuple[int, int], list[tuple[int, Verdict | None]]] = defaultdict(list)
    for run, output, name, status, score, verdict, code in rows:
        later = relabels[run].verdict_by(name, score, verdict, code)
        parts[run, output].append((status, later))
    return {place: combine_verdicts(scores) for place, scores in parts.items()}


def read_later_outcomes(outcomes: Sequence[CaseOutcome], trial: int) -> dict[UUID, Verdict]:
    """By run, the later verdicts of a case in the runs of its history that have any.

    Four queries, one where no run has later labels, none where no run is of a suite.
    """
    runs = [outcome.run for outcome in outcomes if outcome.has_suite]
    latest = dict(_relabels_of(runs))
    if not latest:
        return {}
    in_force = Relabel.objects.filter(pk__in=latest.values()).select_related("run")
    relabels = {relabel.run_id: relabel for relabel in in_force}
    positions = {outcome.run: outcome.position for outcome in outcomes}
    places = Q()
    for run, relabel in relabels.items():
        places |= Q(run=run, position=positions[relabel.run.uuid])
    verdicts = CaseVerdict.objects.filter(places, trial=trial)
    outputs = set(verdicts.values_list("output", flat=True))
    later = read_later_verdicts(relabels, outputs)
    return {relabels[run].run.uuid: verdict for (run, _), verdict in later.items()}


@prepared_query
def _relabels_of(runs: Sequence[UUID]) -> QuerySet[Relabel, tuple[int, int]]:
    """The ids of run and relabel, the latest relabel last."""
    relabels = Relabel.objects.filter(run__uuid__in=runs)
    return relabels.order_by("pk").values_list("run", "pk")
