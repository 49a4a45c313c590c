"""The results of a run, filtered, sorted and in pages."""

from __future__ import annotations

import json
import uuid
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.base import ApiView
from evalsite.api.compare.views import not_comparable
from evalsite.api.errors import field_problem
from evalsite.api.openapi.descriptions import describe
from evalsite.api.pagination import PlacesQuery, page_body, parse_cursor
from evalsite.api.results.serializers import MissingsShape, OutcomesShape, ResultsQuery
from evalsite.blind_review import blind_outputs, blind_pairs
from evalsite.downloads import left_out_header
from scoring.engine.compare.comparison import NotComparableError, check_comparable
from scoring.engine.runs.neighbours import run_baseline
from scoring.models import Relabel, Run, RunScorer
from scoring.models.case_list.change_filter import ChangeFilter
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.table import CaseRow, CaseTable
from scoring.models.pairs.rows import PairKind
from scoring.models.runs.missing_outputs import missing_page
from scoring.models.runs.score import ScoreRow


class ResultList(ApiView):
    """What each scorer said of each output."""

    serializer_class = OutcomesShape

    @describe(parameters=[ResultsQuery], responses=OutcomesShape)
    def get(self, request: Request, uid: uuid.UUID) -> Response:
        """A page of the run's results."""
        run = access.run_for(self.user, uid)
        query = self.parse_query(request, ResultsQuery)
        asked = query.validated_data
        scorers = list(run.scorers.all())
        chosen = query.chosen(scorers, requested_change(self, run, query))
        hidden, unpaired = hidden_outputs(self, run, chosen[0])
        table = CaseTable(
            run, scorers, *chosen, is_whole=True, hidden=hidden, unpaired=unpaired, masks=False
        )
        page = table.page(**parse_cursor(asked.get("cursor")), size=asked["page_size"])
        relabel = Relabel.objects.latest_of(run)
        results = [_outcome_body(row, scorers, relabel) for row in page.rows]
        headers = left_out_header(len(table.left_out))
        return Response(page_body(request, page, results), headers=headers)


class MissingOutputList(ApiView):
    """The cases that have no output in a run."""

    serializer_class = MissingsShape

    @describe(parameters=[PlacesQuery], responses=MissingsShape)
    def get(self, request: Request, uid: uuid.UUID) -> Response:
        """A page of them, in the order of the dataset version."""
        run = access.run_for(self.user, uid)
        asked = self.parse_query(request, PlacesQuery).validated_data
        page = missing_page(run, **parse_cursor(asked.get("cursor")), size=asked["page_size"])
        return Response(page_body(request, page, [row._asdict() for row in page.rows]))


def hidden_outputs(
    view: ApiView, run: Run, filters: CaseFilters
) -> tuple[frozenset[int], frozenset[int]]:
    """The run's outputs that the user is yet to review, and those they may not see compared."""
    if filters.change is None:
        hidden = blind_outputs(view.user, run)
        return hidden, hidden
    pairs = blind_pairs(view.user, filters.change.baseline, run)
    return pairs.own, pairs.candidate


def requested_change(view: ApiView, run: Run, query: ResultsQuery) -> ChangeFilter | None:
    """The change that is asked for. Raises the problem where there is no run to tell it from."""
    kind, named = (query.validated_data.get(name) for name in ("change", "baseline"))
    if kind is None:
        return None
    baseline = view.look_up("baseline", named, access.run_for) if named else run_baseline(run)
    if baseline is None:
        text = "The series has no earlier run to tell a change from: name a baseline."
        raise field_problem(422, "change", "baseline_required", text)
    if baseline == run:
        text = "The run is the baseline: name another one."
        raise field_problem(422, "baseline", "same_run", text)
    try:
        check_comparable(baseline, run)
    except NotComparableError as fault:
        raise not_comparable(fault, "baseline") from None
    return ChangeFilter(PairKind(kind), baseline)


def _outcome_body(
    row: CaseRow, scorers: list[RunScorer], relabel: Relabel | None
) -> dict[str, Any]:
    pairs = zip(scorers, row.scores, strict=True)
    scores = [(scorer.name, score) for scorer, score in pairs if score]
    return {
        "key": row.key,
        "trial": row.place.trial,
        "verdict": row.verdict,
        "relabelled_verdict": relabel.case_verdict(scores).label if relabel else None,
        "output": json.loads(row.output) if row.is_json and row.output else row.output,
        "scores": [_score_body(name, score, relabel) for name, score in scores],
    }


def _score_body(scorer: str, score: ScoreRow, relabel: Relabel | None) -> dict[str, Any]:
    later = relabel.verdict_of(scorer, score) if relabel else None
    label = None if later is None else later.label
    return {"scorer": scorer, **score.result._asdict(), "relabelled_verdict": label}
