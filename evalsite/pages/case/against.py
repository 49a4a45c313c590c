"""The run that a run's case table is laid beside, as its address names it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import QueryDict

from evalsite.pages.baselines import baseline_of
from scoring.engine import compare_asks
from scoring.models import Run, RunState, User

NAME = "baseline"  # in addresses
AUTO = "auto"  # in the address of a case: beside the run that its run is measured by


@dataclass(frozen=True)
class Against:
    """The run `chosen` to tell changes from, None where there is none, among those `offered`."""

    chosen: Run | None = None
    offered: Sequence[Run] = ()

    @property
    def is_compared(self) -> bool:
        """Whether it may be kept where the pairs with the chosen run stand."""
        return getattr(self.chosen, "is_compared", True)

    @property
    def is_asked(self) -> bool:
        """Whether the worker has been asked to compare the two, or could not."""
        return getattr(self.chosen, "comparison_asked", None) in compare_asks.ASKED


def against_of(user: User, run: Run, query: QueryDict) -> Against:
    """The run that the address names, else the one that the run is measured by."""
    return against_among(measured_of(user, run, query), query)


def measured_of(user: User, run: Run, query: QueryDict) -> dict[str, Any]:
    """What `baseline_of` tells, with the run that the address names; whether they are compared is
    asked along where the address tells changes.
    """
    named = _named(user, run, query.get(NAME, ""))
    if query.get("change"):
        return baseline_of(run, named, partial(compare_asks.with_asked, candidate=run))
    return baseline_of(run, named)


def against_among(measured: Mapping[str, Any], query: QueryDict) -> Against:
    """The same from what `measured_of` told."""
    offered, other = measured["earlier"], measured["named"]
    name = query.get(NAME)
    if not name:
        return Against(next(iter(offered), None), offered)
    known = next((each for each in offered if str(each.uuid) == name), None)
    found = known or other
    return Against(found, offered if known or not other else [other, *offered])


def _named(user: User, run: Run, name: str) -> QuerySet[Run] | None:
    """Another finished run of the same dataset; None where nothing is named."""
    try:
        uid = UUID(name)
    except ValueError:
        return None
    runs = Run.objects.visible_to(user).of_dataset(run.output_set.version.dataset)
    return runs.filter(uuid=uid, state=RunState.FINISHED).exclude(pk=run.pk)
