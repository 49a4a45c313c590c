"""A dataset's runs in time."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.described import described
from evalsite.api.serializers.drift import DriftQuery, DriftShape, told
from evalsite.api.views.base import ApiView
from scoring.engine.drift.asks import lines_for


class Drift(ApiView):
    """One drift line: the runs of a series as one scorer saw them."""

    serializer_class = DriftShape

    @described(parameters=[DriftQuery], responses=DriftShape)
    def get(self, request: Request) -> Response:
        """The runs in order of time, the limits of what is usual, and where the level changed."""
        query = self.asked(request, DriftQuery)
        asked = query.validated_data
        dataset = self.named("dataset", asked["dataset"], access.dataset_for)
        return Response(told(query.chosen(lines_for(dataset, self.user)), asked))
