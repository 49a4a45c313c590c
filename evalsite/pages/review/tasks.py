"""The page on which people review: one case at a time, and the next one at once.

Verdicts of scorers and of other people are not shown here.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Final

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.access import TaskAccess
from evalsite.pages.cases.case_view import CaseView
from evalsite.pages.cases.compared_texts import TextOptions
from evalsite.pages.cases.correction_form import folded_form
from evalsite.pages.cases.texts.row_limits import get_row_limits
from evalsite.pages.cases.thread import VerdictChoice
from evalsite.pages.review.forms import TaskForm
from evalsite.pages.review.pairwise import compare_pair, undo_preference
from evalsite.pages.web.decorators import form_page, get_page, post_action
from evalsite.pages.web.responses import SignedInRequest, render_page, text_response
from evalsite.pages.web.undo import add_undo_message
from scoring.engine.review import queues
from scoring.engine.review.feedback import give_review
from scoring.engine.review.queue_progress import QueueProgress, own_progress
from scoring.models import FailureTag, Review, ReviewVerdict, Role
from scoring.models.reviews.review import StaleReviewError

UNDONE: Final = "undone_review"  # in the session: what went with the verdict just undone
REPLACED: Final = "replaced_review"  # in the session: the verdict that the last one replaced


@get_page
def next_case(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """To the person's next open task, or to the queue when all are done."""
    queue = access.review_queue_for(request.user, uid, Role.REVIEWER)
    task = queues.next_task(queue, request.user) if queue.is_open else None
    if not queue.is_open:
        messages.info(request, "This queue is closed. Reviews stay.")
    elif task is None and (waiting := QueueProgress(queue).open_for(request.user)):
        text = f"No case is free now: others are reviewing {waiting:,} that you have not reviewed."
        messages.info(request, text)
    return redirect("review_task", uid, task.position) if task else redirect("review_queue", uid)


@form_page
def review_task(request: SignedInRequest, uid: uuid.UUID, number: int) -> HttpResponse:
    """One case to review; a verdict leads to the next one."""
    opened = access.review_task_for(request.user, uid, number)
    if opened.queue.is_pairwise:
        return compare_pair(request, opened)
    if name := request.GET.get("whole"):
        return text_response(_view_case(request, opened).texts.whole.get(name))
    if request.method != "POST":
        return _render_task(request, opened)
    form = _task_form(request, opened, request.POST)
    if not form.is_valid():
        messages.error(request, form.fault)
        return _render_task(request, opened, {"sent": request.POST, "form": form}, status=422)
    try:
        _save(request, opened, form)
    except StaleReviewError as stale:
        context = {"stale": stale, "sent": form.cleaned_data, "sent_verdict": form.chosen_verdict}
        return _render_task(request, opened, {**context, "form": form}, status=409)
    return redirect("next_review", uid)


@post_action
def skip_task(request: SignedInRequest, uid: uuid.UUID, number: int) -> HttpResponse:
    """Put the case behind the person's other open ones; a pair without its other output is done."""
    opened = access.review_task_for(request.user, uid, number)
    comes_again = queues.skip(opened.task)
    then = "comes up again at the end" if comes_again else "is removed from your queue"
    messages.info(request, f"{opened.output.case.key} {then}.")
    return redirect("next_review", uid)


@post_action
def undo_task(request: SignedInRequest, uid: uuid.UUID, number: int) -> HttpResponse:
    """Take back the verdict just given and show its case again, with what went with it.

    The verdict that it replaced, if any, holds again.
    """
    opened = access.review_task_for(request.user, uid, number)
    if opened.queue.is_pairwise:
        return undo_preference(request, opened)
    review, key = _own_review(opened), opened.output.case.key
    replaced = request.session.pop(REPLACED, {})
    if review and replaced.get("task") == opened.key:
        verdict = ReviewVerdict(replaced["verdict"])
        give_review(opened.run, opened.output, verdict, by=request.user, **replaced["more"])
        messages.info(request, f"The verdict on {key} is {verdict.label} again.")
    elif Review.objects.withdraw(opened.run, opened.output, by=request.user):
        messages.info(request, f"The verdict on {key} is cleared.")
    if review:
        request.session[UNDONE] = _more_of(review) | {"task": opened.key}
    return redirect("review_task", uid, number)


