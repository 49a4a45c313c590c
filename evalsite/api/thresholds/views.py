"""The thresholds of a suite: what they are, what another one would do, and changing one."""

from __future__ import annotations

from functools import partial
from typing import Final
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from evalsite import access
from evalsite.api.base import ApiView, ListView
from evalsite.api.errors import Problem, missing_problem
from evalsite.api.idempotency import idempotent
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import THRESHOLD, THRESHOLD_PROPOSAL, request_example
from evalsite.api.pagination import invalid_cursor
from evalsite.api.thresholds.serializers import (
    NewThreshold,
    NewThresholdProposal,
    ThresholdChangeShape,
    ThresholdPreviewQuery,
    ThresholdPreviewShape,
    ThresholdProposalShape,
    ThresholdsQuery,
    ThresholdsShape,
)
from evalsite.blind_review import blind_outputs
from evalsite.downloads import left_out_header
from scoring.engine.thresholds.description import (
    describe_change,
    describe_flips,
    describe_preview,
    describe_thresholds,
)
from scoring.engine.thresholds.flips import FlipCursor, FlipPage
from scoring.engine.thresholds.preview import Preview, RunPreview
from scoring.engine.thresholds.proposals import propose
from scoring.models import Role, Scope, Scorer, SuiteEntry, ThresholdProposal
from scoring.models.scorers.proposal import TOO_MANY_CODE
from scoring.models.scorers.suite import ThresholdStep
from scoring.models.scorers.threshold_change import StaleThresholdError

PROPOSE: Final = "Propose the change at /api/v1/thresholds/proposals/."


class Thresholds(ApiView):
    """The thresholds of a suite, their effect on the last runs, and their history."""

    scope = Scope.ADMIN
    serializer_class = ThresholdsShape

    @describe(parameters=[ThresholdsQuery], responses=ThresholdsShape)
    def get(self, request: Request) -> Response:
        """Each scorer's threshold with its pass rates, and all changes, the newest first."""
        query = self.parse_query(request, ThresholdsQuery).validated_data
        suite = self.look_up("suite", query["suite"], access.suite_for)
        return Response(describe_thresholds(suite))

    @describe(
        request=NewThreshold,
        responses={201: ThresholdChangeShape},
        examples=[request_example(THRESHOLD)],
    )
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Change a scorer's threshold, in a suite or by default; admins may. Runs keep theirs.

        A token is refused, 403 `person_required`: a program may propose.
        409 where the threshold is the same already, and where somebody changed it meanwhile: the
        message has the current one.
        """
        wanted = self.parse_body(NewThreshold)
        subject = find_subject(self, wanted.get("suite"), wanted["scorer"], Role.ADMIN)
        self.refuse_program("changes thresholds", PROPOSE)
        try:
            change = subject.change_threshold(
                wanted["threshold"],
                by=self.user,
                reason=wanted["reason"],
                seen=wanted.get("seen"),
            )
        except StaleThresholdError as stale:
            raise Problem(409, "changed_meanwhile", str(stale)) from None
        except ValidationError as refused:
            raise Problem(409, "same_threshold", " ".join(refused.messages)) from None
        return Response(ThresholdChangeShape(describe_change(change)).data, 201)


class ThresholdPreview(ApiView):
    """What another threshold would do to the last runs."""

    serializer_class = ThresholdPreviewShape

    @describe(parameters=[ThresholdPreviewQuery], responses=ThresholdPreviewShape)
    def get(self, request: Request) -> Response:
        """Pass rates of the last runs, and a page of the cases that would flip; changes nothing."""
        query = self.parse_query(request, ThresholdPreviewQuery).validated_data
        subject = find_subject(self, query.get("suite"), query["scorer"], Role.VIEWER)
        preview = Preview.of(subject, query["threshold"])
        chosen = preview.find_run(query["run"]) if "run" in query else preview.latest
        if chosen is None and "run" in query:
            raise missing_problem("run")
        hidden = blind_outputs(self.user, chosen.run) if chosen else frozenset[int]()
        page = _flips(chosen, query.get("cursor"), query["page_size"], hidden)
        return Response(
            {
                "next": _address(request, "after", page.after),
                "previous": _address(request, "before", page.before),
                **describe_preview(preview, chosen),
                "results": describe_flips(page.cases),
            },
            headers=left_out_header(len(hidden)),
        )


class ThresholdProposalList(ListView):
    """Thresholds that people and programs propose, until an administrator decides."""

    scope = Scope.SCORE
    serializer_class = ThresholdProposalShape

    def get_queryset(self) -> QuerySet[ThresholdProposal]:
        proposals = ThresholdProposal.objects.filter(team=self.team())
        return proposals.select_related("team", "suite", "proposed_by", "decided_by")

    @describe(
        request=NewThresholdProposal,
        responses={201: ThresholdProposalShape},
        examples=[request_example(THRESHOLD_PROPOSAL)],
    )
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Propose thresholds, in a suite or of one scorer by default; editors may.

        An administrator accepts or rejects them on the site. Thresholds that are proposed already
        are not proposed again: the answer is the open proposal.
        """
        wanted = self.parse_body(NewThresholdProposal)
        suite, given = wanted.get("suite"), wanted["thresholds"]
        subjects = [
            (find_subject(self, suite, each["scorer"], Role.EDITOR), each["threshold"])
            for each in given
        ]
        steps = [
            ThresholdStep(_scorer_of(subject), subject.threshold, new) for subject, new in subjects
        ]
        if suite is None and len(steps) > 1:
            raise Problem(422, "one_default", "Without a suite propose one scorer's default.")
        first = subjects[0][0]
        of_suite = first.suite if isinstance(first, SuiteEntry) else None
        team = steps[0].scorer.team
        try:
            made = propose(team, of_suite, steps, by=self.user, rationale=wanted["reason"])
        except ValidationError as refused:
            code = TOO_MANY_CODE if refused.code == TOO_MANY_CODE else "same_threshold"
            raise Problem(409, code, " ".join(refused.messages)) from None
        return Response(ThresholdProposalShape(made).data, 201)


def _scorer_of(subject: SuiteEntry | Scorer) -> Scorer:
    return subject.scorer if isinstance(subject, SuiteEntry) else subject


def find_subject(
    view: ApiView, suite: UUID | None, scorer: UUID, role: Role
) -> SuiteEntry | Scorer:
    """The scorer's entry in the suite, the scorer without one.

    Raises the problem of the id that names nothing.
    """
    if suite is None:
        return view.look_up("scorer", scorer, partial(access.scorer_for, role=role))
    view.look_up("suite", suite, access.suite_for)
    try:
        return access.suite_entry_for(view.user, suite, scorer, role)
    except Http404:
        raise missing_problem("scorer") from None


def _flips(
    chosen: RunPreview | None, cursor: str | None, size: int, hidden: frozenset[int]
) -> FlipPage:
    side, _, text = (cursor or "").partition("-")
    parsed = FlipCursor.parse(text)
    if cursor is not None and (parsed is None or side not in {"after", "before"}):
        raise invalid_cursor()
    if chosen is None or not chosen.counts.flips:
        return FlipPage([])
    return chosen.flips.page(**({side: parsed} if parsed else {}), size=size, without=hidden)


def _address(request: Request, side: str, cursor: FlipCursor | None) -> str | None:
    if cursor is None:
        return None
    return replace_query_param(request.build_absolute_uri(), "cursor", f"{side}-{cursor}")
