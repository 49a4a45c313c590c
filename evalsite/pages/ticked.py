"""What is done to the cases that are ticked in a run's table, or to all that it lists."""

from __future__ import annotations

import uuid
from typing import Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.pages.case_against import against_of
from evalsite.pages.case_list import CaseList
from evalsite.pages.fragments import SignedInRequest
from evalsite.pages.methods import posting
from scoring.engine import plan
from scoring.models import Role, Run, User

OWN: Final = ("csrfmiddlewaretoken", "do")
EXPORTS: Final = {"csv", "jsonl", "json"}


@posting
def ticked_cases(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Export, score again or list alone the cases that the sent filters and ticks leave."""
    asked = request.POST.get("do", "")
    run = access.run_for(request.user, uid, Role.EDITOR if asked == "retry" else Role.VIEWER)
    cases = _list_of(request.user, request, run)
    kept = cases.kept(*OWN)
    if asked in EXPORTS:
        path = reverse("export_run", args=[uid])
        return redirect(f"{path}?{urlencode([*kept, ('format', asked)])}")
    if asked == "retry":
        _retry(request, run, cases)
        kept = cases.kept(*OWN, "place")
    return redirect(f"{reverse('run', args=[uid])}?{urlencode(kept)}#cases")


def _list_of(user: User, request: SignedInRequest, run: Run) -> CaseList:
    scorers = list(run.scorers.with_summary())
    return CaseList(run, scorers, request.POST, against_of(user, run, request.POST))


def _retry(request: SignedInRequest, run: Run, cases: CaseList) -> None:
    """Score the errors of these cases again; filters that cannot be used leave none."""
    is_read = cases.form.is_valid()
    only = frozenset(cases.table.output_ids()) if is_read else frozenset()
    attempt = plan.retry_errors(run, request.user, only=only)
    if attempt is None:
        messages.info(request, "There are no errors to score again in these cases.")