def _save(request: SignedInRequest, opened: TaskAccess, form: TaskForm) -> None:
    """Keep the verdict, and offer to undo it. Raises StaleReviewError."""
    replaced, asked = _own_review(opened), opened.queue.question_set
    with transaction.atomic():
        give_review(
            opened.run,
            opened.output,
            form.chosen_verdict,
            by=request.user,
            note=form.cleaned_data["note"],
            failure_tags=form.save_tags(request.user),
            answers={asked.label: form.answers} if asked else None,
            seen=form.cleaned_data["seen"],
        )
    request.session[REPLACED] = (
        {"task": opened.key, "verdict": replaced.verdict, "more": _more_of(replaced)}
        if replaced
        else {}
    )
    path = reverse("undo_review_task", args=[opened.queue.uuid, opened.task.position])
    add_undo_message(request, f"{opened.output.case.key}: {form.chosen_verdict.label}.", path)


def _render_task(
    request: SignedInRequest,
    opened: TaskAccess,
    more: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    view = _view_case(request, opened)
    review = _own_review(opened)
    undone = _undone(request, opened)
    context: dict[str, Any] = {
        "team": opened.run.team,
        "run": opened.run,
        "queue": opened.queue,
        "task": opened.task,
        "view": view,
        "own": view.texts.own,
        "review": review,
        "correction_form": folded_form(opened.output.case),
        "sent": undone,
        "form": _task_form(request, opened),
        "choices": [
            VerdictChoice(verdict, key, review is not None and review.verdict == verdict)
            for key, verdict in enumerate(ReviewVerdict, start=1)
        ],
        "progress": own_progress(opened.queue, request.user),
        **(more or {}),
    }
    context["ticked"] = ticked = _ticked_tags(context["sent"], review)
    context["failure_tags"] = tags = list(FailureTag.objects.filter(team=opened.run.team))
    names = {tag.name for tag in tags}
    tags += [FailureTag(name=name) for name in ticked if name not in names]  # removed or imported
    return render_page(request, "review/task.html", context, status=status)


def _own_review(opened: TaskAccess) -> Review | None:
    return Review.objects.filter(output=opened.output, reviewer=opened.user).first()


def _more_of(review: Review) -> dict[str, Any]:
    """What goes with a verdict, as `give_review` takes it."""
    return {
        "note": review.note,
        "failure_tags": review.failure_tags,
        "answers": review.answers,
    }


def _task_form(
    request: SignedInRequest, opened: TaskAccess, sent: QueryDict | None = None
) -> TaskForm:
    """The form, with what was answered before."""
    review, undone, asked = (
        _own_review(opened),
        _undone(request, opened),
        opened.queue.question_set,
    )
    form = TaskForm(
        sent,
        team=opened.run.team,
        kept_tags=_ticked_tags(undone, review),
        questions=asked.questions if asked else None,
    )
    if asked:
        answers = undone["answers"] if undone else review.answers if review else {}
        form.initial_answers(answers.get(asked.label, {}))
    return form


def _undone(request: SignedInRequest, opened: TaskAccess) -> dict[str, Any] | None:
    """What went with the person's verdict on this case, if it was the last one undone."""
    undone = request.session.get(UNDONE, {})
    return undone if undone.get("task") == opened.key else None


def _ticked_tags(sent: Any, review: Review | None) -> Sequence[str]:
    """The failure tags that were just sent, else those of the review."""
    if sent:
        return sent.getlist("failure_tags") if isinstance(sent, QueryDict) else sent["failure_tags"]
    return review.failure_tags if review else ()


def _view_case(request: SignedInRequest, opened: TaskAccess) -> CaseView:
    options = TextOptions(request.GET.get("diff", ""))
    limits = get_row_limits(request.GET)
    return CaseView(opened.run, opened.output, None, options, limits, has_whole_history=False)
