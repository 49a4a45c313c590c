"""Suites: the sets of scorers that runs are scored by."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite.access import may, suite_for, team_for
from evalsite.pages.forms.suites import SuiteForm
from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.methods import filling, reading
from scoring.models import Role


@filling
def new_suite(request: SignedInRequest, slug: str) -> HttpResponse:
    team = team_for(request.user, slug, Role.EDITOR)
    form = SuiteForm(request.POST or None, team=team)
    if form.is_valid() and (made := form.save(request.user)):
        messages.success(request, f"Suite {made.name} is ready.")
        return redirect("suite", made.uuid)
    context = {"team": team, "form": form}
    return show(request, "suite/edit.html", context, status=422 if form.errors else 200)


@reading
def suite(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """One suite: its scorers with the thresholds that count, and how those changed."""
    found = suite_for(request.user, uid)
    context = {
        "team": found.team,
        "suite": found,
        "entries": found.entries.all(),
        "changes": found.threshold_changes.select_related("scorer", "changed_by"),
        "may_edit": may(request.user, found.team, Role.EDITOR),
    }
    return show(request, "suite/page.html", context)


@filling
def edit_suite(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    found = suite_for(request.user, uid, Role.EDITOR)
    start = {"name": found.name, "scorers": [entry.scorer.uuid for entry in found.entries.all()]}
    form = SuiteForm(request.POST or None, team=found.team, suite=found, initial=start)
    if form.is_valid() and form.save(request.user):
        messages.success(request, "Saved.")
        return redirect("suite", uid)
    context = {"team": found.team, "suite": found, "form": form}
    return show(request, "suite/edit.html", context, status=422 if form.errors else 200)
