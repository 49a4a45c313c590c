"""The reviews of a run, many at a time: out as a file, and in as a list."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.base import ApiView
from evalsite.api.exports.serializers import ExportQuery
from evalsite.api.exports.views import ROW_COUNT, export_response
from evalsite.api.feedback.serializers import (
    ExportedReviewShape,
    ImportedReviewsShape,
    NewReviews,
)
from evalsite.api.idempotency import idempotent
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import REVIEWS, request_example
from evalsite.blind_review import blind_outputs
from evalsite.downloads import stream_file
from scoring.engine.review.review_export import review_sheet
from scoring.engine.review.review_import import NamedReview, ReviewReport, import_reviews
from scoring.models import Role, Scope


class RunReviews(ApiView):
    """All reviews of a run's outputs."""

    scope = Scope.REVIEW

    @describe(parameters=[ExportQuery, ROW_COUNT], responses=export_response(ExportedReviewShape))
    def get(self, request: Request, uid: uuid.UUID) -> StreamingHttpResponse:
        """One file, by cases and trials; reviewers get what they may see, see `reviews/`."""
        opened = access.run_access_for(self.user, uid)
        asked = self.parse_query(request, ExportQuery).validated_data
        sheet = review_sheet(opened.run, access.exportable_reviews_of_run(opened))
        return stream_file(request, sheet, asked["format"], is_verbatim=asked["verbatim"])

    @describe(
        request=NewReviews, responses=ImportedReviewsShape, examples=[request_example(REVIEWS)]
    )
    @idempotent
    def post(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Add up to 10,000 reviews, all of them or none, in place of those imported before."""
        run = access.run_for(self.user, uid, Role.EDITOR)
        wanted = self.parse_body(NewReviews)
        blind = blind_outputs(self.user, run)
        report = import_reviews(run, wanted["reviews"], by=self.user, blind=blind)
        return Response(_body(report))


def _body(report: ReviewReport) -> dict[str, Any]:
    return {
        **report.counts,
        "kept_reviews": [_listed(review) for review in report.kept],
        "unmatched_reviews": [_listed(review) for review in report.unmatched],
    }


def _listed(review: NamedReview) -> dict[str, Any]:
    return {"key": review.key, "trial": review.trial, "reviewer": review.reviewer}
