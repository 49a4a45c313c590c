"""A dataset's runs in time."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.base import ApiView
from evalsite.api.drift.serializers import DriftQuery, DriftShape, drift_body
from evalsite.api.openapi.descriptions import describe
from scoring.engine.drift.jobs import lines_or_enqueue


class Drift(ApiView):
    """One drift line: the runs of a series as one scorer saw them."""

    serializer_class = DriftShape

    @describe(parameters=[DriftQuery], responses=DriftShape)
    def get(self, request: Request) -> Response:
        """The runs in order of time, the limits of what is usual, and where the level changed."""
        query = self.parse_query(request, DriftQuery)
        asked = query.validated_data
        dataset = self.look_up("dataset", asked["dataset"], access.dataset_for)
        return Response(drift_body(query.chosen(lines_or_enqueue(dataset, self.user)), asked))
