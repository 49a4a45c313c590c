"""Two runs of a dataset compared, and the cases behind it."""

from __future__ import annotations

from typing import Final

from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.described import described
from evalsite.api.paging import beginning, placed_page
from evalsite.api.problems import Fault, Problem, of_faults
from evalsite.api.serializers.compare import (
    CasesQuery,
    CompareQuery,
    CompareShape,
    PairsShape,
    WaitingShape,
    shown_pairs,
)
from evalsite.api.views.base import ApiView
from scoring.engine import compare_report
from scoring.engine.compare import NotComparableError, check
from scoring.engine.compare_asks import compared_for
from scoring.engine.figures import Figures
from scoring.models import Run
from scoring.models.pair_places import kept_list
from scoring.models.pair_rows import PairKind
from scoring.models.pairs import Pairs

RETRY_SECONDS: Final = 2


class Compare(ApiView):
    """What changed between two runs, and whether it is more than chance."""

    serializer_class = CompareShape

    @described(parameters=[CompareQuery], responses={200: CompareShape, 202: WaitingShape})
    def get(self, request: Request) -> Response:
        """The figures; those of large runs are worked out by the worker first, which takes seconds.

        Both runs must be over one dataset and have ended.
        """
        baseline, candidate = _runs(self, request, self.asked(request, CompareQuery))
        try:
            found = compared_for(baseline, candidate, self.user)
        except NotComparableError as fault:
            raise not_comparable(fault, "candidate") from None
        if found is None:
            headers = {"Retry-After": str(RETRY_SECONDS)}
            return Response({"state": "waiting"}, 202, headers=headers)
        told = compare_report.as_json(Figures.read(found.figures))
        return Response({**told, "cases": _cases_of(request, baseline, candidate)})


class ComparedCases(ApiView):
    """The cases of two runs, by what became of them."""

    serializer_class = PairsShape

    @described(parameters=[CasesQuery], responses=PairsShape)
    def get(self, request: Request) -> Response:
        """A page of the cases of one kind, in the order of the candidate's dataset version."""
        query = self.asked(request, CasesQuery)
        asked = query.validated_data
        baseline, candidate = _runs(self, request, query)
        try:
            check(baseline, candidate)
        except NotComparableError as fault:
            raise not_comparable(fault, "candidate") from None
        kind = PairKind(asked["kind"])
        page = Pairs(baseline, candidate).page(
            kind,
            query.filters,
            **beginning(asked.get("cursor")),
            size=asked["page_size"],
            positions=kept_list(baseline, candidate, kind, query.filters.scorer).positions,
        )
        return Response(placed_page(request, page, shown_pairs(page)))


def _runs(view: ApiView, request: Request, query: CompareQuery) -> tuple[Run, Run]:
    """Raises the problem where they are not two, one on each side."""
    for side in ("baseline", "candidate"):
        if len(set(request.query_params.getlist(side))) > 1:
            raise unusable(side, "repeated", "Name one run a request.")
    baseline, candidate = (
        view.named(side, query.validated_data[side], access.run_for)
        for side in ("baseline", "candidate")
    )
    if baseline == candidate:
        raise unusable("candidate", "same_run", "The run is the baseline: name another one.")
    return baseline, candidate


def unusable(side: str, code: str, text: str) -> Problem:
    return of_faults(422, [Fault(side, code, text)])


def not_comparable(fault: NotComparableError, field: str) -> Problem:
    """Why two runs are not compared; `field` names the one to exchange."""
    if fault.code == "run_unfinished":
        return Problem(409, fault.code, fault.text, object_id=fault.run.uuid)
    return Problem(400, fault.code, fault.text, [Fault(field, fault.code, fault.text)])


def _cases_of(request: Request, baseline: Run, candidate: Run) -> str:
    address = request.build_absolute_uri(reverse("api:compare_cases"))
    return f"{address}?baseline={baseline.uuid}&candidate={candidate.uuid}&kind=broke"
