"""Waivers of a team, and decisions on the broken cases of a comparison."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.base import ApiView, ListView
from evalsite.api.compare.views import check_runs, not_comparable
from evalsite.api.errors import Fault, Problem, field_problem, missing_problem, validation_problem
from evalsite.api.idempotency import idempotent
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import DECISIONS, WAIVER, request_example
from evalsite.api.pagination import NewestFirst
from evalsite.api.signoff.serializers import (
    OPEN,
    DecisionsShape,
    NewDecisions,
    NewWaiver,
    WaiverQuery,
    WaiverShape,
)
from evalsite.blind_review import blind_pairs, readable_waivers
from scoring.engine.compare.comparison import NotComparableError, check_comparable
from scoring.engine.signoff.case_actions import (
    ComparedCases,
    StaleSignOffError,
    decide_cases,
    record_change,
    reopen_cases,
)
from scoring.models import Case, CaseDecisionState, Dataset, Role, Run, Scope, User, Waiver
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import Pair, PairKind
from scoring.models.reviews.broken_cases import BrokenCases, CaseState
from scoring.models.reviews.waiver import Terms, WaivedScorer

#: What a program may do in place of a decision.
COMMENT: Final = "It may comment on the case at /api/v1/comments/."


class WaiverPages(NewestFirst):
    query = WaiverQuery


class WaiverList(ListView):
    """The team's waivers."""

    scope = Scope.REVIEW
    serializer_class = WaiverShape
    pagination_class = WaiverPages

    def get_queryset(self) -> QuerySet[Waiver]:
        asked = self.parse_query(self.request, WaiverQuery).validated_data
        of_team = Waiver.objects.visible_to(self.user).filter(dataset__team=self.team())
        waivers = readable_waivers(self.user, of_team).for_list()
        if "dataset" in asked:
            waivers = waivers.filter(dataset__uuid=asked["dataset"])
        if "key" in asked:
            waivers = waivers.filter(case_key=asked["key"])
        return waivers.in_state(asked["state"]) if "state" in asked else waivers

    @describe(parameters=[WaiverQuery])
    def get(self, request: Request, **_: Any) -> Response:
        """The newest first; expired and ended ones stay in the list.

        Without those of cases that you are yet to review.
        """
        return self.list(request)

    @describe(request=NewWaiver, responses={201: WaiverShape}, examples=[request_example(WAIVER)])
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Waive one scorer's failure of a case until a day; reviewers may, tokens may not.

        It takes the place of the open waiver that the case has for the scorer. A case counts as
        waived once every scorer that fails it is.
        """
        self.refuse_program("waives a case", COMMENT)
        wanted = self.parse_body(NewWaiver)
        get_dataset = partial(access.dataset_for, role=Role.REVIEWER)
        dataset = self.look_up("dataset", wanted["dataset"], get_dataset)
        about = self._find_scorer(dataset, wanted)
        terms = Terms(wanted["until"], wanted["reason"], self._find_owner(dataset, wanted))
        try:
            (waiver,) = Waiver.objects.waive(dataset, [about], terms, by=self.user)
        except ValidationError as refused:
            faults = [
                Fault(field, "invalid", texts[0]) for field, texts in refused.message_dict.items()
            ]
            raise validation_problem(422, faults) from None
        return Response(WaiverShape(waiver).data, 201)

    def _find_scorer(self, dataset: Dataset, wanted: dict[str, Any]) -> WaivedScorer:
        """Raises the problem of a case or a scorer that the dataset's team does not have."""
        scorer = self.look_up("scorer", wanted["scorer"], access.scorer_for)
        if scorer.team_id != dataset.team_id:
            raise missing_problem("scorer")
        if not Case.objects.filter(version__dataset=dataset, key=wanted["key"]).exists():
            raise missing_problem("key")
        return WaivedScorer(wanted["key"], scorer.pk)

    def _find_owner(self, dataset: Dataset, wanted: dict[str, Any]) -> User:
        """The member of that address, else whoever asks."""
        if "owner" not in wanted:
            return self.user
        members = User.objects.filter(memberships__team=dataset.team_id)
        owner = members.filter(email__same=wanted["owner"]).first()
        if owner is None:
            text = "No member of the team has this address."
            raise field_problem(422, "owner", "unknown_member", text)
        return owner


