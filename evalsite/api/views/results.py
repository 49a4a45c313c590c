"""The results of a run, filtered, sorted and in pages."""

from __future__ import annotations

import json
import uuid
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.described import described
from evalsite.api.paging import beginning, placed_page
from evalsite.api.problems import Fault, of_faults
from evalsite.api.serializers.results import OutcomesShape, ResultsQuery
from evalsite.api.views.base import ApiView
from evalsite.api.views.compare import not_comparable, unusable
from scoring.engine.compare import NotComparableError, check
from scoring.engine.gates import baseline_of
from scoring.models import Run, RunScorer, Score
from scoring.models.case_changes import Change
from scoring.models.case_table import CaseRow, CaseTable
from scoring.models.pair_rows import PairKind


class ResultList(ApiView):
    """What each scorer said of each output."""

    serializer_class = OutcomesShape

    @described(parameters=[ResultsQuery], responses=OutcomesShape)
    def get(self, request: Request, uid: uuid.UUID) -> Response:
        """A page of the run's results."""
        run = access.run_for(self.user, uid)
        query = self.asked(request, ResultsQuery)
        asked = query.validated_data
        scorers = list(run.scorers.all())
        chosen = query.chosen(scorers, change_of(self, run, query))
        table = CaseTable(run, scorers, *chosen, is_whole=True)
        page = table.page(**beginning(asked.get("cursor")), size=asked["page_size"])
        shown = [_shown(row, scorers) for row in page.rows]
        return Response(placed_page(request, page, shown))


def change_of(view: ApiView, run: Run, query: ResultsQuery) -> Change | None:
    """The change that is asked for. Raises the problem where there is no run to tell it from."""
    kind, named = (query.validated_data.get(name) for name in ("change", "baseline"))
    if kind is None:
        return None
    baseline = view.named("baseline", named, access.run_for) if named else baseline_of(run)
    if baseline is None:
        text = "The series has no earlier run to tell a change from: name a baseline."
        raise of_faults(422, [Fault("change", "baseline_required", text)])
    if baseline == run:
        raise unusable("baseline", "same_run", "The run is the baseline: name another one.")
    try:
        check(baseline, run)
    except NotComparableError as fault:
        raise not_comparable(fault, "baseline") from None
    return Change(PairKind(kind), baseline)


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
