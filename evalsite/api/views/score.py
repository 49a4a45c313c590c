"""Scoring without storing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from evalsite.api import problems
from evalsite.api.described import described
from evalsite.api.examples import SCORE, SCORED, answered, sent
from evalsite.api.serializers.score import ResultsShape, ScoreBody
from evalsite.api.views.base import ApiView
from scoring.core.contract import Case, ConfigError, Result
from scoring.engine import tryout


class ScoreView(ApiView):
    """Scores cases at once and keeps nothing."""

    serializer_class = ScoreBody

    @described(
        request=ScoreBody,
        responses=ResultsShape,
        examples=[sent(SCORE), answered(SCORED)],
    )
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Score up to 1,000 cases with a deterministic scorer, within two seconds."""
        wanted = self.read(ScoreBody)
        scorer = {"config": {}, "threshold": None} | wanted["scorer"]
        cases = [_case(sent, place) for place, sent in enumerate(wanted["cases"], start=1)]
        try:
            results = tryout.score(**scorer, cases=cases)
        except ConfigError as fault:
            raise problems.of_config(fault, ("scorer",)) from None
        shown = [_shown(case, result) for case, result in zip(cases, results, strict=True)]
        return Response({"results": shown})


def _case(sent: Mapping[str, Any], place: int) -> Case:
    """A missing output could not be produced; null is a value."""
    return Case(
        output=sent.get("output"),
        expected=sent.get("expected"),
        input=sent.get("input"),
        id=sent.get("id", str(place)),
        references=tuple(sent.get("references", ())),
        metadata=sent.get("metadata", {}),
        tags=tuple(sent.get("tags", ())),
        failure="" if "output" in sent else "the case has no output",
    )


def _shown(case: Case, result: Result) -> dict[str, Any]:
    return {"id": case.id, **result._asdict()}
