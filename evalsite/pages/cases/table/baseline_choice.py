"""The run that a run's case table is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from django.http import QueryDict

from scoring.engine.compare import jobs as compare_jobs
from scoring.models import Baseline, Run, RunState, User

NAME = "baseline"  # in addresses
AUTO = "auto"  # in the address of a case: beside its run's own baseline
NEAREST: Final = 12  # runs that are offered to compare with


@dataclass(frozen=True)
class BaselineChoice:
    """The `chosen` baseline, None without one, and the runs `offered` in its place."""

    chosen: Run | None = None
    offered: Sequence[Run] = ()

    @property
    def is_compared(self) -> bool:
        """Whether it may be kept where the pairs with the chosen run stand."""
        return getattr(self.chosen, "is_compared", True)

    @property
    def is_requested(self) -> bool:
        """Whether the comparison of the two is enqueued, or has failed."""
        return getattr(self.chosen, "comparison_asked", None) in compare_jobs.REQUESTED_STATES


def get_baseline_choice(user: User, run: Run, query: QueryDict) -> BaselineChoice:
    """The run that the address names, else the run's own baseline."""
    return choose_baseline(find_offered_baselines(user, run, query), query)


def find_offered_baselines(user: User, run: Run, query: QueryDict) -> dict[str, Any]:
    """The answer of `find_baselines`, with the run that the address names.

    Where the address filters by change, each run also says whether it is compared.
    """
    named = _find_named_run(user, run, query.get(NAME, ""))
    if not query.get("change"):
        return find_baselines(run, named)
    annotate = partial(compare_jobs.with_comparison_state, candidate=run)
    return find_baselines(run, named, annotate)


def choose_baseline(baselines: Mapping[str, Any], query: QueryDict) -> BaselineChoice:
    """The choice among the answer of `find_offered_baselines`."""
    offered, other = baselines["earlier"], baselines["named"]
    text = query.get(NAME)
    if not text:
        return BaselineChoice(next(iter(offered), None), offered)
    if chosen := next((run for run in offered if str(run.uuid) == text), None):
        return BaselineChoice(chosen, offered)
    return BaselineChoice(other, [other, *offered] if other else offered)


def _find_named_run(user: User, run: Run, text: str) -> QuerySet[Run] | None:
    """Another finished run of the same dataset; None where nothing is named."""
    try:
        uid = UUID(text)
    except ValueError:
        return None
    runs = Run.objects.visible_to(user).of_dataset(run.output_set.version.dataset)
    return runs.filter(uuid=uid, state=RunState.FINISHED).exclude(pk=run.pk)


def find_baselines(
    run: Run,
    named: QuerySet[Run] | None = None,
    annotate: Callable[[QuerySet[Run]], QuerySet[Run]] = QuerySet.all,
) -> dict[str, Any]:
    """What a run's page shows: the run pinned as its series' `baseline`, whether it `is_baseline`
    itself, and the run that it is `measured_by`, the pinned or else the previous one, before
    further `earlier` ones.

    The `named` run is among the answers by this name, unless it is one of the others. `annotate`
    is applied to all runs.
    """
    outputs = run.output_set
    runs = annotate(Run.objects.select_related("output_set__version"))
    nearest = list(
        runs.filter(
            state=RunState.FINISHED,
            output_set__version__dataset=outputs.version.dataset_id,
            output_set__series=outputs.series,
            output_set__dated__lte=outputs.dated,
        ).order_by("-output_set__dated", "-pk")[:NEAREST]
    )
    pinned_id = Baseline.objects.of(run).values_list("run", flat=True).first()
    pinned = next((other for other in nearest if other.pk == pinned_id), None)
    if pinned is None and pinned_id is not None:
        pinned = runs.filter(pk=pinned_id).first()
    if pinned is not None:
        nearest = [pinned, *(other for other in nearest if other != pinned)][:NEAREST]
    others = [other for other in nearest if other != run]
    other = None if named is None else annotate(named.select_related("output_set__version")).first()
    return {
        "baseline": pinned,
        "is_baseline": pinned == run,
        "measured_by": next(iter(others), None),
        "earlier": others,
        "named": None if other in nearest else other,
    }
