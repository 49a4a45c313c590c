"""The run that a run's case table is laid beside, as its address names it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.http import QueryDict

from evalsite.pages.baselines import baseline_of
from scoring.models import Run, RunState, User

NAME = "baseline"  # in addresses
AUTO = "auto"  # in the address of a case: beside the run that its run is measured by


@dataclass(frozen=True)
class Against:
    """The run `chosen` to tell changes from, None where there is none, among those `offered`."""

    chosen: Run | None = None
    offered: Sequence[Run] = ()


def against_of(
    user: User, run: Run, query: QueryDict, earlier: Sequence[Run] | None = None
) -> Against:
    """The run that the address names, else the one that the run is measured by.

    `earlier` spares the question for what `baseline_of` has told already.
    """
    offered = baseline_of(run)["earlier"] if earlier is None else earlier
    if named := query.get(NAME):
        known = [each for each in offered if str(each.uuid) == named]
        found = known or _named(user, run, named)
        others = [] if known else found
        return Against(next(iter(found), None), [*others, *offered])
    return Against(next(iter(offered), None), offered)


def _named(user: User, run: Run, named: str) -> list[Run]:
    """Another finished run of the same dataset."""
    try:
        uid = UUID(named)
    except ValueError:
        return []
    runs = Run.objects.visible_to(user).of_dataset(run.output_set.version.dataset)
    found = runs.filter(uuid=uid, state=RunState.FINISHED).exclude(pk=run.pk)
    return list(found.select_related("output_set"))
