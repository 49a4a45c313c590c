"""The baseline of a series: pinned and taken back on the page of a run."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite import access
from evalsite.pages.fragments import SignedInRequest
from evalsite.pages.methods import posting
from scoring.engine.drift import asks
from scoring.models import Baseline, Role, Run, RunState

NEAREST: Final = 12  # runs that are looked at, and offered to compare with


Marked = Callable[[QuerySet[Run]], QuerySet[Run]]


def baseline_of(
    run: Run, named: QuerySet[Run] | None = None, marked: Marked = QuerySet.all
) -> dict[str, Any]:
    """What a run's page shows: the run pinned as its series' `baseline`, whether it `is_baseline`
    itself, and the run that it is `measured_by`, the pinned or else the previous one, before
    further `earlier` ones; one query.

    It takes the `named` run along, which is there by this name if it is none of the others, and
    the attributes that `marked` adds.
    """
    found = list(marked(_read(run, named)))
    nearest = [each for each in found if getattr(each, "is_near", False)][:NEAREST]
    pinned = next((each for each in nearest if getattr(each, "is_pinned", False)), None)
    others = [each for each in nearest if each.pk != run.pk]
    return {
        "baseline": pinned,
        "is_baseline": pinned == run,
        "measured_by": next(iter(others), None),
        "earlier": others,
        "named": next((each for each in found if each not in nearest), None),
    }


def _read(run: Run, named: QuerySet[Run] | None) -> QuerySet[Run]:
    """The pinned run, the run itself and those before it; the `named` one where it belongs."""
    outputs = run.output_set
    pins = Baseline.objects.of(run).filter(run=OuterRef("pk"))
    earlier = Q(state=RunState.FINISHED, output_set__dated__lte=outputs.dated)
    is_near = Q(output_set__series=outputs.series) & (Q(is_pinned=True) | earlier)
    runs = (
        Run.objects.of_dataset(outputs.version.dataset)
        .annotate(is_pinned=Exists(pins))
        .annotate(is_near=ExpressionWrapper(is_near, BooleanField()))
        .select_related("output_set__version")
        .order_by("-is_pinned", "-output_set__dated", "-pk")
    )
    nearest = runs.filter(is_near)[:NEAREST]
    if named is None:
        return nearest
    return runs.filter(Q(pk__in=nearest.values("pk")) | Q(pk__in=named.values("pk")))


@posting
def pin_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Make the run its series' baseline, unless it is no measure."""
    run = access.run_for(request.user, uid, Role.ADMIN)
    try:
        Baseline.objects.pin(run, by=request.user)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    else:
        series = run.output_set.series
        messages.success(request, f"Runs of the series {series} are now compared with this one.")
        asks.leave_after(run)
    return redirect("run", uid)


@posting
def unpin_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Leave the series without a pinned baseline."""
    run = access.run_for(request.user, uid, Role.ADMIN)
    pinned = Baseline.objects.filter(run=run).first()
    if pinned is None:
        messages.info(request, "This run is not the baseline.")
    else:
        pinned.unpin(by=request.user)
        text = "The baseline is taken back: each run is compared with the one before it."
        messages.success(request, text)
        asks.leave_after(run)
    return redirect("run", uid)
