"""Runs: the list, a new one, one run with its cases, and what can be done to it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import trigger_client_event

from evalsite import access
from evalsite.pages.case.against import against_among, measured_of
from evalsite.pages.case.list import CaseList
from evalsite.pages.estimates import Foresight, foresight
from evalsite.pages.forms.runs import RetryForm, RunFilters, RunForm
from evalsite.pages.fragments import SignedInRequest, leave_for, show
from evalsite.pages.keyset import keyset_page
from evalsite.pages.methods import filling, posting, reading
from evalsite.pages.run_costs import RunCosts
from evalsite.pages.scorer_figures import figures_of, ways_of
from scoring.engine import compare_asks, plan
from scoring.engine.estimate import estimate
from scoring.engine.progress import progress_of
from scoring.engine.run_figures import MEAN
from scoring.engine.run_life import kept_until
from scoring.engine.starter import starter_suite
from scoring.models import Notice, Role, Run, RunState, SavedView, Team, User


@reading
def runs(request: SignedInRequest, slug: str) -> HttpResponse:
    """A team's runs, newest first."""
    team = access.team_for(request.user, slug)
    form = RunFilters(request.GET, team=team)
    found = form.applied_to(Run.objects.filter(team=team), access.deleted_runs_of(team))
    context = {
        "team": team,
        "form": form,
        "page": keyset_page(found.for_list(), "-id", request.GET),
        "may_edit": lambda: access.may(request.user, team, Role.EDITOR),  # asked where it matters
        **_just_deleted(team, request.GET.get("undo")),
    }
    return show(request, "run/list.html", context)


def _just_deleted(team: Team, named: str | None) -> dict[str, object]:
    """The run that the list is shown after the deletion of."""
    form = forms.UUIDField(required=False)
    with suppress(forms.ValidationError):
        uid = form.clean(named)
        deleted = access.deleted_runs_of(team).filter(uuid=uid).first() if uid else None
        return {"deleted": deleted, "kept_until": deleted and kept_until(deleted)}
    return {}


@filling
def new_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Choose outputs and scorers; the worker does the rest."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    outputs = request.GET.get("outputs", "")
    form = RunForm(request.POST or None, dataset=dataset, outputs=outputs)
    is_estimated = "estimate" in request.POST
    if form.is_valid() and not is_estimated:
        return leave_for(request, reverse("run", args=[form.save(request.user).uuid]))
    context = {"team": dataset.team, "dataset": dataset, "form": form}
    if is_estimated:
        context["foresight"] = _foresight(form)
    status = 422 if form.errors and not is_estimated else 200
    return show(request, "run/new.html", context, parts=["estimate"], status=status)


def _foresight(form: RunForm) -> Foresight | None:
    """What the judges of the chosen scorers will cost; None where none is chosen."""
    outputs, scorers = form.cleaned_data.get("outputs"), form.chosen_scorers()
    return foresight(judges=estimate(outputs, scorers)) if outputs and scorers else None


@posting
def use_starter(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Make scorers that suit the dataset's cases, and on with the new run."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    suite = starter_suite(dataset, request.user)
    messages.success(request, f"Suite {suite.name} is ready.")
    return redirect(f"{reverse('new_run', args=[uid])}?{request.GET.urlencode()}")


@reading
def run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """One run: how far it is, its figures, its cases."""
    found = access.run_for(request.user, uid)
    if getattr(request.user, "has_notices", False):
        Notice.objects.filter(user=request.user, run=found).mark_read()
    scorers = list(found.scorers.with_summary())
    measured = measured_of(request.user, found, request.GET)
    cases = CaseList(found, scorers, request.GET, against_among(measured, request.GET))
    if cases.lacks_pairs and cases.against.chosen:
        compare_asks.leave_large(cases.against.chosen, found)
    figures = figures_of(scorers, request.GET.get("trials", MEAN), cases.beside_scores)
    granted = access.granted_on(request.user, found)
    context = {
        "team": found.team,
        "run": found,
        "costs": RunCosts(found, figures),
        "ways": ways_of(figures),
        "progress": progress_of(found) if found.is_unfinished else None,
        "figures": figures,
        "has_errors": any(each.summary and each.summary.errors for each in figures),
        "cases": cases,
        **measured,
        "views": list(SavedView.objects.for_person(request.user, found.team)),
        "may_retry": granted["may_edit"] and found.state == RunState.FINISHED,
        **granted,
    }
    answer = show(request, "run/page.html", context, parts=["progress", "cases"])
    return answer if found.is_unfinished else trigger_client_event(answer, "run-ended")


def _act(
    request: SignedInRequest, uid: uuid.UUID, act: Callable[[Run, User], object], refused: str
) -> HttpResponse:
    """Do it to the run and show the run again; when there is nothing to do, say so."""
    found = access.run_for(request.user, uid, Role.EDITOR)
    if not act(found, request.user):
        messages.info(request, refused)
    return redirect("run", uid)


@posting
def cancel_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    return _act(request, uid, plan.cancel, "There was nothing to cancel.")


@posting
def resume_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    return _act(request, uid, plan.resume, "This run is not cancelled, so it cannot be resumed.")


@posting
def retry_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Score the errors again, all or those of one cause, with another budget where one is sent."""
    form = RetryForm(request.POST)
    if not form.is_valid():
        text = "The budget is no amount in US dollars. Nothing was started."
        return _act(request, uid, lambda *_: False, text)
    asked = form.cleaned_data

    def retry(run: Run, by: User) -> object:
        return plan.retry_errors(run, by, asked["budget_usd"], code=asked["code"])

    return _act(request, uid, retry, "There are no errors to score again.")
