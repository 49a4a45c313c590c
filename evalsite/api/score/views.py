"""Scoring without storing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from evalsite.api import errors as api_errors
from evalsite.api.base import ApiView
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import SCORE, SCORED, request_example, response_example
from evalsite.api.score.serializers import ResultsShape, ScoreBody
from scoring.core.contract import Case, ConfigError
from scoring.engine.tryout import tryout
from scoring.models import Scope


class ScoreView(ApiView):
    """Scores cases at once and keeps nothing."""

    scope = Scope.SCORE
    serializer_class = ScoreBody
    stores = False

    @describe(
        request=ScoreBody,
        responses=ResultsShape,
        examples=[request_example(SCORE), response_example(SCORED)],
    )
    def post(self, request: Request) -> Response:
        """Score up to 1,000 cases with a deterministic scorer, within two seconds."""
        wanted = self.parse_body(ScoreBody)
        scorer = {"config": {}, "threshold": None} | wanted["scorer"]
        cases = [_case(sent, number) for number, sent in enumerate(wanted["cases"], start=1)]
        try:
            results = tryout.score(**scorer, cases=cases, by=request.user.pk)
        except ConfigError as fault:
            raise api_errors.config_problem(fault, ("scorer",)) from None
        bodies = [
            {"id": case.id, **result._asdict()} for case, result in zip(cases, results, strict=True)
        ]
        return Response({"results": bodies})


def _case(sent: Mapping[str, Any], number: int) -> Case:
    """A missing output could not be produced; null is a value."""
    return Case(
        output=sent.get("output"),
        expected=sent.get("expected"),
        input=sent.get("input"),
        id=sent.get("id", str(number)),
        references=tuple(sent.get("references", ())),
        metadata=sent.get("metadata", {}),
        tags=tuple(sent.get("tags", ())),
        failure="" if "output" in sent else "the case has no output",
    )
