"""One case in a run: its texts, how they differ, and why it was scored so."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404, HttpResponse

from evalsite import access
from evalsite.pages.case.absent import Absent, absent_from
from evalsite.pages.case.against import AUTO, Against, against_of
from evalsite.pages.case.beside import TITLES, beside_of
from evalsite.pages.case.list import Around, CaseList
from evalsite.pages.case.rows import room
from evalsite.pages.case.said import said_of
from evalsite.pages.case.switches import chosen, switches
from evalsite.pages.case.trials import trials_of
from evalsite.pages.case.view import CaseView
from evalsite.pages.fragments import SignedInRequest, show, show_text
from evalsite.pages.methods import reading
from scoring.models import Output, Run
from scoring.models.case_table import Place


@reading
def case(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    """A case with its neighbours in the table that the address describes."""
    run, output = access.output_for(request.user, uid, *place_of(request, position))
    against = _against(request, run)
    view = _view(request, run, output, against)
    if name := request.GET.get("whole"):
        return show_text(view.texts.get(name))
    return show(request, "case/page.html", _page(request, view, against))


def page_of(request: SignedInRequest, run: Run, output: Output) -> dict[str, Any]:
    """What the page is given of an output from `access.output_for`."""
    against = _against(request, run)
    return _page(request, _view(request, run, output, against), against)


def place_of(request: SignedInRequest, position: int) -> Place:
    """The case of the address with the trial that its query names."""
    text = request.GET.get("trial", "0")
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        raise Http404
    return Place(position, int(text))


def _view(request: SignedInRequest, run: Run, output: Output, against: Against) -> CaseView:
    scorers = list(run.scorers.select_related("version"))
    beside = beside_of(request.user, run, output, request.GET, against)
    asked = [request.GET.get(name, "") for name in ("diff", "between")]
    layout, space = (chosen(request.GET, name) for name in ("layout", "space"))
    looks = (layout, room(request.GET), space == "on")
    return CaseView(run, output, scorers, asked[0], beside, asked[1], *looks)


def _page(request: SignedInRequest, view: CaseView, against: Against) -> dict[str, Any]:
    run, output = view.run, view.output
    absent = absent_from(request.user, run, output, request.GET)
    return {
        **said_of(request, run, output),
        "team": run.team,
        "run": run,
        "view": view,
        "between": TITLES,
        "switches": switches(request.GET),
        "marks_space": view.marks_space,
        "absent": absent,
        "cases": _around(request, view, against, absent),
        "trials": None if view.beside else trials_of(run, output, view.scorers, request.GET),
    }


def _around(
    request: SignedInRequest, view: CaseView, against: Against, absent: Absent | None
) -> Around:
    """Where the case stands in the list of a comparison, or else of its run."""
    place = Place(view.output.case.position, view.output.trial)
    if beside := view.beside if view.beside and view.beside.is_in_comparison else absent:
        return beside.around(place)
    given = [why.score for why in view.why if why.score]
    is_reviewed = access.is_reviewed(view.output)
    listed = CaseList(view.run, view.scorers, request.GET, against)
    return listed.around(place, given, is_reviewed=is_reviewed)


def _against(request: SignedInRequest, run: Run) -> Against:
    """The run to tell changes from, where the address asks for it or the run's table, which the
    case was opened from, tells any; of a comparison, `change` is a range of scores.
    """
    named = request.GET.get("against")
    is_asked = named == AUTO or (not named and "change" in request.GET)
    return against_of(request.user, run, request.GET) if is_asked else Against()
