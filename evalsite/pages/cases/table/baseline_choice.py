"""The run that a run's case table is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import QueryDict

from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.runs.neighbours import earlier_runs
from scoring.models import Baseline, Run, RunState, User
from scoring.models.runs.run import NEWEST_FIRST

NAME = "baseline"  # in addresses
AUTO = "auto"  # in the address of a case: beside its run's own baseline
NEAREST: Final = 12  # runs that are offered to compare with
AGAIN: Final = 4  # of them over the same outputs


@dataclass(frozen=True)
class BaselineChoice:
    """The `chosen` run to compare with, None without one, and the runs `offered` in its place."""

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
    offered, other = baselines["others"], baselines["named"]
    text = query.get(NAME)
    if not text:
        return BaselineChoice(baselines["measured_by"], offered)
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
    itself, the run that it is `measured_by`, the pinned or else the previous one as `run_baseline`
    has it, and `others`: that one, runs over the same outputs, earlier ones.

    The `named` run is among the answers by this name, unless it is one of the others. `annotate`
    is applied to all runs.
    """
    runs = annotate(Run.objects.select_related("output_set__version"))
    earlier = earlier_runs(run).values("pk")[:NEAREST]
    again = Run.objects.filter(output_set=run.output_set_id, state=RunState.FINISHED)
    is_again = Q(pk__in=again.exclude(pk=run.pk).order_by("-pk").values("pk")[:AGAIN])
    nearest = list(runs.filter(Q(pk__in=earlier) | is_again).order_by(*NEWEST_FIRST))
    pinned_id = Baseline.objects.of(run).values_list("run", flat=True).first()
    is_baseline = pinned_id == run.pk
    pinned = run if is_baseline else next((o for o in nearest if o.pk == pinned_id), None)
    if pinned is None and pinned_id is not None:
        pinned = runs.filter(pk=pinned_id).first()
    previous = (other for other in nearest if other.output_set_id != run.output_set_id)
    measured_by = pinned if pinned and not is_baseline else next(previous, None)
    others = [measured_by] if measured_by else []
    others += [other for other in nearest if other != measured_by]
    other = None if named is None else annotate(named.select_related("output_set__version")).first()
    return {
        "baseline": pinned,
        "is_baseline": is_baseline,
        "measured_by": measured_by,
        "others": others[:NEAREST],
        "named": None if other in others else other,
    }
