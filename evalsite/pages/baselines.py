"""The baseline of a series: pinned and taken back on the page of a run."""

from __future__ import annotations

import uuid
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite import access
from evalsite.pages.fragments import SignedInRequest
from evalsite.pages.methods import posting
from scoring.engine.drift import asks
from scoring.models import Baseline, Role, Run, RunState

NEAREST: Final = 12  # runs that are looked at, and offered to compare with


def baseline_of(run: Run) -> dict[str, Any]:
    """What a run's page shows: the run pinned as its series' `baseline`, whether it `is_baseline`
    itself, and the run that it is `measured_by`, the pinned or else the previous one, before
    further `earlier` ones; one query.
    """
    pins = Baseline.objects.of(run).filter(run=OuterRef("pk"))
    outputs = run.output_set
    earlier = Q(state=RunState.FINISHED, output_set__dated__lte=outputs.dated)
    runs = (
        Run.objects.of_dataset(outputs.version.dataset)
        .filter(output_set__series=outputs.series)
        .annotate(is_pinned=Exists(pins))
        .filter(Q(is_pinned=True) | earlier)
        .select_related("output_set__version")
        .order_by("-is_pinned", "-output_set__dated", "-pk")
    )
    nearest = list(runs[:NEAREST])  # the pinned one, the run itself, those before it
    pinned = next((each for each in nearest if getattr(each, "is_pinned", False)), None)
    others = [each for each in nearest if each.pk != run.pk]
    return {
        "baseline": pinned,
        "is_baseline": pinned == run,
        "measured_by": next(iter(others), None),
        "earlier": others,
    }


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
