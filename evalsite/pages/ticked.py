"""What is done to the cases that are ticked in a run's table, or to all that it lists."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.pages.case.against import against_of
from evalsite.pages.case.list import CaseList
from evalsite.pages.fragments import SignedInRequest
from evalsite.pages.methods import posting
from evalsite.pages.tagging import Tagging, tag, tag_as_sent
from scoring.engine import plan
from scoring.models import Output, Role, Run, User

LISTED: Final = "listed"  # the cases that alone are listed, of which some may be ticked
OWN: Final = ("csrfmiddlewaretoken", "do", "new_tag", LISTED)
WRITES: Final = {"retry", "tag", "retag"}
MOST_TAGGED: Final = 5_000
EXPORTS: Final = {"csv", "jsonl", "json"}


@posting
def ticked_cases(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Export, tag, score again or list alone the cases that the sent filters and ticks leave."""
    asked = request.POST.get("do", "")
    run = access.run_for(request.user, uid, Role.EDITOR if asked in WRITES else Role.VIEWER)
    if asked == "retag":
        return _retag(request, run)
    cases = _list_of(request.user, request, run)
    kept = cases.kept(*OWN)
    if asked in EXPORTS:
        path = reverse("export_run", args=[uid])
        return redirect(f"{path}?{urlencode([*kept, ('format', asked)])}")
    if asked in WRITES:
        {"retry": _retry, "tag": _tag}[asked](request, run, cases)
        kept = _shown(cases)
    return redirect(f"{reverse('run', args=[uid])}?{urlencode(kept)}#cases")


def _list_of(user: User, request: SignedInRequest, run: Run) -> CaseList:
    scorers, sent = list(run.scorers.with_summary()), request.POST.copy()
    if not any(sent.getlist("place")):
        sent.setlist("place", sent.getlist(LISTED))
    return CaseList(run, scorers, sent, against_of(user, run, sent))


def _shown(cases: CaseList) -> list[tuple[str, str]]:
    """The parts of the address of the table as it was, whatever was ticked there."""
    listed = [("place", place) for place in cases.query.getlist(LISTED)]
    return cases.kept(*OWN, "place") + listed


def _retry(request: SignedInRequest, run: Run, cases: CaseList) -> None:
    """Score the errors of these cases again; filters that cannot be used leave none."""
    is_read = cases.form.is_valid()
    only = frozenset(cases.table.output_ids()) if is_read else frozenset()
    attempt = plan.retry_errors(run, request.user, only=only)
    if attempt is None:
        messages.info(request, "There are no errors to score again in these cases.")


def _tag(request: SignedInRequest, run: Run, cases: CaseList) -> None:
    """Tag these cases in the draft of the dataset's next version; versions themselves stay."""
    new_tag = request.POST.get("new_tag", "").strip()
    outputs = list(cases.table.output_ids()[: MOST_TAGGED + 1]) if cases.form.is_valid() else []
    if not new_tag or not outputs:
        messages.info(request, "Name a tag, and tick a case or list some.")
        return
    if len(outputs) > MOST_TAGGED:
        messages.error(request, f"At most {MOST_TAGGED:,} cases are tagged at once: list fewer.")
        return
    version = run.output_set.version
    asked = Tagging(new_tag, version, _cases(outputs))
    back = _tagged_back(urlencode(_shown(cases)))
    tag(request, version.dataset, asked, _path(run), back)


def _retag(request: SignedInRequest, run: Run) -> HttpResponse:
    """Undo a tagging, with the run's table as it was."""
    query = request.POST.get("query", "")
    tag_as_sent(request, run.output_set.version.dataset, _path(run), _tagged_back(query))
    return redirect(f"{reverse('run', args=[run.uuid])}?{query}#cases")


def _tagged_back(query: str) -> dict[str, str]:
    """What the Undo of a tagging sends beside the cases; the query is that of the table."""
    return {"do": "retag", "query": query}


def _path(run: Run) -> str:
    return reverse("ticked_cases", args=[run.uuid])


def _cases(outputs: Sequence[int]) -> dict[str, int]:
    """The outputs' cases: the position of each by its key."""
    found = Output.objects.filter(pk__in=outputs).order_by("case__position")
    return dict(found.values_list("case__key", "case__position"))
