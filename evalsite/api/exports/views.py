"""Whole lists as files: a run's results, a version's cases."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from evalsite import access
from evalsite.api.base import ApiView
from evalsite.api.exports.serializers import (
    ExportedCaseShape,
    ExportedResultShape,
    ExportQuery,
    ResultsExportQuery,
)
from evalsite.api.openapi.descriptions import describe
from evalsite.api.results.views import hidden_outputs, requested_change
from evalsite.downloads import stream_file
from scoring.engine.export import run_table, version_table
from scoring.models.case_list.table import CaseTable

ROW_COUNT = OpenApiParameter(
    "X-Row-Count",
    OpenApiTypes.INT,
    OpenApiParameter.HEADER,
    response=True,
    description="How many rows the file has when it is whole.",
)


def export_response(row: Any) -> dict[Any, Any]:
    """The answers of an export, for the schema."""
    return {
        (200, "application/json"): row(many=True),
        (200, "application/x-ndjson"): OpenApiTypes.STR,
        (200, "text/csv"): OpenApiTypes.STR,
    }


class ResultExport(ApiView):
    """The results of a run with their cases, as one file."""

    @describe(
        parameters=[ResultsExportQuery, ROW_COUNT], responses=export_response(ExportedResultShape)
    )
    def get(self, request: Request, uid: uuid.UUID) -> StreamingHttpResponse:
        """All of the run's results that pass, in the order asked for."""
        run = access.run_for(self.user, uid)
        query = self.parse_query(request, ResultsExportQuery)
        asked = query.validated_data
        scorers = list(run.scorers.all())
        chosen = query.chosen(scorers, requested_change(self, run, query))
        hidden, unpaired = hidden_outputs(self, run, chosen[0])
        table = CaseTable(run, scorers, *chosen, hidden=hidden, unpaired=unpaired, masks=False)
        sheet = run_table(table)
        return stream_file(request, sheet, asked["format"], is_verbatim=asked["verbatim"])


class VersionExport(ApiView):
    """The cases of a dataset version, as one file."""

    @describe(parameters=[ExportQuery, ROW_COUNT], responses=export_response(ExportedCaseShape))
    def get(self, request: Request, uid: uuid.UUID, number: int) -> StreamingHttpResponse:
        """All cases in the version's order; sent or uploaded again, they are the same cases."""
        version = access.version_for(self.user, uid, number)
        asked = self.parse_query(request, ExportQuery).validated_data
        sheet = version_table(version)
        return stream_file(request, sheet, asked["format"], is_verbatim=asked["verbatim"])
