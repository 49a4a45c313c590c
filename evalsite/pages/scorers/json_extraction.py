"""A scorer that refuses fenced JSON reads it from its next version on, in one click."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite.access import run_for, scorer_for
from evalsite.pages.web.addresses import new_run_address
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.responses import SignedInRequest
from scoring.core.contract import ConfigError
from scoring.core.explain.json_inside import JSON
from scoring.models import Role, Run


@post_action
def extract_scorer_json(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Save the version, and go on with a new run of the outputs that `run` names, if it does."""
    scorer = scorer_for(request.user, uid, Role.EDITOR)
    config = scorer.current.config if scorer.current else {}
    run = _named_run(request)
    scorer_page = reverse("scorer", args=[uid])
    target = new_run_address(run.output_set, run.suite) if run else scorer_page
    if config.get("extract") == JSON:  # by somebody else, or for another run
        return redirect(target)
    try:
        version = scorer.revise({**config, "extract": JSON}, by=request.user)
    except ConfigError as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
        return redirect("scorer", uid)
    text = "it reads the JSON inside prose and fenced blocks. Old runs keep their version."
    messages.success(request, f"Saved as {version}: {text}")
    return redirect(target)


def _named_run(request: SignedInRequest) -> Run | None:
    named = request.POST.get("run", "")
    try:
        return run_for(request.user, uuid.UUID(named)) if named else None
    except (ValueError, ValidationError):
        raise Http404 from None
