"""One case in a run: its texts, how they differ, and why it was scored so."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django.http import Http404, HttpResponse

from evalsite import access
from evalsite.pages.case_absent import absent_from
from evalsite.pages.case_against import Against, against_of
from evalsite.pages.case_beside import TITLES, beside_of
from evalsite.pages.case_list import Around, CaseList
from evalsite.pages.case_switches import chosen, switches
from evalsite.pages.case_trials import trials_of
from evalsite.pages.case_view import CaseView
from evalsite.pages.fragments import SignedInRequest, show, show_text
from evalsite.pages.methods import reading
from scoring.models import Run, RunScorer
from scoring.models.case_table import Place


@reading
def case(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    """A case with its neighbours in the table that the address describes."""
    place = Place(position, _trial(request))
    run, output = access.output_for(request.user, uid, *place)
    scorers = list(run.scorers.select_related("version"))
    beside = beside_of(request.user, run, output, request.GET)
    asked = [request.GET.get(name, "") for name in ("diff", "between")]
    layout = chosen(request.GET, "layout")
    view = CaseView(run, output, scorers, asked[0], beside, asked[1], layout)
    if name := request.GET.get("whole"):
        return show_text(view.texts.get(name))
    context = {
        "team": run.team,
        "run": run,
        "view": view,
        "between": TITLES,
        "switches": switches(request.GET),
        "marks_space": chosen(request.GET, "space") == "on",
        "absent": absent_from(request.user, run, output, request.GET),
        "cases": _around(request, view, place),
        "trials": None if beside else trials_of(run, output, scorers, request.GET),
    }
    return show(request, "case/page.html", context)


def _around(request: SignedInRequest, view: CaseView, place: Place) -> Around:
    """Where the case stands in the list of a comparison, or else of its run."""
    beside = view.beside if view.beside and view.beside.is_in_comparison else None
    return (beside or _list_of(request, view.run, view.scorers)).around(place)


def _list_of(request: SignedInRequest, run: Run, scorers: Sequence[RunScorer]) -> CaseList:
    """The table that the case was opened from; changes are told from another run."""
    tells_change = "change" in request.GET
    against = against_of(request.user, run, request.GET) if tells_change else Against()
    return CaseList(run, scorers, request.GET, against)


def _trial(request: SignedInRequest) -> int:
    text = request.GET.get("trial", "0")
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        raise Http404
    return int(text)
