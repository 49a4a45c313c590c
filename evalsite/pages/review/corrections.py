"""Corrections of expected values: proposed on a case, decided in the dataset's list."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from django.contrib import messages
from django.db import models
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.access import OutputAccess
from evalsite.pages.cases.correction_form import CorrectionForm
from evalsite.pages.cases.texts.edits import TextEdit, text_edits
from evalsite.pages.cases.views import parse_position
from evalsite.pages.review.correction_jobs import CorrectionJobs
from evalsite.pages.review.forms import DecisionForm
from evalsite.pages.web.addresses import new_run_address, next_address
from evalsite.pages.web.decorators import form_page, get_page, post_action
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.drafts import ContentError, DraftError
from scoring.engine.review import corrections
from scoring.engine.review.carry_over import CarryOverError, affected_runs
from scoring.engine.review.corrections import CorrectionError, CorrectionList
from scoring.engine.review.jobs import approve_or_enqueue, carry_over_or_enqueue
from scoring.models import Correction, CorrectionState, Dataset, Notice, Role
from scoring.models.reviews.correction import DecidedError

MAX_OPEN: Final = 100  # open corrections, which are decided together
LATEST_DECIDED: Final = 50
RUNS: Final = 20  # over older versions


class ListedCorrection(NamedTuple):
    """A correction with its value beside the present one, or the one that its author saw."""

    correction: Correction
    edits: Sequence[TextEdit]
    position: int | None
    is_outdated: bool
    is_own: bool


@form_page
def propose_correction(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    """Propose another expected value for the case of an output."""
    place = parse_position(request, position)
    opened = access.output_for(request.user, uid, *place, role=Role.REVIEWER)
    form = CorrectionForm(request.POST or None, case=opened.output.case)
    back = back_to_case(request, opened)
    if form.is_valid() and _propose(form, opened):
        messages.success(request, "Correction proposed. Another editor decides on it.")
        return redirect(back)
    context = {
        "team": opened.run.team,
        "run": opened.run,
        "case": opened.output.case,
        "form": form,
        "back": back,
    }
    return render_page(
        request, "review/corrections/propose.html", context, status=422 if form.errors else 200
    )


@get_page
def dataset_corrections(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The dataset's corrections, open and decided, and the runs that approved ones affect."""
    dataset = access.dataset_for(request.user, uid)
    if getattr(request.user, "has_notices", False):
        Notice.objects.filter(user=request.user, path=request.path).mark_read()
    return _render_list(request, dataset)


@post_action
def decide_corrections(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Approve or reject several at once: all of them or none."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    offered = list(Correction.objects.filter(dataset=dataset).only("uuid", "key"))
    form = DecisionForm(request.POST, offered=offered)
    if not form.is_valid():
        name, texts = next(iter(form.errors.items()))
        messages.error(request, f"Nothing was decided: {name}: {texts[0]}")
        return _render_list(request, dataset, 422)
    try:
        messages.success(request, _decide(request, dataset, form.cleaned_data))
    except CorrectionError as refused:
        messages.error(request, str(refused))
        return _render_list(request, dataset, 422)
    except (DecidedError, DraftError) as meanwhile:
        messages.error(request, str(meanwhile))
        return _render_list(request, access.dataset_for(request.user, uid), 409)
    return redirect("dataset_corrections", uid)


@post_action
def withdraw_correction(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Take back one's own correction."""
    correction = access.own_correction_for(request.user, uid)
    try:
        corrections.withdraw(correction, by=request.user)
    except DecidedError as meanwhile:
        messages.error(request, str(meanwhile))
        return _render_list(request, correction.dataset, 409)
    messages.success(request, f"Your correction of {correction.key} is withdrawn.")
    return redirect("dataset_corrections", correction.dataset.uuid)


@post_action
def rescore_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Carry a run's outputs over to the latest version, and go on with the form of a new run."""
    run = access.run_for(request.user, uid, Role.EDITOR)
    dataset = run.output_set.version.dataset
    latest = access.dataset_for(request.user, dataset.uuid).latest
    assert latest is not None  # noqa: S101  the run has a version of it
    try:
        outputs = carry_over_or_enqueue(run, latest, request.user)
    except CarryOverError as refused:
        messages.error(request, str(refused))
        return redirect("dataset_corrections", dataset.uuid)
    if outputs is None:
        messages.info(request, f"Carrying over the outputs of {run.name}.")
        return redirect("dataset_corrections", dataset.uuid)
    return redirect(new_run_address(outputs, run.suite))


def back_to_case(request: SignedInRequest, opened: OutputAccess) -> str:
    """Where the form was shown, else the page of the case."""
    output = opened.output
    query = {"trial": output.trial} if output.trial else None
    case = reverse("run_case", args=[opened.run.uuid, output.case.position], query=query)
    return next_address(request, case)


def _propose(form: CorrectionForm, opened: OutputAccess) -> bool:
    """Whether the correction was stored; if not, the form says why."""
    value, note = form.cleaned_data["value"], form.cleaned_data["why"]
    try:
        corrections.propose(opened.run, opened.output, value, by=opened.user, note=note)
    except ContentError as fault:
        form.add_error("expected", " ".join(fault.problems.values()))
    except CorrectionError as refused:
        form.add_error("expected", str(refused))
    return not form.errors


def _decide(request: SignedInRequest, dataset: Dataset, sent: dict[str, Any]) -> str:
    """What was done, in one sentence."""
    chosen = access.corrections_for(dataset, sent["corrections"])
    count = f"{len(chosen):,} correction{'s' * (len(chosen) != 1)}"
    if sent["decision"] == "reject":
        corrections.reject(chosen, sent["reason"], by=request.user)
        return f"{count} rejected."
    version = approve_or_enqueue(dataset, chosen, by=request.user)
    if version is None:
        return f"{count} approved. The next version is being created."
    return f"{count} approved: version {version.number} is published."


def _render_list(request: SignedInRequest, dataset: Dataset, status: int = 200) -> HttpResponse:
    rows = Correction.objects.for_list().filter(dataset=dataset)
    open_rows, decided = rows.open(), rows.exclude(state=CorrectionState.OPEN)
    listed = _list(request, dataset, open_rows[:MAX_OPEN])
    has_approved = decided.filter(state=CorrectionState.APPROVED).exists()
    jobs, permissions = CorrectionJobs(dataset), access.permissions(request.user, dataset.team)
    context = {
        "team": dataset.team,
        "dataset": dataset,
        "open": listed,
        "open_count": open_rows.count(),
        "decidable": any(not each.is_own for each in listed),
        "decided": _list(request, dataset, decided[:LATEST_DECIDED]),
        "affected": affected_runs(dataset, RUNS) if has_approved else (),
        "reason": request.POST.get("reason", ""),
        "ticked": request.POST.getlist("corrections"),
        "jobs": jobs,
        "may_decide": permissions["may_edit"] and not jobs.is_approving,
        **permissions,
    }
    return render_page(request, "review/corrections/corrections.html", context, status=status)


def _list(
    request: SignedInRequest, dataset: Dataset, rows: models.QuerySet[Correction]
) -> list[ListedCorrection]:
    return [
        ListedCorrection(
            row.correction,
            text_edits(row.seen, row.proposed) if row.seen and row.proposed else (),
            row.latest.position if row.latest else None,
            row.is_outdated and row.correction.is_open,
            row.correction.author_id == request.user.pk,
        )
        for row in CorrectionList(dataset, list(rows)).rows()
    ]
