"""The release decision on a run: its evidence, approval, rejection and withdrawal."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.pages.compare.relabelled_runs import find_relabelled_runs
from evalsite.pages.web.decorators import form_page, get_page, post_action
from evalsite.pages.web.responses import SignedInRequest, render_page
from evalsite.pages.web.undo import add_undo_message
from evalsite.release_reports import ReportRefusedError, find_report_baseline, report_response
from scoring.engine.compare.jobs import compare_or_enqueue
from scoring.engine.reports.release_report import build_release_report, report_file
from scoring.engine.runs.neighbours import run_baseline
from scoring.engine.signoff.evidence import count_states, gather_evidence
from scoring.models import ReleaseDecision, ReleaseState, Role, Run, RunState
from scoring.models.prepared_query import prepared_query
from scoring.models.reviews.broken_cases import StateCounts
from scoring.models.runs.release_decision import MAX_REASON, StaleReleaseError


@dataclass(frozen=True)
class RunRelease:
    """What a run's page says of its release; nothing is computed for it."""

    run: Run
    baseline: Run | None

    @cached_property
    def standing(self) -> ReleaseDecision | None:
        return _standing_decisions.first(self.run.pk)

    @cached_property
    def states(self) -> StateCounts | None:
        """Of the broken cases; None without a baseline, or before the runs are compared."""
        return count_states(self.run, self.baseline) if self.baseline else None

    @property
    def broken_url(self) -> str:
        """The list of the broken cases."""
        assert self.baseline is not None  # noqa: S101  there are states only with one
        runs = urlencode({"baseline": self.baseline.uuid, "candidate": self.run.uuid})
        return f"{reverse('compare', args=[self.run.team.slug])}?{runs}&kind=broke#cases"


@prepared_query
def _standing_decisions(run: int) -> QuerySet[ReleaseDecision]:
    return ReleaseDecision.objects.filter(run=run).standing().select_related("decided_by")


class ReleaseForm(forms.Form):
    """Approve or reject, with the reason; `seen` is the decision that the page showed, if any."""

    state = forms.ChoiceField(choices=ReleaseState.choices, widget=forms.HiddenInput)
    reason = forms.CharField(max_length=MAX_REASON, widget=forms.Textarea(attrs={"rows": 3}))
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    @property
    def seen_decision(self) -> str | None:
        """None where the sender does not say."""
        return str(self.cleaned_data["seen"]) if "seen" in self.data else None


@form_page
def run_release(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The evidence and the decisions; an admin decides here."""
    role = Role.ADMIN if request.method == "POST" else Role.VIEWER
    opened = access.run_access_for(request.user, uid, role)
    run = opened.run
    baseline = run_baseline(run)
    form = ReleaseForm(request.POST if request.method == "POST" else None)
    status = 200
    if form.is_valid():
        state = ReleaseState(form.cleaned_data["state"])
        evidence = gather_evidence(run, baseline).as_json()
        try:
            decision = ReleaseDecision.objects.decide(
                run,
                state,
                form.cleaned_data["reason"],
                evidence,
                baseline=baseline,
                by=request.user,
                seen=form.seen_decision,
            )
        except ValidationError as refused:
            form.add_error(None, refused.messages)
        except StaleReleaseError as stale:
            form.add_error(None, str(stale))
            status = 409
        else:
            path, fields = reverse("withdraw_run_release", args=[uid]), {"id": decision.uuid}
            add_undo_message(request, f"Run {state.value}.", path, fields)
            return redirect("run_release", uid)
    decisions = list(ReleaseDecision.objects.of(run))
    context = {
        "team": run.team,
        "run": run,
        "baseline": baseline,
        "evidence": gather_evidence(run, baseline),
        "relabelled": find_relabelled_runs([baseline, run] if baseline else [run]),
        "form": form,
        "decisions": decisions,
        "standing": next((each for each in decisions if each.withdrawn_at is None), None),
        "is_finished": run.state == RunState.FINISHED,
        **opened.permissions,
    }
    status = 422 if form.errors and status == 200 else status
    return render_page(request, "signoff/release.html", context, status=status)


@get_page
def run_release_report(request: SignedInRequest, uid: uuid.UUID) -> HttpResponseBase:
    """The release report as one HTML file, or as JSON; large runs are compared first."""
    opened = access.run_access_for(request.user, uid)
    run = opened.run
    try:
        baseline = find_report_baseline(request.user, run)
    except ReportRefusedError as refused:
        messages.info(request, refused.text)
        return run_release(request, uid)
    if compare_or_enqueue(baseline, run, request.user) is None:
        messages.info(request, "The runs are still being compared. Open the report again later.")
        return redirect(RunRelease(run, baseline).broken_url)
    report = build_release_report(run, baseline, access.reviews_of_run(opened))
    return report_response(
        report_file(run, report, "json" if request.GET.get("format") == "json" else "html")
    )


@post_action
def withdraw_run_release(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Leave the run without a decision, or with `restore` bring a withdrawn one back."""
    run = access.run_for(request.user, uid, Role.ADMIN)
    decision = _named_decision(request, ReleaseDecision.objects.of(run))
    if decision is None:
        messages.info(request, "There is no such decision.")
    elif "restore" in request.POST:
        if decision.restore(by=request.user):
            messages.success(request, f"Decision restored: {decision.state}.")
        else:
            messages.info(request, "Another decision applies now. Nothing was changed.")
    elif decision.withdraw(by=request.user):
        path = reverse("withdraw_run_release", args=[uid])
        fields = {"id": decision.uuid, "restore": "1"}
        add_undo_message(request, "Decision withdrawn.", path, fields)
    else:
        messages.info(request, "This decision has already been withdrawn or replaced.")
    return redirect("run_release", uid)


def _named_decision(
    request: SignedInRequest, decisions: Iterable[ReleaseDecision]
) -> ReleaseDecision | None:
    """The decision of the run that the form names, else the one that stands."""
    try:
        wanted = uuid.UUID(request.POST.get("id", ""))
    except ValueError:
        wanted = None
    rows = list(decisions)
    if wanted is None:
        return next((row for row in rows if row.withdrawn_at is None), None)
    return next((row for row in rows if row.uuid == wanted), None)
