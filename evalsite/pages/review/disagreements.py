"""Disagreements of reviewers on a run's outputs, and the page on which a third person decides."""

from __future__ import annotations

import uuid
from typing import Any, Final, NamedTuple

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.access import OutputAccess, RunAccess
from evalsite.pages.cases.case_view import CaseView
from evalsite.pages.cases.compared_texts import TextOptions
from evalsite.pages.cases.texts.row_limits import get_row_limits
from evalsite.pages.cases.thread import VerdictChoice
from evalsite.pages.cases.views import parse_position
from evalsite.pages.review.forms import VerdictForm
from evalsite.pages.web.decorators import form_page, get_page, post_action
from evalsite.pages.web.responses import SignedInRequest, render_page, text_response
from evalsite.pages.web.undo import add_undo_message
from scoring.engine.review.disagreements import Disagreement, Disagreements, adjudicate
from scoring.engine.review.review_state import ReviewState
from scoring.models import Adjudication, Output, ReviewVerdict, Role
from scoring.models.case_paging import CasePosition
from scoring.models.reviews.adjudication import AdjudicationError, StaleAdjudicationError

MAX_LISTED: Final = 200  # disagreements of a kind


class Opened(NamedTuple):
    """A disagreement that somebody has opened, among the others of the run."""

    output: OutputAccess
    others: Disagreements
    disagreement: Disagreement

    @property
    def position(self) -> CasePosition:
        output = self.output.output
        return CasePosition(output.case.position, output.trial)

    @property
    def may_decide(self) -> bool:
        may_review = self.output.permissions["may_review"]
        return may_review and not self.disagreement.is_reviewer(self.output.user)

    @property
    def next_url(self) -> str:
        """Where the next open disagreement is decided, else the list."""
        uid, found = self.output.run.uuid, self.others.next_open(self.position)
        if found is None:
            return reverse("disagreements", args=[uid])
        return disagreement_url(uid, found.case_position)


def disagreement_url(
    uid: uuid.UUID, position: CasePosition, name: str = "adjudicate_disagreement"
) -> str:
    """The address by this name of the disagreement on an output of a run."""
    query = {"trial": position.trial} if position.trial else None
    return reverse(name, args=[uid, position.position], query=query)


def find_disagreements(opened: RunAccess, state: ReviewState | None = None) -> Disagreements | None:
    """Those on the run's outputs that the user may see; None where there are none."""
    disagreements = Disagreements(opened.run, opened.user, opened.role, state)
    return disagreements if disagreements.visible else None


