"""Whole lists as files: a run's results, a version's cases."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from evalsite import access
from evalsite.api.described import described
from evalsite.api.serializers.exports import (
    ExportedCaseShape,
    ExportedResultShape,
    ExportQuery,
    ResultsExportQuery,
)
from evalsite.api.views.base import ApiView
from evalsite.api.views.results import change_of
from evalsite.downloads import download
from scoring.engine.export import run_sheet, version_sheet
from scoring.models.case_table import CaseTable

ROW_COUNT = OpenApiParameter(
    "X-Row-Count",
    OpenApiTypes.INT,
    OpenApiParameter.HEADER,
    response=True,
    description="How many rows the file has when it is whole.",
)


def file_of(row: Any) -> dict[Any, Any]:
    """The answers of an export, for the schema."""
    return {
        (200, "application/json"): row(many=True),
        (200, "application/x-ndjson"): OpenApiTypes.STR,
        (200, "text/csv"): OpenApiTypes.STR,
    }


class ResultExport(ApiView):
    """The results of a run with their cases, as one file."""

    @described(parameters=[ResultsExportQuery, ROW_COUNT], responses=file_of(ExportedResultShape))
    def get(self, request: Request, uid: uuid.UUID) -> StreamingHttpResponse:
        """All of the run's results that pass, in the order asked for."""
        run = access.run_for(self.user, uid)
        query = self.asked(request, ResultsExportQuery)
        asked = query.validated_data
        scorers = list(run.scorers.all())
        chosen = query.chosen(scorers, change_of(self, run, query))
        sheet = run_sheet(CaseTable(run, scorers, *chosen))
        return download(request, sheet, asked["format"], is_verbatim=asked["verbatim"])


class VersionExport(ApiView):
    """The cases of a dataset version, as one file."""

    @described(parameters=[ExportQuery, ROW_COUNT], responses=file_of(ExportedCaseShape))
    def get(self, request: Request, uid: uuid.UUID, number: int) -> StreamingHttpResponse:
        """All cases in the version's order; sent or uploaded again, they are the same cases."""
        version = access.version_for(self.user, uid, number)
        asked = self.asked(request, ExportQuery).validated_data
        sheet = version_sheet(version)
        return download(request, sheet, asked["format"], is_verbatim=asked["verbatim"])
