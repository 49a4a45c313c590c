"""The release decisions on a run, and its release report."""

from __future__ import annotations

import uuid
from typing import Any, Final

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.base import ApiView, ListView
from evalsite.api.compare.serializers import WaitingShape
from evalsite.api.compare.views import RETRY_SECONDS
from evalsite.api.errors import Problem
from evalsite.api.idempotency import idempotent
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import RELEASE, request_example
from evalsite.api.releases.serializers import (
    NewReleaseDecision,
    ReleaseDecisionShape,
    ReportQuery,
)
from evalsite.release_reports import ReportRefusedError, find_report_baseline, report_response
from scoring.engine.compare.jobs import compare_or_enqueue
from scoring.engine.reports.release_report import build_release_report, report_file
from scoring.engine.runs.neighbours import run_baseline
from scoring.engine.signoff.evidence import gather_evidence
from scoring.models import ReleaseDecision, ReleaseState, Role, Scope
from scoring.models.runs.release_decision import (
    ReleaseDecisionQuerySet,
    StaleReleaseError,
    UnfinishedRunError,
)

#: What a program may do in place of a decision.
CHECK: Final = "It may check the run against gates at /api/v1/runs/{id}/gate/."


class ReleaseDecisionList(ListView):
    """The decisions on a run."""

    scope = Scope.ADMIN
    serializer_class = ReleaseDecisionShape
    asks_team = False

    def get_queryset(self) -> ReleaseDecisionQuerySet:
        return ReleaseDecision.objects.of(access.run_for(self.user, self.kwargs["uid"]))

    @describe()
    def get(self, request: Request, **_: Any) -> Response:
        """The newest first; withdrawn and replaced ones stay in the list."""
        return self.list(request)

    @describe(
        request=NewReleaseDecision,
        responses={201: ReleaseDecisionShape},
        examples=[request_example(RELEASE)],
    )
    @idempotent
    def post(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Approve or reject the run, with the evidence of this moment; admins may, tokens may not.

        409 for a run that has not finished, and where another decision than the `seen` one stands.
        """
        self.refuse_program("decides on a release", CHECK)
        run = access.run_for(self.user, uid, Role.ADMIN)
        wanted = self.parse_body(NewReleaseDecision)
        baseline = run_baseline(run)
        seen = str(wanted["seen"] or "") if "seen" in wanted else None
        try:
            decision = ReleaseDecision.objects.decide(
                run,
                ReleaseState(wanted["state"]),
                wanted["reason"],
                gather_evidence(run, baseline).as_json(),
                baseline=baseline,
                by=self.user,
                seen=seen,
            )
        except UnfinishedRunError as fault:
            text = " ".join(fault.messages)
            raise Problem(409, "run_unfinished", text, object_id=run.uuid) from None
        except StaleReleaseError as stale:
            standing = stale.current.uuid if stale.current else None
            raise Problem(409, "decided_meanwhile", str(stale), object_id=standing) from None
        return Response(ReleaseDecisionShape(decision).data, 201)


class ReleaseDecisionDetail(ApiView):
    """One decision on a run."""

    scope = Scope.ADMIN
    serializer_class = ReleaseDecisionShape

    def get(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        return Response(ReleaseDecisionShape(access.release_decision_for(self.user, uid)).data)

    @describe(responses={204: None})
    def delete(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Withdraw the decision; admins may, tokens may not. It stays in the list, and the run has
        none then.

        409 for one that was withdrawn or replaced before.
        """
        self.refuse_program("withdraws a decision on a release", CHECK)
        decision = access.release_decision_for(self.user, uid, Role.ADMIN)
        if not decision.withdraw(by=self.user):
            text = "This decision has already been withdrawn or replaced."
            raise Problem(409, "decision_over", text, object_id=decision.uuid)
        return Response(status=204)


class ReleaseReport(ApiView):
    """The release report of a run."""

    @describe(
        parameters=[ReportQuery],
        responses={
            (200, "application/json"): OpenApiTypes.OBJECT,
            (200, "text/html"): OpenApiTypes.STR,
            202: WaitingShape,
        },
    )
    def get(self, request: Request, uid: uuid.UUID) -> HttpResponseBase:
        """One file, which `manage.py verify_report` verifies; large runs are compared first.

        409 for a run that has not finished, for one without a baseline, and for whoever is yet to
        review one of its outputs: the report shows all verdicts.
        """
        opened = access.run_access_for(self.user, uid)
        file_format = self.parse_query(request, ReportQuery).validated_data["format"]
        run = opened.run
        try:
            baseline = find_report_baseline(self.user, run)
        except ReportRefusedError as refused:
            raise Problem(409, refused.code, refused.text, object_id=run.uuid) from None
        if compare_or_enqueue(baseline, run, self.user) is None:
            return Response({"state": "waiting"}, 202, headers={"Retry-After": str(RETRY_SECONDS)})
        report = build_release_report(run, baseline, access.reviews_of_run(opened))
        return report_response(report_file(run, report, file_format))