@get_page
def list_disagreements(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The outputs on which reviewers disagree, with who said what: open, then decided."""
    opened, disagreements = access.disagreements_for(request.user, uid)
    open_ones, decided = disagreements.open, disagreements.decided
    context = {
        "team": opened.run.team,
        "run": opened.run,
        "open_count": len(open_ones),
        "decided_count": len(decided),
        "open": _rows(disagreements, [each.output for each in open_ones[:MAX_LISTED]]),
        "decided": _rows(disagreements, [each.output for each in decided[:MAX_LISTED]]),
        "hidden_count": disagreements.hidden_count,
        **opened.permissions,
    }
    return render_page(request, "review/disagreements/disagreements.html", context)


@form_page
def adjudicate_case(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    """One disagreement; the verdict of a third person leads to the next one."""
    if request.method == "POST":
        return _decide(request, uid, position)
    opened = _open(request, uid, position, Role.VIEWER)
    if name := request.GET.get("whole"):
        return text_response(_view_case(request, opened).texts.whole.get(name))
    return _render(request, opened)


@post_action
def clear_adjudication(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    """Withdraw the final verdict just given, unless somebody changed it since."""
    place = parse_position(request, position)
    opened, *_ = access.disagreement_for(request.user, uid, *place, Role.REVIEWER)
    text = request.POST.get("seen", "")
    seen = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
    try:
        Adjudication.objects.clear(opened.run, opened.output, by=request.user, seen=seen)
        messages.info(request, f"The final verdict on {opened.output.case.key} is cleared.")
    except AdjudicationError as refused:
        messages.error(request, str(refused))
    return redirect(disagreement_url(uid, place))


def _open(request: SignedInRequest, uid: uuid.UUID, position: int, role: Role) -> Opened:
    place = parse_position(request, position)
    return Opened(*access.disagreement_for(request.user, uid, *place, role))


def _decide(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    try:
        opened = _open(request, uid, position, Role.REVIEWER)
    except Http404:  # perhaps its reviewers agree by now
        place = parse_position(request, position)
        access.output_for(request.user, uid, *place, Role.REVIEWER)
        messages.info(request, "There is nothing to decide on this output any more.")
        return redirect("disagreements", uid)
    form = VerdictForm(request.POST)
    if not form.is_valid():
        messages.error(request, form.fault)
        return _render(request, opened, {"sent": request.POST}, status=422)
    sent = {"sent": form.cleaned_data, "sent_verdict": form.chosen_verdict}
    try:
        _save(request, opened, form)
    except StaleAdjudicationError as stale:
        opened = _open(request, uid, position, Role.REVIEWER)
        return _render(request, opened, {"stale": stale, **sent}, status=409)
    except AdjudicationError as refused:
        messages.error(request, str(refused))
        return _render(request, opened, sent, status=409)
    return redirect(opened.next_url)


def _save(request: SignedInRequest, opened: Opened, form: VerdictForm) -> None:
    """Keep the final verdict, and offer to undo it: what it replaced holds again then.

    Raises AdjudicationError.
    """
    run, output = opened.output.run, opened.output.output
    replaced = opened.disagreement.adjudication
    decided = adjudicate(
        run,
        output,
        form.chosen_verdict,
        by=request.user,
        note=form.cleaned_data["note"],
        seen=form.cleaned_data["seen"],
    )
    text = f"{output.case.key}: {form.chosen_verdict.label}."
    fields: dict[str, Any] = {"seen": decided.revision}
    if replaced:
        path = disagreement_url(run.uuid, opened.position)
        fields |= {"verdict": replaced.code, "note": replaced.note}
    else:
        path = disagreement_url(run.uuid, opened.position, "clear_disagreement")
    add_undo_message(request, text, path, fields)


def _rows(disagreements: Disagreements, outputs: list[int]) -> list[tuple[Disagreement, str]]:
    """Each with the address of its page."""
    uid = disagreements.run.uuid
    return [
        (each, disagreement_url(uid, _position_of(each.output)))
        for each in disagreements.load(outputs)
    ]


def _position_of(output: Output) -> CasePosition:
    return CasePosition(output.case.position, output.trial)


def _render(
    request: SignedInRequest,
    opened: Opened,
    more: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    view, adjudication = _view_case(request, opened), opened.disagreement.adjudication
    context: dict[str, Any] = {
        "team": opened.output.run.team,
        "run": opened.output.run,
        "view": view,
        "own": view.texts.own,
        "disagreement": opened.disagreement,
        "adjudication": adjudication,
        "may_decide": opened.may_decide,
        "is_reviewer": opened.disagreement.is_reviewer(request.user),
        "action": disagreement_url(opened.output.run.uuid, opened.position),
        "next_url": opened.next_url,
        "open_count": len(opened.others.open),
        "choices": [
            VerdictChoice(
                verdict, key, adjudication is not None and adjudication.verdict == verdict
            )
            for key, verdict in enumerate(ReviewVerdict, start=1)
        ],
        **(more or {}),
    }
    return render_page(request, "review/disagreements/adjudicate.html", context, status=status)


def _view_case(request: SignedInRequest, opened: Opened) -> CaseView:
    options = TextOptions(request.GET.get("diff", ""))
    limits = get_row_limits(request.GET)
    run, output = opened.output.run, opened.output.output
    return CaseView(run, output, None, options, limits, has_whole_history=False)
