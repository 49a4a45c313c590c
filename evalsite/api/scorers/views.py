"""Scorers and the suites of them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django.db import IntegrityError
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api import errors as api_errors
from evalsite.api.base import ApiView, ListView
from evalsite.api.idempotency import idempotent
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import SCORER, SUITE, request_example
from evalsite.api.scorers.serializers import NewScorer, NewSuite, ScorerShape, SuiteShape
from scoring.core.contract import ConfigError
from scoring.models import Role, Scope, Scorer, Suite, Team


class ScorerList(ListView):
    """The team's scorers."""

    scope = Scope.SCORE
    serializer_class = ScorerShape

    def get_queryset(self) -> QuerySet[Scorer]:
        return Scorer.objects.filter(team=self.team()).select_related("current")

    @describe(request=NewScorer, responses={201: ScorerShape}, examples=[request_example(SCORER)])
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Make a scorer with its first version."""
        team = self.team(Role.EDITOR)
        wanted = self.parse_body(NewScorer)
        try:
            scorer = Scorer.objects.define(team, **{"config": {}} | wanted, by=self.user)
        except ConfigError as fault:
            raise api_errors.config_problem(fault) from None
        except IntegrityError:
            taken = Scorer.objects.get(team=team, name=wanted["name"])
            advice = "Take another name, or use it."
            raise api_errors.conflict_problem(taken, "scorer", advice) from None
        return Response(ScorerShape(scorer).data, 201)


class ScorerDetail(ApiView):
    """One scorer, as it is now."""

    serializer_class = ScorerShape

    def get(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        return Response(ScorerShape(access.scorer_for(self.user, uid)).data)


class SuiteList(ListView):
    """The team's suites."""

    scope = Scope.SCORE
    serializer_class = SuiteShape

    def get_queryset(self) -> QuerySet[Suite]:
        return Suite.objects.filter(team=self.team()).prefetch_related("entries__scorer")

    @describe(request=NewSuite, responses={201: SuiteShape}, examples=[request_example(SUITE)])
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Make a suite of scorers."""
        team = self.team(Role.EDITOR)
        wanted = self.parse_body(NewSuite)
        entries = wanted["entries"]
        scorers = named_scorers(team, [e["scorer"] for e in entries], "entries[{}].scorer")
        pairs = [(s, e.get("threshold")) for s, e in zip(scorers, entries, strict=True)]
        try:
            suite = Suite.objects.define(team, wanted["name"], pairs, by=self.user)
        except IntegrityError:
            taken = Suite.objects.get(team=team, name=wanted["name"])
            advice = "Take another name, or use it."
            raise api_errors.conflict_problem(taken, "suite", advice) from None
        return Response(SuiteShape(suite).data, 201)


class SuiteDetail(ApiView):
    """One suite, as it is now."""

    serializer_class = SuiteShape

    def get(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        return Response(SuiteShape(access.suite_for(self.user, uid)).data)


def named_scorers(team: Team, ids: Sequence[uuid.UUID], field: str) -> list[Scorer]:
    """The team's scorers with these ids, in their order.

    `field` is where an id stands in the body, with {} for its index. An id that names nothing of
    this team's is a 404, one that comes twice a 422.
    """
    scorers = Scorer.objects.filter(team=team, uuid__in=ids).select_related("current")
    by_id = {scorer.uuid: scorer for scorer in scorers}
    for index, uid in enumerate(ids):
        if uid not in by_id:
            raise api_errors.missing_problem(field.format(index))
        if uid in ids[:index]:
            text = "This scorer is named twice. Name it once."
            raise api_errors.field_problem(422, field.format(index), "duplicate_scorer", text)
    return [by_id[uid] for uid in ids]
