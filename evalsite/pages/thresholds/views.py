"""The page of one threshold, in a suite or a scorer's default: preview it, change or propose it."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect

from evalsite.access import administrators, permissions, scorer_for, suite_entry_for
from evalsite.pages.thresholds.forms import ChangeForm, PreviewForm
from evalsite.pages.thresholds.proposals import proposal_cards
from evalsite.pages.thresholds.relabel_panel import RelabelPanel
from evalsite.pages.thresholds.threshold_page import ThresholdPage
from evalsite.pages.web.decorators import form_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.core.json_text import to_text
from scoring.engine.thresholds.preview import Preview
from scoring.models import Role, Scorer, SuiteEntry
from scoring.models.scorers.threshold_change import StaleThresholdError

PROPOSED = "Proposed. An administrator accepts or rejects it."


@form_page
def suite_threshold(request: SignedInRequest, uid: uuid.UUID, scorer: uuid.UUID) -> HttpResponse:
    """Preview another threshold of a suite; an admin changes it, an editor proposes it."""
    return _threshold_page(request, suite_entry_for(request.user, uid, scorer, _role(request)))


@form_page
def scorer_threshold(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Preview another default of a scorer; an admin changes it, an editor proposes it."""
    return _threshold_page(request, scorer_for(request.user, uid, _role(request)))


def _role(request: SignedInRequest) -> Role:
    return Role.EDITOR if request.method == "POST" else Role.VIEWER


def _threshold_page(request: SignedInRequest, subject: SuiteEntry | Scorer) -> HttpResponse:
    scorer = subject.scorer if isinstance(subject, SuiteEntry) else subject
    allowed = permissions(request.user, scorer.team)
    change = ChangeForm(request.POST or None, subject=subject, person=request.user)
    if change.is_valid():
        try:
            if done := _submit(request, change, may_administer=allowed["may_administer"]):
                messages.success(request, done)
                return redirect(request.path)
        except StaleThresholdError as removed:
            messages.error(request, str(removed))
            return _redirect_from(subject)
        subject.refresh_from_db(fields=["threshold"])
    form = PreviewForm(_query(request, subject))
    wanted = form.cleaned_data.get("threshold") if form.is_valid() else None
    preview = Preview.of(subject, subject.threshold if wanted is None else wanted)
    changes = scorer.threshold_changes.filter(suite=preview.suite)
    context = {
        "team": scorer.team,
        "scorer": scorer,
        "suite": preview.suite,
        "form": form,
        "change": change,
        "page": ThresholdPage(preview, form.cleaned_data, request.user),
        "changes": changes.select_related("scorer", "changed_by"),
        "relabel": RelabelPanel(preview.suite) if preview.suite else None,
        "cards": proposal_cards(scorer.team, preview.suite, scorer),
        "administrators": administrators(scorer.team_id),
        **allowed,
    }
    status = 422 if form.errors or change.errors else 200
    if change.has_error(NON_FIELD_ERRORS, "stale"):
        status = 409
    parts = ["preview", "relabel"]
    return render_page(request, "thresholds/page.html", context, parts=parts, status=status)


def _submit(request: SignedInRequest, change: ChangeForm, *, may_administer: bool) -> str:
    """What was done, as a message; empty, with errors of the form, where it was refused."""
    if not may_administer:
        return PROPOSED if change.propose(request.user) else ""
    made = change.save(request.user)
    return f"Threshold of {made[0].scorer} changed: {made[0].text}." if made else ""


def _redirect_from(subject: SuiteEntry | Scorer) -> HttpResponse:
    """To the page of what the scorer was removed from."""
    if isinstance(subject, SuiteEntry):
        return redirect("suite", subject.suite.uuid)
    return redirect("scorers", subject.team.slug)


def _query(request: SignedInRequest, subject: SuiteEntry | Scorer) -> QueryDict:
    """What is asked for, from the present threshold on."""
    query = (request.POST or request.GET).copy()
    query.setdefault("threshold", to_text(subject.threshold))
    return query
