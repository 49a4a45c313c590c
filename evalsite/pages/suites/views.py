"""Suites: the sets of scorers that runs are scored by."""

from __future__ import annotations

import uuid
from typing import Final

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.text import slugify

from evalsite.access import has_role, suite_for, team_for
from evalsite.pages.suites.forms import SuiteForm, SuiteImportForm, copied_values
from evalsite.pages.suites.suite_page import render_suite_page
from evalsite.pages.web.decorators import form_page, get_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.core.contract import ConfigError
from scoring.core.suites.suite_format import SuiteFormat, write_suite
from scoring.engine.suites.suite_file import ImportPlan, describe_suite
from scoring.models import Role, Suite, Team

TYPES: Final[dict[SuiteFormat, str]] = {"json": "application/json", "yaml": "application/yaml"}
MOVED: Final = "Something has changed since you looked. This is what the import would do now."


@form_page
def new_suite(request: SignedInRequest, slug: str) -> HttpResponse:
    """A form for a new suite; `copy` in the address names one to begin with."""
    team = team_for(request.user, slug, Role.EDITOR)
    original = _original(request, team)
    initial = copied_values(original) if original else {}
    form = SuiteForm(request.POST or None, team=team, initial=initial)
    if form.is_valid() and (saved := form.save(request.user)):
        messages.success(request, f"Suite {saved.name} created.")
        return redirect("suite", saved.uuid)
    context = {"team": team, "form": form, "original": original}
    return render_page(request, "suites/edit.html", context, status=422 if form.errors else 200)


def _original(request: SignedInRequest, team: Team) -> Suite | None:
    """The suite of this team that the address asks to copy."""
    try:
        uid = uuid.UUID(request.GET.get("copy", ""))
    except ValueError:
        return None
    return team.suites.filter(uuid=uid).first()


@get_page
def suite(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """One suite: its scorers with their thresholds, and the history of those."""
    return render_suite_page(request, suite_for(request.user, uid))


@form_page
def edit_suite(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    suite = suite_for(request.user, uid, Role.EDITOR)
    form = SuiteForm(
        request.POST or None,
        team=suite.team,
        suite=suite,
        initial={"name": suite.name, "scorers": [e.scorer.uuid for e in suite.entries.all()]},
        may_administer=has_role(request.user, suite.team, Role.ADMIN),
    )
    if form.is_valid() and form.save(request.user):
        messages.success(request, "Saved.")
        return redirect("suite", uid)
    context = {"team": suite.team, "suite": suite, "form": form}
    return render_page(request, "suites/edit.html", context, status=422 if form.errors else 200)


@get_page
def export_suite(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The suite as a file for import and `evaluate --suite`."""
    suite = suite_for(request.user, uid)
    spelling: SuiteFormat = "json" if request.GET.get("as") == "json" else "yaml"
    text = write_suite(describe_suite(suite), spelling)
    name = f"{slugify(suite.name) or 'suite'}.{spelling}"
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=TYPES[spelling], headers=disposition)


@form_page
def import_suite(request: SignedInRequest, slug: str) -> HttpResponse:
    """Import a suite from a file, after showing what that would do."""
    team = team_for(request.user, slug, Role.EDITOR)
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = SuiteImportForm(*sent, team=team)
    plan = form.plan
    obstacle = _obstacle(request, plan) if plan else ""
    may_administer = has_role(request.user, team, Role.ADMIN)
    is_proposal = plan is not None and plan.needs_reason and not may_administer
    is_sent = plan and "import" in request.POST and not obstacle
    if plan and plan.suite and is_sent and is_proposal:
        plan.propose(request.user)
        messages.success(request, "Proposed. An administrator accepts or rejects it.")
        return redirect("suite", plan.suite.uuid)
    if plan and is_sent and (suite := _import(request, form, plan)):
        messages.success(request, f"Suite {suite.name} imported.")
        return redirect("suite", suite.uuid)
    context = {
        "team": team,
        "form": form,
        "plan": plan,
        "plan_text": form.source if plan else "",
        "obstacle": obstacle,
        "is_blocked": obstacle not in {"", MOVED},
        "is_proposal": is_proposal,
    }
    return render_page(request, "suites/import.html", context, status=422 if form.errors else 200)


def _obstacle(request: SignedInRequest, plan: ImportPlan) -> str:
    """Why the plan cannot be carried out as it is; "" if it can."""
    if plan.clashes:
        return "Give the scorers marked as taken other names."
    is_other = request.POST.get("shown", plan.signature) != plan.signature
    return MOVED if "import" in request.POST and is_other else ""


def _import(request: SignedInRequest, form: SuiteImportForm, plan: ImportPlan) -> Suite | None:
    try:
        return plan.carry_out(request.user, form.cleaned_data["reason"])
    except ConfigError as error:
        form.add_error(None, str(error))
    except ValidationError as error:
        form.add_error("reason", error.messages)
    except IntegrityError:
        form.add_error(None, "One of the names has just been taken. Refresh the page.")
    return None
