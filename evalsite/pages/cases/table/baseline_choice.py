"""The run that a run's case table is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import QueryDict

from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.runs.neighbours import runs_before, series_place
from scoring.models import Baseline, Run, RunState, User
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.run import NEWEST_FIRST

_JOINED: Final = "output_set__version"
NAME = "baseline"  # in addresses
AUTO = "auto"  # in the address of a case: beside its run's own baseline
NEAREST: Final = 12  # runs that are offered to compare with
AGAIN: Final = 4  # of them over the same outputs


@dataclass(frozen=True)
class BaselineChoice:
    """The `chosen` run to compare with, None without one, and the runs `offered` in its place."""

    chosen: Run | None = None
    offered: Sequence[Run] = ()
    is_compared: bool = True  # False where it is known that their pairs are not indexed
    is_requested: bool = False  # whether the comparison was asked for already


def get_baseline_choice(user: User, run: Run, query: QueryDict) -> BaselineChoice:
    """The run that the address names, else the run's own baseline."""
    return choose_baseline(run, find_offered_baselines(user, run, query), query)


def find_offered_baselines(user: User, run: Run, query: QueryDict) -> dict[str, Any]:
    """The answer of `find_baselines`, with the run that the address names."""
    return find_baselines(run, _find_named_run(user, run, query.get(NAME, "")))


def choose_baseline(run: Run, baselines: Mapping[str, Any], query: QueryDict) -> BaselineChoice:
    """The choice among the answer of `find_offered_baselines`.

    Where the address filters by change, it also says whether the two runs are compared.
    """
    offered, other = baselines["others"], baselines["named"]
    chosen = baselines["measured_by"]
    if text := query.get(NAME):
        chosen = next((run for run in offered if str(run.uuid) == text), other)
    if chosen and chosen == other:
        offered = [other, *offered]
    if not (chosen and query.get("change")):
        return BaselineChoice(chosen, offered)
    return BaselineChoice(chosen, offered, *compare_jobs.read_comparison_state(chosen, run))


def _find_named_run(user: User, run: Run, text: str) -> QuerySet[Run] | None:
    """Another finished run of the same dataset; None where nothing is named."""
    try:
        uid = UUID(text)
    except ValueError:
        return None
    runs = Run.objects.visible_to(user).of_dataset(run.output_set.version.dataset)
    return runs.filter(uuid=uid, state=RunState.FINISHED).exclude(pk=run.pk)


def find_baselines(run: Run, named: QuerySet[Run] | None = None) -> dict[str, Any]:
    """What a run's page shows: the run pinned as its series' `baseline`, whether it `is_baseline`
    itself, the run that it is `measured_by`, the pinned or else the previous one as `run_baseline`
    has it, and `others`: that one, runs over the same outputs, earlier ones.

    The `named` run is among the answers by this name, unless it is one of the others.
    """
    outputs = run.output_set
    nearest = _nearest_runs(run.pk, outputs.pk, *series_place(run))
    pinned_id = _pinned_runs.first(outputs.version.dataset_id, outputs.series)
    is_baseline = pinned_id == run.pk
    pinned = run if is_baseline else next((o for o in nearest if o.pk == pinned_id), None)
    if pinned is None and pinned_id is not None:
        pinned = Run.objects.select_related(_JOINED).filter(pk=pinned_id).first()
    previous = (other for other in nearest if other.output_set_id != run.output_set_id)
    measured_by = pinned if pinned and not is_baseline else next(previous, None)
    others = [measured_by] if measured_by else []
    others += [other for other in nearest if other != measured_by]
    other = None if named is None else named.select_related(_JOINED).first()
    return {
        "baseline": pinned,
        "is_baseline": is_baseline,
        "measured_by": measured_by,
        "others": others[:NEAREST],
        "named": None if other in others else other,
    }


@prepared_query
def _nearest_runs(
    run: int, output_set: int, dataset: int, series: str, time: datetime, outputs: int
) -> QuerySet[Run]:
    """The newest of the `earlier_runs` and of the other runs over the same outputs."""
    earlier = runs_before(dataset, series, time, outputs).values("pk")[:NEAREST]
    again = Run.objects.filter(output_set=output_set, state=RunState.FINISHED).exclude(pk=run)
    is_again = Q(pk__in=again.order_by("-pk").values("pk")[:AGAIN])
    runs = Run.objects.filter(Q(pk__in=earlier) | is_again)
    return runs.select_related(_JOINED).order_by(*NEWEST_FIRST)


@prepared_query
def _pinned_runs(dataset: int, series: str) -> QuerySet[Baseline, int]:
    return Baseline.objects.filter(dataset=dataset, series=series).values_list("run", flat=True)
