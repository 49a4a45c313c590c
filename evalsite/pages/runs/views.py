"""Runs: the list, the form of a new one, a run's page, and its actions."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import trigger_client_event

from evalsite import access
from evalsite.pages.cases.labels import RunLabels
from evalsite.pages.cases.table.baseline_choice import choose_baseline, find_offered_baselines
from evalsite.pages.cases.table.case_table import open_case_list
from evalsite.pages.review.disagreements import find_disagreements
from evalsite.pages.runs.costs import RunCosts
from evalsite.pages.runs.forms import RetryForm, RunFilters, RunForm
from evalsite.pages.runs.run_list import list_runs
from evalsite.pages.runs.scorer_figures import scorer_figures, trial_figures
from evalsite.pages.signoff.releases import RunRelease
from evalsite.pages.thresholds.run_thresholds import RunThresholds
from evalsite.pages.web.cost_estimates import TotalCostEstimate, combine_estimates
from evalsite.pages.web.decorators import form_page, get_page, post_action
from evalsite.pages.web.responses import SignedInRequest, redirect_browser, render_page
from scoring.engine.calibration.sample import calibrate_sample
from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.estimates.scoring_estimate import estimate_scoring
from scoring.engine.review.review_state import read_review_state
from scoring.engine.runs import planning
from scoring.engine.runs.lifecycle import restorable_until
from scoring.engine.runs.progress import run_progress
from scoring.engine.runs.run_errors import find_run_errors
from scoring.engine.runs.scorer_figures import MEAN
from scoring.engine.suites.suggested_suite import create_suggested_suite
from scoring.models import Alert, Notice, Role, Run, RunDrift, RunState, SavedView, Team
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.missing_outputs import missing_keys


@get_page
def runs(request: SignedInRequest, slug: str) -> HttpResponse:
    """A team's runs, newest first."""
    team = access.team_for(request.user, slug)
    form = RunFilters(request.GET, team=team)
    listed = form.applied_to(Run.objects.filter(team=team), access.deleted_runs_for(team))
    deleted = _find_deleted(team, request.GET.get("undo", ""))
    context = {
        "team": team,
        "form": form,
        "page": list_runs(listed, request.GET),
        # Queried only where the template shows it.
        "may_edit": lambda: access.has_role(request.user, team, Role.EDITOR),
        "deleted": deleted,
        "kept_until": deleted and restorable_until(deleted),
    }
    return render_page(request, "runs/list.html", context)


def _find_deleted(team: Team, text: str) -> Run | None:
    """The deleted run of this id, after whose deletion the list is shown."""
    try:
        uid = uuid.UUID(text)
    except ValueError:
        return None
    return access.deleted_runs_for(team).filter(uuid=uid).first()


@form_page
def new_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Choose outputs and scorers; the worker does the rest."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    outputs = request.GET.get("outputs", "")
    form = RunForm(request.POST or None, dataset=dataset, outputs=outputs)
    if suite := request.GET.get("suite"):
        form.initial["suite"] = suite
    is_estimated = "estimate" in request.POST
    if form.is_valid() and not is_estimated:
        return redirect_browser(request, reverse("run", args=[form.save(request.user).uuid]))
    context = {"team": dataset.team, "dataset": dataset, "form": form}
    if is_estimated:
        context["cost_estimate"] = _cost_estimate(form)
    status = 422 if form.errors and not is_estimated else 200
    return render_page(request, "runs/new.html", context, parts=["estimate"], status=status)


def _cost_estimate(form: RunForm) -> TotalCostEstimate | None:
    """What the judges of the chosen scorers will cost; None where none is chosen."""
    outputs, scorers = form.cleaned_data.get("outputs"), form.chosen_scorers()
    return (
        combine_estimates(judges=estimate_scoring(outputs, scorers))
        if outputs and scorers
        else None
    )


