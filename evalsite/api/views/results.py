"""The results of a run, filtered, sorted and in pages."""

from __future__ import annotations

import json
import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.paging import beginning, placed_page
from evalsite.api.serializers.results import OutcomesShape, ResultsQuery
from evalsite.api.views.base import ApiView
from scoring.models import RunScorer, Score
from scoring.models.case_table import CaseRow, CaseTable


class ResultList(ApiView):
    """What each scorer said of each output."""

    serializer_class = OutcomesShape

    @extend_schema(parameters=[ResultsQuery], responses=OutcomesShape)
    def get(self, request: Request, uid: uuid.UUID) -> Response:
        """A page of the run's results."""
        run = access.run_for(self.user, uid)
        query = self.asked(request, ResultsQuery)
        asked = query.validated_data
        scorers = list(run.scorers.all())
        table = CaseTable(run, scorers, *query.chosen(scorers), is_whole=True)
        page = table.page(**beginning(asked.get("cursor")), size=asked["page_size"])
        shown = [_shown(row, scorers) for row in page.rows]
        return Response(placed_page(request, page, shown))


def _shown(row: CaseRow, scorers: list[RunScorer]) -> dict[str, Any]:
    scores = zip(scorers, row.scores, strict=True)
    return {
        "key": row.key,
        "trial": row.place.trial,
        "verdict": row.verdict,
        "output": json.loads(row.output) if row.is_json and row.output else row.output,
        "scores": [_shown_score(scorer, score) for scorer, score in scores if score],
    }


def _shown_score(scorer: RunScorer, score: Score) -> dict[str, Any]:
    return {"scorer": scorer.name, **score.result._asdict()}
