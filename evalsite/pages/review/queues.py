"""The review queues of a team: create, watch, close and share out anew."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite import access
from evalsite.blind_review import blind_outputs_in_queue
from evalsite.pages.cases.table.baseline_choice import get_baseline_choice
from evalsite.pages.cases.table.case_table import PAGING, open_case_list
from evalsite.pages.review.disagreements import find_disagreements
from evalsite.pages.review.forms import PoolForm, QueueForm, ReassignForm
from evalsite.pages.web.decorators import form_page, get_page, post_action
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.review import queues
from scoring.engine.review.answer_counts import summarize_answers
from scoring.engine.review.disagreements import Disagreements
from scoring.engine.review.pairwise import find_results
from scoring.engine.review.pool import join_pool, leave_pool
from scoring.engine.review.queue_progress import QueueProgress
from scoring.models import Correction, ReviewQueue, Role
from scoring.models.case_list.filters import NO_FILTERS

MAX_CLOSED = 50  # closed queues


@get_page
def review(request: SignedInRequest, slug: str) -> HttpResponse:
    """The team's queues: those with open tasks of the person first, then others, then closed."""
    opened = access.team_access_for(request.user, slug)
    rows = opened.team.review_queues.select_related("run__output_set__version__dataset")
    listed = rows.visible_to(request.user).with_progress(request.user)
    open_queues = list(listed.open())
    context = {
        "team": opened.team,
        "own": [queue for queue in open_queues if queue.own_open],  # type: ignore[attr-defined]
        "others": [queue for queue in open_queues if not queue.own_open],  # type: ignore[attr-defined]
        "corrections": list(Correction.objects.count_open(opened.team)),
        "closed": list(listed.exclude(closed_at=None)[:MAX_CLOSED]),
        **opened.permissions,
    }
    return render_page(request, "review/list.html", context)


@form_page
def new_queue(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """A form for a new queue; the address carries the filters of the run's case table."""
    opened = access.run_access_for(request.user, uid, Role.REVIEWER)
    run = opened.run
    choice = get_baseline_choice(request.user, run, request.GET)
    scorers = list(run.scorers.select_related("version"))
    cases = open_case_list(opened, scorers, request.GET, choice)
    is_filtered = cases.form.is_valid()
    people = access.members_with_role(run.team, Role.REVIEWER)
    filters = cases.form.filters if is_filtered else NO_FILTERS
    blind = blind_outputs_in_queue(request.user, run, filters)
    form = QueueForm(
        request.POST or None,
        run=run,
        person=request.user,
        people=people if opened.permissions["may_edit"] else [request.user],
        filters=filters,
        query=_query(request) if is_filtered else "",
        blind=blind,
    )
    if form.is_valid() and (queue := form.save()):
        count = f"{queue.case_count:,} case{'s' if queue.case_count > 1 else ''}"
        messages.success(request, f"Queue created with {count}.")
        return redirect("review_queue", queue.uuid)
    context = {
        "team": run.team,
        "run": run,
        "form": form,
        "chips": cases.filter_chips() if is_filtered else (),
        "left_out": len(blind) if filters.tells_verdicts else 0,
    }
    return render_page(request, "review/new.html", context, status=422 if form.errors else 200)


@get_page
def queue(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """One queue with everybody's progress."""
    return _render_queue(request, access.review_queue_for(request.user, uid))


@post_action
def close(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Close a queue: its open tasks disappear from everybody's list."""
    found = access.review_queue_for(request.user, uid, Role.EDITOR)
    queues.close_queue(found, request.user)
    messages.success(request, "Queue closed. Reviews stay.")
    return redirect("review_queue", uid)


@post_action
def reopen(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Open a closed queue again."""
    found = access.review_queue_for(request.user, uid, Role.EDITOR)
    queues.reopen_queue(found, request.user)
    messages.success(request, "Queue reopened.")
    return redirect("review_queue", uid)


@post_action
def reassign_tasks(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Give the open tasks of one reviewer to another, or those of a pool to other people."""
    found = access.review_queue_for(request.user, uid, Role.EDITOR)
    form = _form_for(found, QueueProgress(found), request.POST)
    if not form.is_valid():
        return _render_queue(request, found, form)
    messages.success(request, form.save(request.user))
    return redirect("review_queue", uid)


@post_action
def join_queue(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Become one of the people who take cases of a pool."""
    found = access.review_queue_for(request.user, uid, Role.REVIEWER)
    if found.is_pooled and found.is_open:
        join_pool(found, request.user)
        messages.success(request, "You are one of its reviewers now.")
    return redirect("review_queue", uid)


@post_action
def leave_queue(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Take no more cases of a pool; the one that the person holds is free again."""
    found = access.review_queue_for(request.user, uid, Role.REVIEWER)
    if found.is_pooled:
        leave_pool(found, request.user)
        messages.success(request, "You get no more cases of this queue. Your reviews stay.")
    return redirect("review_queue", uid)


def _render_queue(
    request: SignedInRequest,
    found: ReviewQueue,
    form: ReassignForm | PoolForm | None = None,
) -> HttpResponse:
    progress = QueueProgress(found)
    disagreements = _disagreements(request, found)
    context: dict[str, Any] = {
        "team": found.team,
        "queue": found,
        "preferences": find_results(request.user, found.run, found.baseline),
        "exportable": _has_preferences(request, found),
        "progress": progress,
        "own": progress.of(request.user),
        "own_open": progress.open_for(request.user) if found.is_open else 0,
        "answers": lambda: summarize_answers(found),  # queried only where it is shown
        "is_in_pool": found.pool.contains(request.user),
        "form": form or _form_for(found, progress),
        "disagreements": disagreements,
        "in_adjudication": disagreements.count_open_in(found) if disagreements else 0,
        **access.permissions(request.user, found.team),
    }
    status = 422 if form and form.errors else 200
    return render_page(request, "review/queue.html", context, status=status)


def _disagreements(request: SignedInRequest, found: ReviewQueue) -> Disagreements | None:
    """Those on the run's outputs; a pairwise queue has no verdicts that could disagree."""
    if found.is_pairwise:
        return None
    return find_disagreements(access.run_access_for(request.user, found.run.uuid))


def _has_preferences(request: SignedInRequest, found: ReviewQueue) -> bool:
    """Whether the queue is pairwise and has preferences that the person may export."""
    return found.is_pairwise and access.exportable_preferences_of(request.user, found).exists()


def _form_for(
    found: ReviewQueue, progress: QueueProgress, data: Any = None
) -> ReassignForm | PoolForm:
    """Who does its open tasks from now on."""
    people = access.members_with_role(found.team, Role.REVIEWER)
    if found.is_pooled:
        return PoolForm(data, queue=found, people=people)
    busy = [each.reviewer for each in progress.reviewers if not each.is_done]
    return ReassignForm(data, queue=found, reviewers=busy, people=people)


def _query(request: SignedInRequest) -> str:
    """The filters in the address, without the order and the position."""
    left_out = {*PAGING, "sort", "order"}
    lists = request.GET.lists()
    return urlencode(
        [
            (name, value)
            for name, values in lists
            if name not in left_out
            for value in values
            if value
        ]
    )