@post_action
def use_suggested_suite(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Create scorers that suit the dataset's cases, and continue with the new run."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    suite = create_suggested_suite(dataset, request.user)
    messages.success(request, f"Suite {suite.name} is ready.")
    return redirect(f"{reverse('new_run', args=[uid])}?{request.GET.urlencode()}")


@get_page
def run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """One run: progress, figures and cases."""
    opened = access.run_access_for(request.user, uid)
    run, permissions = opened.run, opened.permissions
    if getattr(request.user, "has_notices", False):
        Notice.objects.filter(user=request.user, run=run).mark_read()
    scorers = run.read_scorers()
    baselines = find_offered_baselines(request.user, run, request.GET)
    baseline_choice = choose_baseline(run, baselines, request.GET)
    # Queries that a page which polls can do without.
    thresholds = None if run.is_unfinished else RunThresholds(run)
    shown_labels = request.GET.get("labels", "")
    labels = None if run.is_unfinished else RunLabels.of(run, scorers, shown_labels)
    cases = open_case_list(opened, scorers, request.GET, baseline_choice, labels=labels)
    if cases.lacks_pairs and cases.baseline_choice.chosen:
        compare_jobs.enqueue_large(cases.baseline_choice.chosen, run)
    reviews = read_review_state(run)
    corrected = {} if run.is_unfinished else calibrate_sample(run, scorers, reviews)
    how = request.GET.get("trials", MEAN)
    kept = cases.kept_for_scores
    figures = scorer_figures(scorers, how, kept, thresholds, corrected, labels)
    keys = missing_keys(run)
    context = {
        "team": run.team,
        "run": run,
        "has_alerts": bool(_alerts_of(run.pk)),
        "costs": RunCosts(run, figures),
        "trial_figures": trial_figures(figures),
        "progress": run_progress(run) if run.is_unfinished else None,
        "figures": figures,
        "threshold_changes": thresholds.changes() if thresholds else (),
        "labels": labels,
        "can_relabel": thresholds is not None
        and run.state == RunState.FINISHED
        and thresholds.can_relabel(scorers, labels.relabel if labels else None),
        "missing_keys": keys,
        "disagreements": find_disagreements(opened, reviews),
        "missing_more": (run.missing_output_count or 0) - len(keys),
        "drift": _drift_of.first(run.pk),
        "errors": find_run_errors(run, scorers),
        "has_errors": any(figure.summary and figure.summary.error_causes for figure in figures),
        "cases": cases,
        **baselines,
        "views": _views_of(request.user.pk, run.team_id),
        "run_release": RunRelease(run, baselines["measured_by"]),
        "may_retry": permissions["may_edit"] and run.state == RunState.FINISHED,
        **permissions,
    }
    response = render_page(request, "runs/page.html", context, parts=["progress", "cases"])
    return response if run.is_unfinished else trigger_client_event(response, "run-ended")


@prepared_query
def _alerts_of(run: int) -> QuerySet[Alert, int]:
    """The id of one, if there is any."""
    return Alert.objects.filter(run=run).order_by().values_list("pk", flat=True)[:1]


@prepared_query
def _drift_of(run: int) -> QuerySet[RunDrift]:
    return RunDrift.objects.filter(run=run)


@prepared_query
def _views_of(user: int, team: int) -> QuerySet[SavedView]:
    return SavedView.objects.for_person(user, team)


@post_action
def cancel_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    run = access.run_for(request.user, uid, Role.EDITOR)
    if not planning.cancel_run(run, request.user):
        messages.info(request, "There was nothing to cancel.")
    return redirect("run", uid)


@post_action
def resume_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    run = access.run_for(request.user, uid, Role.EDITOR)
    if not planning.resume_run(run, request.user):
        messages.info(request, "This run is not cancelled, so it cannot be resumed.")
    return redirect("run", uid)


@post_action
def retry_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Score the errors again, all or those of one cause, with another budget where one is sent."""
    run = access.run_for(request.user, uid, Role.EDITOR)
    form = RetryForm(request.POST)
    if not form.is_valid():
        text = "The budget is no amount in US dollars. Nothing was started."
        messages.info(request, text)
    elif not planning.retry_errors(
        run, request.user, form.cleaned_data["budget_usd"], code=form.cleaned_data["code"]
    ):
        messages.info(request, "There are no errors to score again.")
    return redirect("run", uid)
