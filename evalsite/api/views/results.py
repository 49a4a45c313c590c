"""The results of a run, filtered, sorted and in pages."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from evalsite import access
from evalsite.api.paging import bad_cursor
from evalsite.api.serializers.results import OutcomesShape, ResultsQuery
from evalsite.api.views.base import ApiView
from scoring.models import RunScorer, Score
from scoring.models.case_table import CaseRow, CaseTable, Place

_CURSOR = re.compile(r"(after|before)-(\d{1,9})\.(\d{1,5})", re.ASCII)


class ResultList(ApiView):
    """What each scorer said of each output."""

    serializer_class = OutcomesShape

    @extend_schema(parameters=[ResultsQuery], responses=OutcomesShape)
    def get(self, request: Request, uid: uuid.UUID) -> Response:
        """A page of the run's results."""
        run = access.run_for(self.user, uid)
        query = ResultsQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        asked = query.validated_data
        scorers = list(run.scorers.all())
        table = CaseTable(run, scorers, *query.chosen(scorers), is_whole=True)
        page = table.page(**_beginning(asked.get("cursor")), size=asked["page_size"])
        rows = page.rows
        following = self._address("after", rows[-1].place) if page.has_next and rows else None
        before = self._address("before", rows[0].place) if page.has_previous and rows else None
        shown = [_shown(row, scorers) for row in rows]
        return Response({"next": following, "previous": before, "results": shown})

    def _address(self, side: str, place: Place) -> str:
        """The address of the page that lies after or before the place."""
        cursor = f"{side}-{place.position}.{place.trial}"
        return replace_query_param(self.request.build_absolute_uri(), "cursor", cursor)


def _beginning(cursor: str | None) -> dict[str, Place]:
    if cursor is None:
        return {}
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise bad_cursor()
    side, position, trial = found.groups()
    return {side: Place(int(position), int(trial))}


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
