"""Suites: the sets of scorers that runs are scored by."""

from __future__ import annotations

import uuid
from typing import Any, Final

from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.text import slugify

from evalsite.access import granted, may, suite_for, team_for
from evalsite.pages.forms.suites import SuiteForm, SuiteImportForm
from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.methods import filling, reading
from scoring.core.contract import ConfigError
from scoring.core.suite_text import Spelling, write_suite
from scoring.engine.suite_file import Plan, described_suite
from scoring.models import Role, Suite, Team

TYPES: Final[dict[Spelling, str]] = {"json": "application/json", "yaml": "application/yaml"}
REASON: Final = "imported with the suite"
MOVED: Final = "Something has changed since you looked. This is what the import would do now."


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
        **granted(request.user, found.team),
    }
    return show(request, "suite/page.html", context)


@filling
def edit_suite(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    found = suite_for(request.user, uid, Role.EDITOR)
    start = {"name": found.name, "scorers": [entry.scorer.uuid for entry in found.entries.all()]}
    is_admin = may(request.user, found.team, Role.ADMIN)
    given: dict[str, Any] = {"suite": found, "initial": start, "may_change_thresholds": is_admin}
    form = SuiteForm(request.POST or None, team=found.team, **given)
    if form.is_valid() and form.save(request.user):
        messages.success(request, "Saved.")
        return redirect("suite", uid)
    context = {"team": found.team, "suite": found, "form": form}
    return show(request, "suite/edit.html", context, status=422 if form.errors else 200)


@reading
def export_suite(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The suite as one file, which import and `evaluate --suite` read."""
    found = suite_for(request.user, uid)
    spelling: Spelling = "json" if request.GET.get("as") == "json" else "yaml"
    answer = HttpResponse(
        write_suite(described_suite(found), spelling), content_type=TYPES[spelling]
    )
    name = f"{slugify(found.name) or 'suite'}.{spelling}"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@filling
def import_suite(request: SignedInRequest, slug: str) -> HttpResponse:
    """A suite from a file: first what that would do, then doing it."""
    team = team_for(request.user, slug, Role.EDITOR)
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = SuiteImportForm(*sent, team=team)
    plan = form.plan
    obstacle = _obstacle(request, team, plan) if plan else ""
    is_wanted = plan and "import" in request.POST and not obstacle
    if plan and is_wanted and (made := _imported(request, form, plan)):
        messages.success(request, f"Suite {made.name} is ready.")
        return redirect("suite", made.uuid)
    context = {"team": team, "form": form, "plan": plan, "obstacle": obstacle}
    context |= {"is_blocked": obstacle not in {"", MOVED}}
    context |= {"plan_text": form.source if plan else ""}
    return show(request, "suite/import.html", context, status=422 if form.errors else 200)


def _obstacle(request: SignedInRequest, team: Team, plan: Plan) -> str:
    """Why the plan cannot be carried out as it stands; "" where it can."""
    if plan.clashes:
        return "Give the scorers marked as taken other names."
    if plan.threshold_steps and not may(request.user, team, Role.ADMIN):
        return f"Only an administrator changes thresholds of {plan.suite}. Name the suite anew."
    is_other = request.POST.get("shown", plan.signature) != plan.signature
    return MOVED if "import" in request.POST and is_other else ""


def _imported(request: SignedInRequest, form: SuiteImportForm, plan: Plan) -> Suite | None:
    try:
        return plan.carry_out(request.user, REASON)
    except ConfigError as fault:
        form.add_error(None, str(fault))
    except IntegrityError:
        form.add_error(None, "Somebody has just taken one of the names. Look again.")
    return None
