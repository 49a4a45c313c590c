"""What people say of the outputs of a run: reviews and comments."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.access import RunAccess
from evalsite.api.base import ListView
from evalsite.api.errors import Problem, missing_problem
from evalsite.api.feedback.serializers import (
    AdjudicationShape,
    CommentShape,
    FeedbackQuery,
    NewAdjudication,
    NewComment,
    NewFeedback,
    NewReview,
    ReviewShape,
)
from evalsite.api.idempotency import idempotent
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import ADJUDICATION, COMMENT, REVIEW, request_example
from evalsite.api.pagination import NewestFirst
from evalsite.blind_review import blind_outputs
from scoring.engine.review.disagreements import Disagreements, adjudicate
from scoring.engine.review.feedback import add_comment, give_review
from scoring.models import Adjudication, Output, ReviewVerdict, Role, Run, Scope
from scoring.models.reviews.adjudication import AdjudicationError, StaleAdjudicationError


class FeedbackPages(NewestFirst):
    query = FeedbackQuery


class FeedbackList(ListView):
    """Feedback on a run's outputs. The address names the run, and with it the team."""

    scope = Scope.REVIEW
    asks_team = False
    pagination_class = FeedbackPages

    def feedback_on(self, opened: RunAccess) -> QuerySet[Any]:
        raise NotImplementedError

    def get_queryset(self) -> QuerySet[Any]:
        query = self.parse_query(self.request, FeedbackQuery).validated_data
        feedback = self.feedback_on(self.look_up("run", query["run"], access.run_access_for))
        if "key" in query:
            feedback = feedback.filter(output__case__key=query["key"])
        return feedback.select_related("output__case")

    def sent_to(self, body: type[NewFeedback]) -> tuple[Run, Output, dict[str, Any]]:
        """The run and the output that the body names, and the body."""
        wanted = self.parse_body(body)
        run = self.look_up("run", wanted["run"], partial(access.run_for, role=Role.REVIEWER))
        try:
            output = access.output_of_case(run, wanted["key"], wanted["trial"])
        except Http404:
            raise missing_problem("key") from None
        return run, output, wanted


class ReviewList(FeedbackList):
    """People's verdicts on the outputs of a run."""

    serializer_class = ReviewShape

    def feedback_on(self, opened: RunAccess) -> QuerySet[Any]:
        return access.reviews_of_run(opened).select_related("reviewer")

    @describe(parameters=[FeedbackQuery])
    def get(self, request: Request, **_: Any) -> Response:
        """The newest first. Who reviews sees what others said after the own verdict."""
        return self.list(request)

    @describe(request=NewReview, responses=ReviewShape, examples=[request_example(REVIEW)])
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Give your verdict on an output, in place of the one you gave before."""
        run, output, wanted = self.sent_to(NewReview)
        verdict = ReviewVerdict[wanted["verdict"].upper()]
        review = give_review(run, output, verdict, by=self.user, note=wanted["note"])
        return Response(ReviewShape(review).data)


class AdjudicationList(FeedbackList):
    """The final verdicts on outputs whose reviewers disagreed."""

    serializer_class = AdjudicationShape

    def feedback_on(self, opened: RunAccess) -> QuerySet[Any]:
        decided = Disagreements(opened.run, opened.user, opened.role).decided
        rows = Adjudication.objects.filter(output__in=[each.output for each in decided])
        return rows.select_related("decided_by")

    @describe(parameters=[FeedbackQuery])
    def get(self, request: Request, **_: Any) -> Response:
        """The newest first. Who is still asked to review an output does not see its verdict."""
        return self.list(request)

    @describe(
        request=NewAdjudication,
        responses=AdjudicationShape,
        examples=[request_example(ADJUDICATION)],
    )
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Decide on an output that reviewers pass and fail; none of them may.

        404 while you are asked to review it yourself; 409 where they agree, where you are one of
        them, and where somebody decided meanwhile.
        """
        run, output, wanted = self.sent_to(NewAdjudication)
        if output.pk in blind_outputs(self.user, run):
            raise missing_problem("key")
        verdict = ReviewVerdict[wanted["verdict"].upper()]
        fields = {"note": wanted["note"], "seen": wanted["seen"]}
        try:
            decided = adjudicate(run, output, verdict, by=self.user, **fields)
        except StaleAdjudicationError as stale:
            uid = stale.current.uuid if stale.current else None
            raise Problem(409, "adjudicated_meanwhile", str(stale), object_id=uid) from None
        except AdjudicationError as refused:
            raise Problem(409, "not_adjudicable", str(refused)) from None
        return Response(AdjudicationShape(decided).data)


class CommentList(FeedbackList):
    """Comments on the outputs of a run."""

    serializer_class = CommentShape

    def feedback_on(self, opened: RunAccess) -> QuerySet[Any]:
        return access.comments_of_run(opened).select_related("author")

    @describe(parameters=[FeedbackQuery])
    def get(self, request: Request, **_: Any) -> Response:
        """The newest first."""
        return self.list(request)

    @describe(
        request=NewComment, responses={201: CommentShape}, examples=[request_example(COMMENT)]
    )
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Write under an output."""
        run, output, wanted = self.sent_to(NewComment)
        comment = add_comment(run, output, wanted["text"], by=self.user)
        return Response(CommentShape(comment).data, 201)
