"""The baseline of a series: pinned and taken back on the page of a run."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite import access
from evalsite.pages.fragments import SignedInRequest
from evalsite.pages.methods import posting
from scoring.engine.drift import asks
from scoring.models import Baseline, Role, Run


def baseline_of(run: Run) -> dict[str, Any]:
    """What a run's page shows: its series' `baseline`, and whether it `is_baseline` itself."""
    found = Baseline.objects.of(run).select_related("run").first()
    return {"baseline": found, "is_baseline": found is not None and found.run_id == run.pk}


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
        asks.ask_after(run)
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
        asks.ask_after(run)
    return redirect("run", uid)
