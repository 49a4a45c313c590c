"""A person's own tasks of a review queue: listed, read and done."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.access import TaskAccess
from evalsite.api.base import ApiView, ListView
from evalsite.api.errors import Problem, field_problem
from evalsite.api.fields import BodySerializer
from evalsite.api.idempotency import idempotent
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import CHOICE, request_example
from evalsite.api.pagination import NewestFirst
from evalsite.api.review_queues.serializers import NewAnswer, OpenedTaskShape, TaskShape
from scoring.core.questions import AnswerError, Questions
from scoring.engine.review.feedback import give_review
from scoring.engine.review.pairwise import OutputPair, task_pair
from scoring.engine.review.queues import next_task
from scoring.models import FailureTag, Preference, Review, ReviewTask, ReviewVerdict, Role, Scope


class InTurn(NewestFirst):
    ordering = "position"


class TaskList(ListView):
    """The tasks that a queue has for you."""

    asks_team = False
    serializer_class = TaskShape
    pagination_class = InTurn

    def get_queryset(self) -> QuerySet[ReviewTask]:
        queue = access.review_queue_for(self.user, self.kwargs["uid"], Role.REVIEWER)
        return queue.tasks.filter(reviewer=self.user).select_related("output__case")

    def get(self, request: Request, **_: Any) -> Response:
        """Yours alone, in their order, done ones too; of a pool those that you took."""
        return self.list(request)


class NextTask(ApiView):
    """The task that is your turn."""

    scope = Scope.REVIEW
    serializer_class = OpenedTaskShape

    @describe(request=None, responses=OpenedTaskShape)
    def post(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """The next one of yours; of a pool the one you hold, else one that is reserved for you now.

        404 `nothing_to_review` where none is open for you, or all others are reserved.
        """
        self.parse_body(BodySerializer)
        queue = access.review_queue_for(self.user, uid, Role.REVIEWER)
        task = next_task(queue, self.user) if queue.is_open else None
        if task is None:
            raise Problem(404, "nothing_to_review", "No case is open for you now.")
        return Response(_body(access.review_task_for(self.user, uid, task.position)))


class TaskDetail(ApiView):
    """One of your tasks."""

    scope = Scope.REVIEW
    serializer_class = OpenedTaskShape

    def get(self, request: Request, uid: uuid.UUID, number: int) -> Response:  # noqa: ARG002
        """The case with its output, or with both outputs of a pair, without names.

        One of a pool is reserved for you from this moment on.
        """
        return Response(_body(access.review_task_for(self.user, uid, number)))

    @describe(request=NewAnswer, responses=OpenedTaskShape, examples=[request_example(CHOICE)])
    @idempotent
    def post(self, request: Request, uid: uuid.UUID, number: int) -> Response:  # noqa: ARG002
        """Give your `verdict`, of a pair your `choice`, in place of an earlier one."""
        opened = access.review_task_for(self.user, uid, number)
        wanted = self.parse_body(NewAnswer)
        field, other = ("choice", "verdict") if opened.queue.is_pairwise else ("verdict", "choice")
        if field not in wanted:
            raise field_problem(422, field, "required", "This queue asks for it.")
        if other in wanted:
            raise field_problem(422, other, "not_asked", f"This queue asks for a {field}.")
        if opened.queue.is_pairwise:
            _prefer(opened, wanted)
        else:
            _give_verdict(opened, wanted)
        return Response(_body(access.review_task_for(self.user, uid, number)))


def _give_verdict(opened: TaskAccess, wanted: dict[str, Any]) -> None:
    """Keep the verdict with what goes with it. Raises a problem for a wrong or missing answer."""
    asked, answers = opened.queue.question_set, wanted.get("answers", {})
    try:
        read = (asked.questions if asked else Questions(())).read(answers)
    except AnswerError as error:
        raise field_problem(
            422, f"answers.{error.question}", "invalid_answer", error.text
        ) from None
    tags = wanted.get("failure_tags")
    with transaction.atomic():
        if tags is not None:
            team, by = opened.run.team, opened.user
            tags = [FailureTag.objects.obtain(team, name, by=by).name for name in tags]
        give_review(
            opened.run,
            opened.output,
            ReviewVerdict[wanted["verdict"].upper()],
            by=opened.user,
            note=wanted["note"],
            failure_tags=tags,
            answers={asked.label: read} if asked else None,
        )


def _prefer(opened: TaskAccess, wanted: dict[str, Any]) -> None:
    pair = _pair(opened)
    Preference.objects.prefer(
        opened.run,
        (pair.candidate, pair.baseline),
        pair.verdict_of(wanted["choice"]),
        by=opened.user,
        note=wanted["note"],
        is_swapped=pair.is_swapped,
    )


def _pair(opened: TaskAccess) -> OutputPair:
    pair = task_pair(opened.queue, opened.task)
    if pair is None:
        raise Http404
    return pair


def _body(opened: TaskAccess) -> dict[str, Any]:
    case = opened.output.case
    shown: dict[str, Any] = {
        **TaskShape(opened.task).data,
        "input": case.input,
        "expected": case.expected,
    }
    if opened.queue.is_pairwise:
        pair = _pair(opened)
        given = Preference.objects.filter(
            candidate=pair.candidate, baseline=pair.baseline, reviewer=opened.user
        ).first()
        choice = pair.choice_of(given.verdict) if given else None
        outputs = {"left": pair.left.value, "right": pair.right.value}
        return shown | outputs | {"choice": choice, "note": given.note if given else ""}
    review = Review.objects.filter(output=opened.output, reviewer=opened.user).first()
    asked = opened.queue.question_set
    return shown | {
        "output": opened.output.value,
        "verdict": review.code if review else None,
        "note": review.note if review else "",
        "failure_tags": review.failure_tags if review else [],
        "questions": asked.content if asked else [],
        "answers": review.answers.get(asked.label, {}) if review and asked else {},
    }
