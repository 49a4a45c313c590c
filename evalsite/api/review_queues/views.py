"""Review queues: listed with everybody's progress, created and closed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.base import ApiView, ListView
from evalsite.api.errors import Problem, field_problem
from evalsite.api.fields import BodySerializer
from evalsite.api.idempotency import idempotent
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import QUEUE, request_example
from evalsite.api.results.serializers import ResultsQuery
from evalsite.api.results.views import requested_change
from evalsite.api.review_queues.serializers import (
    NewQueue,
    QueueCountsShape,
    QueueProgressShape,
    QueueShape,
    ReviewerProgressShape,
)
from evalsite.blind_review import blind_outputs_in_queue
from evalsite.downloads import left_out_header
from scoring.engine.review.disagreements import Disagreements
from scoring.engine.review.queue_progress import QueueProgress
from scoring.engine.review.queues import (
    QueueError,
    QueuePlan,
    close_queue,
    create_queue,
)
from scoring.models import QuestionSet, QueueOrder, ReviewQueue, Role, Run, Scope, User
from scoring.models.case_list.filters import NO_FILTERS, CaseFilters

#: The filters of results by the names that the address of the run's page has for them.
PAGE_NAMES: Final[Mapping[str, str]] = {"search": "q"}
_PAGED: Final = ("cursor", "page_size", "ordering")


class QueueList(ListView):
    """The team's review queues."""

    scope = Scope.REVIEW
    serializer_class = QueueShape

    def get_queryset(self) -> QuerySet[ReviewQueue]:
        return ReviewQueue.objects.filter(team=self.team()).select_related(
            "run", "baseline", "question_set"
        )

    @describe(
        request=NewQueue,
        responses={201: QueueProgressShape},
        examples=[request_example(QUEUE)],
    )
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Ask people to review a run's outputs; reviewers ask themselves, editors anybody.

        Filters that tell verdicts leave out the outputs that you are yet to review yourself.
        """
        wanted = self.parse_body(NewQueue)
        get_run = partial(access.run_for, role=Role.REVIEWER)
        run = self.look_up("run", wanted["run"], get_run)
        baseline = self._baseline(run, wanted)
        filters, query = self._filters(run, wanted.get("filters", {}))
        usual = f"{run.name} vs. {baseline.name}" if baseline else f"Review of {run.name}"
        usual_order = QueueOrder.RANDOM if baseline else QueueOrder.VALUE
        blind = blind_outputs_in_queue(self.user, run, filters)
        plan = QueuePlan(
            name=wanted.get("name") or usual[:120],
            reviewers=self._reviewers(run, wanted.get("reviewers")),
            case_count=wanted["cases"],
            order=QueueOrder(wanted.get("order", usual_order)),
            baseline=baseline,
            reviewers_per_case=wanted["reviewers_per_case"],
            is_pooled=wanted["is_pooled"],
            question_set=self._question_set(run, wanted["question_set"], baseline),
            due_on=wanted["due_on"],
            filters=filters,
            query=query,
            blind=blind,
        )
        try:
            queue = create_queue(run, plan, self.user)
        except QueueError as refused:
            raise Problem(422, "no_queue", str(refused)) from None
        headers = left_out_header(len(blind) if filters.tells_verdicts else 0)
        return Response(_body(queue, self.user), 201, headers=headers)

    def _baseline(self, run: Run, wanted: dict[str, Any]) -> Run | None:
        """The other run of a pairwise queue. Raises a problem where the two make no pairs."""
        if wanted.get("baseline") is None:
            return None
        baseline = self.look_up("baseline", wanted["baseline"], access.run_for)
        sets = run.output_set, baseline.output_set
        if sets[0].version.dataset_id != sets[1].version.dataset_id or sets[0] == sets[1]:
            text = "Name a run of the same dataset with other outputs."
            raise field_problem(422, "baseline", "no_pairs", text)
        text = "Pairs are drawn at random from the whole run."
        if wanted.get("filters"):
            raise field_problem(422, "filters", "not_pairwise", text)
        if wanted.get("order") == QueueOrder.VALUE:
            raise field_problem(422, "order", "not_pairwise", text)
        return baseline

    def _question_set(self, run: Run, name: str | None, baseline: Run | None) -> QuestionSet | None:
        """The newest version of the questions of this name. Raises a problem without any."""
        if name is None:
            return None
        if baseline is not None:
            text = "Pairs are compared without questions."
            raise field_problem(422, "question_set", "not_pairwise", text)
        found = QuestionSet.objects.newest(run.team).filter(name=name).first()
        if found is None:
            text = "The team has no questions of this name."
            raise field_problem(422, "question_set", "unknown_questions", text)
        return found

    def _reviewers(self, run: Run, emails: Sequence[str] | None) -> list[User]:
        """The members of these addresses. Raises a problem for one who may not review."""
        if emails is None:
            return [self.user]
        members = {
            member.email.casefold(): member
            for member in access.members_with_role(run.team, Role.REVIEWER)
        }
        chosen: dict[int, User] = {}
        for number, email in enumerate(emails):
            member = members.get(email.casefold())
            if member is None:
                text = "No member of the team who may review has this address."
                raise field_problem(422, f"reviewers[{number}]", "unknown_member", text)
            chosen[member.pk] = member
        others = [member for member in chosen.values() if member != self.user]
        if others and not access.has_role(self.user, run.team, Role.EDITOR):
            raise field_problem(403, "reviewers", "permission_denied", "Only editors ask others.")
        return list(chosen.values())

    def _filters(self, run: Run, sent: dict[str, Any]) -> tuple[CaseFilters, str]:
        """The filters, and the query by which the run's page shows them."""
        if not sent:
            return NO_FILTERS, ""
        query = ResultsQuery(data=sent)
        query.is_valid(raise_exception=True)
        filters, _ = query.chosen(list(run.scorers.all()), requested_change(self, run, query))
        asked = query.validated_data
        named = [(PAGE_NAMES.get(name, name), asked[name]) for name in sent if name not in _PAGED]
        return filters, urlencode([(name, _page_value(name, value)) for name, value in named])


class QueueDetail(ApiView):
    """One review queue."""

    serializer_class = QueueProgressShape

    def get(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """The queue with the progress of each reviewer."""
        return Response(_body(access.review_queue_for(self.user, uid), self.user))


class QueueClosing(ApiView):
    """The end of a queue."""

    scope = Scope.REVIEW
    serializer_class = QueueProgressShape

    @describe(request=None, responses=QueueProgressShape)
    @idempotent
    def post(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Take its open tasks off everybody's list; editors may. Reviews stay."""
        queue = access.review_queue_for(self.user, uid, Role.EDITOR)
        self.parse_body(BodySerializer)
        close_queue(queue, self.user)
        return Response(_body(queue, self.user))


def _page_value(name: str, value: Any) -> str:
    if name == "reviewed":
        return "yes" if value else "no"
    return "on" if value is True else "" if value is False else str(value)


def _body(queue: ReviewQueue, user: User) -> dict[str, Any]:
    progress = QueueProgress(queue)
    opened = access.run_access_for(user, queue.run.uuid)
    disagreements = Disagreements(opened.run, user, opened.role)
    return {
        **QueueShape(queue).data,
        "counts": QueueCountsShape(progress.counts).data,
        "in_adjudication": disagreements.count_open_in(queue),
        "progress": ReviewerProgressShape(progress.reviewers, many=True).data,
    }
