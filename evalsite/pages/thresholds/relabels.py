"""Labelling runs by their suite's present thresholds, and removing such labels."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.pages.cases.labels import NEW_LABELS
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.responses import SignedInRequest
from evalsite.pages.web.undo import add_undo_message
from scoring.engine.thresholds import relabelling
from scoring.engine.thresholds.jobs import enqueue_relabelling
from scoring.models import Role


@post_action
def relabel_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Label a run by the thresholds that its suite has now; nothing is scored."""
    run = access.run_for(request.user, uid, Role.ADMIN)
    try:
        made = relabelling.relabel_run(run, by=request.user)
    except relabelling.NothingToRelabelError as refused:
        messages.info(request, str(refused))
        return redirect("run", uid)
    path = reverse("remove_run_labels", args=[uid])
    add_undo_message(request, f"Re-labelled with {made.text}.", path)
    return redirect(f"{reverse('run', args=[uid])}{NEW_LABELS}")


@post_action
def remove_run_labels(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Remove the later labels of a run; the stored verdicts are left."""
    run = access.run_for(request.user, uid, Role.ADMIN)
    if relabelling.remove_labels(run, by=request.user):
        text, path = "Labels removed.", reverse("relabel_run", args=[uid])
        add_undo_message(request, text, path)
    return redirect("run", uid)


@post_action
def relabel_suite(request: SignedInRequest, uid: uuid.UUID, scorer: uuid.UUID) -> HttpResponse:
    """Have the worker label the last runs of a suite; the page of the threshold shows it."""
    suite = access.suite_entry_for(request.user, uid, scorer, Role.ADMIN).suite
    if relabelling.find_runs_to_relabel(suite):
        enqueue_relabelling(suite, request.user)
    else:
        messages.info(request, "The last runs have the labels of the suite's thresholds already.")
    return redirect("suite_threshold", uid, scorer)
