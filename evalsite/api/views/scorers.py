"""Scorers and the suites of them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django.db import IntegrityError
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api import problems
from evalsite.api.described import described
from evalsite.api.examples import SCORER, SUITE, sent
from evalsite.api.idempotency import idempotent
from evalsite.api.serializers.scorers import NewScorer, NewSuite, ScorerShape, SuiteShape
from evalsite.api.views.base import ApiView, ListView
from scoring.core.contract import ConfigError
from scoring.models import Role, Scorer, Suite, Team


class ScorerList(ListView):
    """The team's scorers."""

    serializer_class = ScorerShape

    def get_queryset(self) -> QuerySet[Scorer]:
        return Scorer.objects.filter(team=self.team()).select_related("current")

    def get(self, request: Request) -> Response:
        return self.list(request)

    @described(request=NewScorer, responses={201: ScorerShape}, examples=[sent(SCORER)])
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Make a scorer with its first version."""
        team = self.team(Role.EDITOR)
        wanted = self.read(NewScorer)
        try:
            scorer = Scorer.objects.define(team, **{"config": {}} | wanted, by=self.user)
        except ConfigError as fault:
            raise problems.of_config(fault) from None
        except IntegrityError:
            found = Scorer.objects.get(team=team, name=wanted["name"])
            raise problems.taken(found, "scorer", "Take another name, or use it.") from None
        return Response(ScorerShape(scorer).data, 201)


class ScorerDetail(ApiView):
    """One scorer, as it is now."""

    serializer_class = ScorerShape

    def get(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        return Response(ScorerShape(access.scorer_for(self.user, uid)).data)


class SuiteList(ListView):
    """The team's suites."""

    serializer_class = SuiteShape

    def get_queryset(self) -> QuerySet[Suite]:
        return Suite.objects.filter(team=self.team()).prefetch_related("entries__scorer")

    def get(self, request: Request) -> Response:
        return self.list(request)

    @described(request=NewSuite, responses={201: SuiteShape}, examples=[sent(SUITE)])
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Make a suite of scorers."""
        team = self.team(Role.EDITOR)
        wanted = self.read(NewSuite)
        entries = wanted["entries"]
        scorers = named_scorers(team, [e["scorer"] for e in entries], "entries[{}].scorer")
        pairs = [(s, e.get("threshold")) for s, e in zip(scorers, entries, strict=True)]
        try:
            suite = Suite.objects.define(team, wanted["name"], pairs, by=self.user)
        except IntegrityError:
            found = Suite.objects.get(team=team, name=wanted["name"])
            raise problems.taken(found, "suite", "Take another name, or use it.") from None
        return Response(SuiteShape(suite).data, 201)


class SuiteDetail(ApiView):
    """One suite, as it is now."""

    serializer_class = SuiteShape

    def get(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        return Response(SuiteShape(access.suite_for(self.user, uid)).data)


def named_scorers(team: Team, ids: Sequence[uuid.UUID], field: str) -> list[Scorer]:
    """The team's scorers with these ids, in their order.

    `field` is where an id stands in the body, with {} for its place. An id that names nothing of
    this team's is a 404, one that comes twice a 422.
    """
    found = Scorer.objects.filter(team=team, uuid__in=ids).select_related("current")
    by_id = {scorer.uuid: scorer for scorer in found}
    for place, uid in enumerate(ids):
        if uid not in by_id:
            raise problems.missing(field.format(place))
        if uid in ids[:place]:
            text = "This scorer is named twice. Name it once."
            raise problems.of_faults(
                422, [problems.Fault(field.format(place), "duplicate_scorer", text)]
            )
    return [by_id[uid] for uid in ids]
