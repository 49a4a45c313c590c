"""Two runs of a dataset compared, and the cases behind it."""

from __future__ import annotations

from typing import Final

from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.base import ApiView
from evalsite.api.compare.serializers import (
    CasesQuery,
    CompareQuery,
    CompareShape,
    PairsShape,
    WaitingShape,
    pair_bodies,
)
from evalsite.api.errors import Fault, Problem, field_problem
from evalsite.api.openapi.descriptions import describe
from evalsite.api.pagination import page_body, parse_cursor
from evalsite.blind_review import blind_pairs
from evalsite.downloads import left_out_header
from scoring.engine.compare import report
from scoring.engine.compare.claims import read_figures
from scoring.engine.compare.comparison import NotComparableError, check_comparable
from scoring.engine.compare.jobs import compare_or_enqueue
from scoring.models import Run
from scoring.models.pairs.pair_index import indexed_list
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import PairKind
from scoring.models.reviews.broken_cases import BrokenCases

RETRY_SECONDS: Final = 2


class Compare(ApiView):
    """What changed between two runs, and what of it is significant."""

    serializer_class = CompareShape

    @describe(parameters=[CompareQuery], responses={200: CompareShape, 202: WaitingShape})
    def get(self, request: Request) -> Response:
        """The figures; those of large runs are worked out by the worker first, which takes seconds.

        Both runs must be over one dataset and have ended.
        """
        baseline, candidate = _runs(self, request, self.parse_query(request, CompareQuery))
        try:
            figures = compare_or_enqueue(baseline, candidate, self.user)
        except NotComparableError as fault:
            raise not_comparable(fault, "candidate") from None
        if figures is None:
            headers = {"Retry-After": str(RETRY_SECONDS)}
            return Response({"state": "waiting"}, 202, headers=headers)
        body = report.as_json(read_figures(figures))
        body["relabel"] = report.relabels_json(baseline, candidate)
        return Response({**body, "cases": _cases_of(request, baseline, candidate)})


class ComparedCases(ApiView):
    """The cases of two runs, by what became of them."""

    serializer_class = PairsShape

    @describe(parameters=[CasesQuery], responses=PairsShape)
    def get(self, request: Request) -> Response:
        """A page of the cases of one kind, in the order of the candidate's dataset version."""
        query = self.parse_query(request, CasesQuery)
        asked = query.validated_data
        baseline, candidate = _runs(self, request, query)
        try:
            check_comparable(baseline, candidate)
        except NotComparableError as fault:
            raise not_comparable(fault, "candidate") from None
        kind = PairKind(asked["kind"])
        broken = BrokenCases(baseline, candidate)
        without = blind_pairs(self.user, baseline, candidate)
        page = Pairs(baseline, candidate).page(
            kind,
            query.filters_for(broken).leave_out(without.outputs),
            **parse_cursor(asked.get("cursor")),
            size=asked["page_size"],
            positions=indexed_list(baseline, candidate, kind, query.filters.scorer).positions,
        )
        has_states = kind == PairKind.BROKE and not query.filters.scorer
        bodies = pair_bodies(page, broken if has_states else None)
        headers = left_out_header(len(without.candidate))
        return Response(page_body(request, page, bodies), headers=headers)


def _runs(view: ApiView, request: Request, query: CompareQuery) -> tuple[Run, Run]:
    """Raises the problem where they are not two, one on each side."""
    for side in ("baseline", "candidate"):
        if len(set(request.query_params.getlist(side))) > 1:
            raise field_problem(422, side, "repeated", "Name one run a request.")
    baseline, candidate = (
        view.look_up(side, query.validated_data[side], access.run_for)
        for side in ("baseline", "candidate")
    )
    check_runs(baseline, candidate)
    return baseline, candidate


def check_runs(baseline: Run, candidate: Run) -> None:
    """Raise the problem of a run that is compared with itself."""
    if baseline == candidate:
        text = "The run is the baseline: name another one."
        raise field_problem(422, "candidate", "same_run", text)


def not_comparable(fault: NotComparableError, field: str) -> Problem:
    """Why two runs are not compared; `field` names the one to exchange."""
    if fault.code == "run_unfinished":
        return Problem(409, fault.code, fault.text, object_id=fault.run.uuid)
    return Problem(400, fault.code, fault.text, [Fault(field, fault.code, fault.text)])


def _cases_of(request: Request, baseline: Run, candidate: Run) -> str:
    address = request.build_absolute_uri(reverse("api:compare_cases"))
    return f"{address}?baseline={baseline.uuid}&candidate={candidate.uuid}&kind=broke"
