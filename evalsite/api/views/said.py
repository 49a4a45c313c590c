"""What people say of the outputs of a run: reviews and comments."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.described import described
from evalsite.api.examples import COMMENT, REVIEW, sent
from evalsite.api.idempotency import idempotent
from evalsite.api.paging import NewestFirst
from evalsite.api.problems import missing
from evalsite.api.serializers.said import (
    CommentShape,
    NewComment,
    NewReview,
    NewSaid,
    ReviewShape,
    SaidQuery,
)
from evalsite.api.views.base import ListView
from scoring.models import Comment, Output, Review, ReviewVerdict, Role, Run


class SaidPages(NewestFirst):
    query = SaidQuery


class SaidList(ListView):
    """What was said of a run's outputs. The address names the run, and with it the team."""

    asks_team = False
    pagination_class = SaidPages

    def said_of(self, run: Run) -> QuerySet[Any]:
        raise NotImplementedError

    def get_queryset(self) -> QuerySet[Any]:
        asked = self.asked(self.request, SaidQuery).validated_data
        found = self.said_of(self.named("run", asked["run"], access.run_for))
        if "key" in asked:
            found = found.filter(output__case__key=asked["key"])
        return found.select_related("output__case")

    def sent_to(self, body: type[NewSaid]) -> tuple[Run, Output, dict[str, Any]]:
        """The run and the output that the body names, and the body."""
        wanted = self.read(body)
        run = self.named("run", wanted["run"], partial(access.run_for, role=Role.REVIEWER))
        try:
            output = access.output_of_case(run, wanted["key"], wanted["trial"])
        except Http404:
            raise missing("key") from None
        return run, output, wanted


class ReviewList(SaidList):
    """People's verdicts on the outputs of a run."""

    serializer_class = ReviewShape

    def said_of(self, run: Run) -> QuerySet[Any]:
        return access.reviews_of_run(self.user, run).select_related("reviewer")

    @described(parameters=[SaidQuery])
    def get(self, request: Request) -> Response:
        """The newest first. Who reviews sees what others said after the own verdict."""
        return self.list(request)

    @described(request=NewReview, responses=ReviewShape, examples=[sent(REVIEW)])
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Give your verdict on an output, in place of the one you gave before."""
        run, output, wanted = self.sent_to(NewReview)
        verdict = next(each for each in ReviewVerdict if each.code == wanted["verdict"])
        review = Review.objects.say(run, output, verdict, by=self.user, note=wanted["note"])
        return Response(ReviewShape(review).data)


class CommentList(SaidList):
    """Comments on the outputs of a run."""

    serializer_class = CommentShape

    def said_of(self, run: Run) -> QuerySet[Any]:
        return Comment.objects.of_run(run).select_related("author")

    @described(parameters=[SaidQuery])
    def get(self, request: Request) -> Response:
        """The newest first."""
        return self.list(request)

    @described(request=NewComment, responses={201: CommentShape}, examples=[sent(COMMENT)])
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Write under an output."""
        run, output, wanted = self.sent_to(NewComment)
        comment = Comment.objects.add(run, output, wanted["text"], by=self.user)
        return Response(CommentShape(comment).data, 201)
