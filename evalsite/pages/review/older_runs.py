"""Runs over older versions of a dataset, before and after they are scored again."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import NamedTuple

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.pages.web.decorators import form_page
from evalsite.pages.web.job_status import open_job_status
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.review import score_again
from scoring.models import Dataset, JobState, Role, Run


class ScoredAgain(NamedTuple):
    """A run over the latest version, and the comparison with the one before."""

    run: Run
    compare_url: str


class ListedRun(NamedTuple):
    """A run over an older version, and those of the same outputs over the latest one."""

    run: Run
    again: Sequence[ScoredAgain]


@form_page
def dataset_older_runs(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The runs, and a form that scores the chosen ones again over the latest version."""
    is_asked = request.method == "POST"
    dataset = access.dataset_for(request.user, uid, Role.EDITOR if is_asked else Role.VIEWER)
    older = score_again.older_runs(dataset)
    if is_asked and dataset.latest is not None:
        named = set(request.POST.getlist("runs"))
        chosen = [each.run for each in older if str(each.run.uuid) in named]
        if score_again.enqueue(dataset, dataset.latest, chosen, request.user) is None:
            messages.error(request, "Select at least one run.")
        return redirect("dataset_older_runs", uid)
    job = score_again.latest_job(dataset)
    context = {
        "team": dataset.team,
        "dataset": dataset,
        "rows": [_listed(dataset, each) for each in older],
        "job": job,
        "job_status": open_job_status(job),
        "problems": job.answer.get("problems", ()) if job and job.state == JobState.DONE else (),
        **access.permissions(request.user, dataset.team),
    }
    return render_page(request, "review/older_runs.html", context)


def _listed(dataset: Dataset, older: score_again.OlderRun) -> ListedRun:
    compare = reverse("compare", args=[dataset.team.slug])
    again = [
        ScoredAgain(run, f"{compare}?baseline={older.run.uuid}&candidate={run.uuid}")
        for run in older.again
    ]
    return ListedRun(older.run, again)
