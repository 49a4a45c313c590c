"""Files of a run: its cases, and its report as HTML."""

from __future__ import annotations

import uuid

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.blind_review import blind_outputs
from evalsite.pages.cases.table.baseline_choice import get_baseline_choice
from evalsite.pages.cases.table.case_table import open_case_list
from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.exports import QUERY_NAMES, send_export
from evalsite.pages.web.responses import SignedInRequest, html_file_response
from scoring.engine.export import run_table
from scoring.engine.reports import run_report as run_reports


@get_page
def export_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponseBase:
    """The cases as the run's page lists them. That page explains filters that cannot be used."""
    opened = access.run_access_for(request.user, uid)
    run = opened.run
    baseline_choice = get_baseline_choice(request.user, run, request.GET)
    scorers = run.read_scorers()
    cases = open_case_list(opened, scorers, request.GET, baseline_choice, masks=False)
    if not cases.form.is_valid():
        query = cases.changed(**dict.fromkeys(QUERY_NAMES))
        return redirect(f"{reverse('run', args=[uid])}{query}")
    return send_export(request, run_table(cases.table))


@get_page
def run_report(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The run's figures and worst cases."""
    opened = access.run_access_for(request.user, uid)
    run = opened.run
    address = request.build_absolute_uri(reverse("run", args=[uid]))
    hidden = blind_outputs(request.user, run)
    text = run_reports.run_report(run, address=address, without=hidden)
    return html_file_response(text, run_reports.run_file_name(run))
