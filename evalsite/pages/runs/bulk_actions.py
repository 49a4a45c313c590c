"""Actions on the ticked cases of a run's table, or on all listed ones."""

from __future__ import annotations

import uuid
from typing import Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.access import RunAccess
from evalsite.pages.cases.table.baseline_choice import get_baseline_choice
from evalsite.pages.cases.table.case_table import CaseList, open_case_list
from evalsite.pages.drafts.tagging import TagAction, apply_sent_tagging, apply_tagging
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.responses import SignedInRequest
from scoring.engine.runs import planning
from scoring.models import Output, Role, Run

ALL_LISTED: Final = "listed"  # the cases to which the list is limited, of which some may be ticked
OWN: Final = ("csrfmiddlewaretoken", "do", "new_tag", ALL_LISTED)
WRITES: Final = {"retry", "tag", "retag"}
MAX_TAGGED: Final = 5_000
EXPORTS: Final = {"csv", "jsonl", "json"}


@post_action
def apply_bulk_action(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Export, tag, score again or only list the cases that the sent filters and ticks leave."""
    action = request.POST.get("do", "")
    role = Role.EDITOR if action in WRITES else Role.VIEWER
    opened = access.run_access_for(request.user, uid, role)
    run = opened.run
    if action == "retag":
        return _retag(request, run)
    cases = _posted_cases(request, opened)
    if action in EXPORTS:
        query = urlencode([*cases.kept(*OWN), ("format", action)])
        return redirect(f"{reverse('export_run', args=[uid])}?{query}")
    if action not in WRITES:
        return _show_run(run, urlencode(cases.kept(*OWN)))
    {"retry": _retry, "tag": _tag}[action](request, run, cases)
    return _show_run(run, _table_query(cases))


def _show_run(run: Run, query: str) -> HttpResponse:
    return redirect(f"{reverse('run', args=[run.uuid])}?{query}#cases")


def _posted_cases(request: SignedInRequest, opened: RunAccess) -> CaseList:
    run, query = opened.run, request.POST.copy()
    if not any(query.getlist("place")):
        query.setlist("place", query.getlist(ALL_LISTED))
    baseline_choice = get_baseline_choice(request.user, run, query)
    return open_case_list(opened, run.read_scorers(), query, baseline_choice)


def _table_query(cases: CaseList) -> str:
    """The query string of the table as it was, whatever was ticked there."""
    listed = [("place", text) for text in cases.query.getlist(ALL_LISTED)]
    return urlencode(cases.kept(*OWN, "place") + listed)


def _retry(request: SignedInRequest, run: Run, cases: CaseList) -> None:
    """Score the errors of these cases again; filters that cannot be used leave none."""
    outputs = frozenset(cases.table.output_ids() if cases.form.is_valid() else ())
    if planning.retry_errors(run, request.user, only=outputs) is None:
        messages.info(request, "There are no errors to score again in these cases.")


def _tag(request: SignedInRequest, run: Run, cases: CaseList) -> None:
    """Tag these cases in the draft of the dataset's next version."""
    new_tag = request.POST.get("new_tag", "").strip()
    outputs = list(cases.table.output_ids()[: MAX_TAGGED + 1]) if cases.form.is_valid() else []
    if not new_tag or not outputs:
        messages.info(request, "Name a tag, and tick a case or list some.")
        return
    if len(outputs) > MAX_TAGGED:
        messages.error(request, f"At most {MAX_TAGGED:,} cases are tagged at once: list fewer.")
        return
    version = run.output_set.version
    rows = Output.objects.filter(pk__in=outputs).order_by("case__position")
    tagging = TagAction(new_tag, version, dict(rows.values_list("case__key", "case__position")))
    apply_tagging(request, version.dataset, tagging, *_undo(run, _table_query(cases)))


def _retag(request: SignedInRequest, run: Run) -> HttpResponse:
    """Undo a tagging, with the run's table as it was."""
    query = request.POST.get("query", "")
    apply_sent_tagging(request, run.output_set.version.dataset, *_undo(run, query))
    return _show_run(run, query)


def _undo(run: Run, query: str) -> tuple[str, dict[str, str]]:
    """The path of a tagging's Undo, and its fields besides the cases."""
    return reverse("ticked_cases", args=[run.uuid]), {"do": "retag", "query": query}
