"""The baseline of a series: pinned and taken back on the page of a run."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite import access
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.responses import SignedInRequest
from scoring.engine.drift import jobs as drift_jobs
from scoring.models import Baseline, Role


@post_action
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
        drift_jobs.enqueue_measuring([run])
    return redirect("run", uid)


@post_action
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
        drift_jobs.enqueue_measuring([run])
    return redirect("run", uid)
