"""The page of one case in a run."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from evalsite import access
from evalsite.access import OutputAccess
from evalsite.blind_review import blind_task_for
from evalsite.pages.cases.baseline_output import (
    TITLES,
    MissingOutput,
    find_baseline_output,
    find_missing_output,
)
from evalsite.pages.cases.case_view import CaseView
from evalsite.pages.cases.compared_texts import TextOptions
from evalsite.pages.cases.display_options import chosen_value, display_options
from evalsite.pages.cases.history import ALL
from evalsite.pages.cases.labels import NEW
from evalsite.pages.cases.table.baseline_choice import AUTO, BaselineChoice, get_baseline_choice
from evalsite.pages.cases.table.case_table import Neighbours, open_case_list
from evalsite.pages.cases.texts.row_limits import get_row_limits
from evalsite.pages.cases.thread import feedback_context
from evalsite.pages.cases.trials import Trials, list_trials
from evalsite.pages.compare.links import change_query
from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.responses import SignedInRequest, render_page, text_response
from scoring.models import Draft, ReviewTask, Run
from scoring.models.case_paging import CasePosition


@get_page
def case(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    """One output: texts, differences, scores, feedback, and its neighbours in the list."""
    opened = access.output_for(request.user, uid, *parse_position(request, position))
    if task := find_blinding_task(request, opened):
        return redirect_to_task(request, task)
    if name := request.GET.get("whole"):
        view = _build_view(request, opened, _get_baseline_choice(request, opened.run))
        return text_response(view.texts.whole.get(name))
    return render_page(request, "cases/page.html", case_context(request, opened))


def find_blinding_task(request: SignedInRequest, opened: OutputAccess) -> ReviewTask | None:
    """The person's open task for the output, or for the one of the run it is laid beside.

    Until it is done neither is shown with scores or reviews.
    """
    if not opened.has_blind_case:
        return None
    choice = _get_baseline_choice(request, opened.run)
    baseline = find_baseline_output(opened, request.GET, choice)
    outputs = [opened.output, *([baseline.output] if baseline and baseline.output else [])]
    return blind_task_for(request.user, outputs)


def redirect_to_task(request: SignedInRequest, task: ReviewTask) -> HttpResponse:
    """To the page on which the person is to review the output."""
    messages.info(request, "You are asked to review this case: scores are shown afterwards.")
    return redirect("review_task", task.queue.uuid, task.position)


def case_context(request: SignedInRequest, opened: OutputAccess) -> dict[str, Any]:
    """The context of the page of an output."""
    run = opened.run
    baseline_choice = _get_baseline_choice(request, run)
    view = _build_view(request, opened, baseline_choice)
    missing = find_missing_output(opened, request.GET)
    return {
        **feedback_context(request, opened),
        "team": run.team,
        "run": run,
        "view": view,
        "between": TITLES,
        "display_options": display_options(request.GET),
        "marks_space": view.options.marks_space,
        "missing": missing,
        "may_edit": opened.permissions["may_edit"],
        "draft_edits": _count_draft_edits(opened),
        "cases": _find_neighbours(request, opened, view, baseline_choice, missing),
        "trials": None if view.baseline else _list_trials(request, opened, view),
        "labels_url": change_query(
            request.GET, labels="" if view.labels and view.labels.is_shown else NEW
        ),
    }


def _count_draft_edits(opened: OutputAccess) -> int:
    """The edits in the open draft of the dataset, for who may publish them."""
    if not opened.permissions["may_edit"]:
        return 0
    draft = Draft.objects.open_of(opened.run.output_set.version.dataset)
    return draft.edits.count() if draft else 0


def _list_trials(request: SignedInRequest, opened: OutputAccess, view: CaseView) -> Trials | None:
    return list_trials(opened, view.scorers, request.GET, view.labels)


def parse_position(request: SignedInRequest, position: int) -> CasePosition:
    """The position in the address with the trial that its query names; 404 for no number."""
    text = request.GET.get("trial", "0")
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        raise Http404
    return CasePosition(position, int(text))


def _build_view(
    request: SignedInRequest, opened: OutputAccess, baseline_choice: BaselineChoice
) -> CaseView:
    query = request.GET
    return CaseView(
        opened.run,
        opened.output,
        find_baseline_output(opened, query, baseline_choice),
        TextOptions(
            query.get("diff", ""),
            query.get("between", ""),
            chosen_value(query, "layout"),
            marks_space=chosen_value(query, "space") == "on",
        ),
        get_row_limits(query),
        has_whole_history=query.get("history") == ALL,
        hidden=opened.blind_outputs,
        shown_labels=query.get("labels", ""),
    )


def _find_neighbours(
    request: SignedInRequest,
    opened: OutputAccess,
    view: CaseView,
    baseline_choice: BaselineChoice,
    missing: MissingOutput | None,
) -> Neighbours:
    """The neighbours in the list of a comparison, or else of the run."""
    position = CasePosition(view.output.case.position, view.output.trial)
    is_in_comparison = view.baseline is not None and view.baseline.is_in_comparison
    if listed := view.baseline if is_in_comparison else missing:
        return listed.neighbours(position)
    scores = [answer.score for answer in view.judgement.answers if answer.score]
    cases = open_case_list(opened, view.scorers, request.GET, baseline_choice)
    return cases.neighbours(position, scores, is_reviewed=bool(opened.reviews))


def _get_baseline_choice(request: SignedInRequest, run: Run) -> BaselineChoice:
    """The baseline that the address names by `against=auto`, or that the run's table filters by.

    In the address of a comparison's list `change` is a range of scores and names none.
    """
    named = request.GET.get("against")
    is_chosen = named == AUTO or (not named and "change" in request.GET)
    return get_baseline_choice(request.user, run, request.GET) if is_chosen else BaselineChoice()
