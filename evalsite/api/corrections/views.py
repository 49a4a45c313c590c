"""Corrections of expected values: list, propose, approve and reject."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.base import ApiView, ListView
from evalsite.api.corrections.serializers import (
    CorrectionDecision,
    CorrectionQuery,
    CorrectionShape,
    DecidedShape,
    NewCorrection,
)
from evalsite.api.errors import Problem, field_problem, missing_problem
from evalsite.api.idempotency import idempotent
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import CORRECTION, request_example
from evalsite.api.pagination import NewestFirst
from scoring.engine.drafts import ContentError, DraftError
from scoring.engine.review import corrections
from scoring.engine.review.corrections import CorrectionError
from scoring.engine.review.jobs import approve_or_enqueue
from scoring.models import Correction, Role, Scope
from scoring.models.reviews.correction import DecidedError


class CorrectionPages(NewestFirst):
    query = CorrectionQuery


class CorrectionList(ListView):
    """The expected values that reviewers propose for cases of a dataset."""

    scope = Scope.REVIEW
    asks_team = False
    serializer_class = CorrectionShape
    pagination_class = CorrectionPages

    def get_queryset(self) -> QuerySet[Any]:
        query = self.parse_query(self.request, CorrectionQuery).validated_data
        dataset = self.look_up("dataset", query["dataset"], access.dataset_for)
        rows = Correction.objects.for_list().filter(dataset=dataset)
        return rows.filter(state=query["state"]) if "state" in query else rows

    @describe(parameters=[CorrectionQuery])
    def get(self, request: Request, **_: Any) -> Response:
        """The newest first."""
        return self.list(request)

    @describe(
        request=NewCorrection,
        responses={201: CorrectionShape},
        examples=[request_example(CORRECTION)],
    )
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Propose another expected value for the case of an output; reviewers may."""
        wanted = self.parse_body(NewCorrection)
        run = self.look_up("run", wanted["run"], partial(access.run_for, role=Role.REVIEWER))
        try:
            output = access.output_of_case(run, wanted["key"], wanted["trial"])
        except Http404:
            raise missing_problem("key") from None
        try:
            made = corrections.propose(
                run, output, wanted["expected"], by=self.user, note=wanted["note"]
            )
        except ContentError as fault:
            text = " ".join(fault.problems.values())
            raise field_problem(422, "expected", "invalid_value", text) from None
        except CorrectionError as refused:
            raise Problem(409, "not_correctable", str(refused)) from None
        return Response(CorrectionShape(made).data, 201)


class CorrectionDecisions(ApiView):
    """Approving and rejecting corrections."""

    scope = Scope.REVIEW
    serializer_class = DecidedShape

    @describe(request=CorrectionDecision, responses={200: DecidedShape, 202: DecidedShape})
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Approve these as the next version of the dataset, or reject them; editors may, but not
        on their own ones, and tokens may not. All of them or none; 409 where somebody decided or
        published meanwhile.

        The next version of a large dataset is made by the worker: 202, and the corrections stay
        open until it is there.
        """
        instead = "It may propose corrections at /api/v1/corrections/."
        self.refuse_program("decides on corrections", instead)
        wanted = self.parse_body(CorrectionDecision)
        get_dataset = partial(access.dataset_for, role=Role.EDITOR)
        dataset = self.look_up("dataset", wanted["dataset"], get_dataset)
        try:
            chosen = access.corrections_for(dataset, wanted["corrections"])
        except Http404:
            raise missing_problem("corrections") from None
        version, status = None, 200
        try:
            if wanted["decision"] == "approve":
                version = approve_or_enqueue(dataset, chosen, by=self.user)
                status = 200 if version else 202
            else:
                corrections.reject(chosen, wanted["reason"], by=self.user)
        except CorrectionError as refused:
            raise Problem(409, "not_decidable", str(refused)) from None
        except (DecidedError, DraftError) as meanwhile:
            raise Problem(409, "decided_meanwhile", str(meanwhile)) from None
        decided = access.corrections_for(dataset, wanted["corrections"])
        shown = CorrectionShape(decided, many=True).data
        number = version.number if version else None
        return Response({"version": number, "corrections": shown}, status)
