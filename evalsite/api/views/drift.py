"""A dataset's runs in time."""

from __future__ import annotations

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.problems import missing
from evalsite.api.serializers.drift import DriftQuery, DriftShape, told
from evalsite.api.views.base import ApiView
from scoring.engine.drift.asks import lines_for


class Drift(ApiView):
    """One drift line: the runs of a series as one scorer saw them."""

    serializer_class = DriftShape

    @extend_schema(parameters=[DriftQuery], responses=DriftShape)
    def get(self, request: Request) -> Response:
        """The runs in order of time, the limits of what is usual, and where the level changed."""
        query = DriftQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        asked = query.validated_data
        try:
            dataset = access.dataset_for(self.user, asked["dataset"])
        except Http404:
            raise missing("dataset") from None
        return Response(told(query.chosen(lines_for(dataset, self.user)), asked))