class WaiverDetail(ApiView):
    """One waiver."""

    scope = Scope.REVIEW
    serializer_class = WaiverShape

    def get(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        return Response(WaiverShape(access.waiver_for(self.user, uid)).data)

    @describe(responses={204: None})
    def delete(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """End the waiver before its last day; reviewers may, tokens may not.

        It stays in the list.
        """
        self.refuse_program("ends a waiver", COMMENT)
        waiver = access.waiver_for(self.user, uid, Role.REVIEWER)
        Waiver.objects.end(waiver.dataset, [waiver], by=self.user)
        return Response(status=204)


class CaseDecisions(ApiView):
    """Broken cases of a comparison, accepted or rejected."""

    scope = Scope.REVIEW
    serializer_class = DecisionsShape

    @describe(request=NewDecisions, responses=DecisionsShape, examples=[request_example(DECISIONS)])
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Accept or reject broken cases, or reopen them; reviewers may, tokens may not.

        `open` clears their decisions and ends the waivers of the scorers that fail them. Answers
        how many broken cases of the comparison are in each state. 409 where a case is in another
        state than the `seen` one; then nothing is changed.
        """
        self.refuse_program("decides on broken cases", COMMENT)
        wanted = self.parse_body(NewDecisions)
        get_run = partial(access.run_for, role=Role.REVIEWER)
        baseline = self.look_up("baseline", wanted["baseline"], get_run)
        candidate = self.look_up("candidate", wanted["candidate"], get_run)
        check_runs(baseline, candidate)
        try:
            check_comparable(baseline, candidate)
        except NotComparableError as fault:
            raise not_comparable(fault, "candidate") from None
        without = blind_pairs(self.user, baseline, candidate).outputs
        pairs = _find_pairs(baseline, candidate, wanted["cases"], without)
        cases = ComparedCases(baseline, candidate, pairs)
        act: Callable[..., object] = partial(reopen_cases, cases)
        if wanted["state"] != OPEN:
            state = CaseDecisionState(wanted["state"])
            act = partial(decide_cases, cases, state, reason=wanted["reason"])
        try:
            record_change(cases, partial(act, by=self.user), _seen_states(cases, wanted["cases"]))
        except StaleSignOffError as stale:
            raise Problem(409, "decided_meanwhile", str(stale)) from None
        broke = Pairs(baseline, candidate).count(PairKind.BROKE)
        return Response(BrokenCases(baseline, candidate).counts(broke)._asdict())


def _seen_states(cases: ComparedCases, sent: list[dict[str, Any]]) -> dict[int, CaseState]:
    """By output the states that the sender saw."""
    seen = {(each["key"], each["trial"]): each["seen"] for each in sent if "seen" in each}
    named = {
        (pair.key, pair.place.trial): pair.candidate.output
        for pair in cases.pairs
        if pair.candidate
    }
    return {named[case]: CaseState(state) for case, state in seen.items()}


def _find_pairs(
    baseline: Run, candidate: Run, cases: list[dict[str, Any]], without: frozenset[int]
) -> list[Pair]:
    """The broken pairs of these cases. Raises a problem naming the first that is none of them.

    Those of the outputs `without` are none: the user is yet to review them.
    """
    version = candidate.output_set.version_id
    keys = {case["key"] for case in cases}
    rows = Case.objects.filter(version=version, key__in=keys).values_list("position", flat=True)
    broken = Pairs(baseline, candidate).at_positions(PairKind.BROKE, sorted(rows))
    halves = ((pair, pair.candidate) for pair in broken)
    by_key = {
        (pair.key, pair.place.trial): pair
        for pair, half in halves
        if half and half.output not in without
    }
    for number, case in enumerate(cases):
        if (case["key"], case["trial"]) not in by_key:
            text = f"The case {case['key']} did not pass in the baseline and fail in the candidate."
            raise field_problem(422, f"cases[{number}]", "not_broken", text)
    wanted = {(case["key"], case["trial"]) for case in cases}
    return [pair for name, pair in by_key.items() if name in wanted]
