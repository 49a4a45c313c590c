"""What people prefer, of two outputs for one case."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.base import ListView
from evalsite.api.errors import missing_problem
from evalsite.api.idempotency import idempotent
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import PREFERENCE, request_example
from evalsite.api.pagination import NewestFirst
from evalsite.api.preferences.serializers import NewPreference, PreferenceQuery, PreferenceShape
from scoring.engine.review.pairwise import find_counterpart
from scoring.models import Preference, PreferenceVerdict, Role, Scope


class PreferencePages(NewestFirst):
    query = PreferenceQuery


class PreferenceList(ListView):
    """People's preferences between the outputs of a run and those of a baseline."""

    scope = Scope.REVIEW
    asks_team = False
    serializer_class = PreferenceShape
    pagination_class = PreferencePages

    def get_queryset(self) -> QuerySet[Any]:
        query = self.parse_query(self.request, PreferenceQuery).validated_data
        opened = self.look_up("run", query["run"], access.run_access_for)
        baseline = self.look_up("baseline", query["baseline"], access.run_for)
        rows = Preference.objects.between(opened.run, baseline)
        readable = rows.readable_by(self.user, opened.role)
        return readable.select_related("candidate__case", "reviewer")

    @describe(parameters=[PreferenceQuery])
    def get(self, request: Request, **_: Any) -> Response:
        """The newest first. Who reviews sees those of others on a pair after their own."""
        return self.list(request)

    @describe(
        request=NewPreference, responses=PreferenceShape, examples=[request_example(PREFERENCE)]
    )
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Say whether the run's output is better than the baseline's, the same or worse."""
        wanted = self.parse_body(NewPreference)
        run = self.look_up("run", wanted["run"], partial(access.run_for, role=Role.REVIEWER))
        baseline = self.look_up("baseline", wanted["baseline"], access.run_for)
        try:
            output = access.output_of_case(run, wanted["key"], wanted["trial"])
        except Http404:
            raise missing_problem("key") from None
        is_same_team = baseline.team_id == run.team_id
        other = find_counterpart(output, baseline) if is_same_team else None
        if other is None or other == output:
            raise missing_problem("baseline")
        verdict = PreferenceVerdict[wanted["verdict"].upper()]
        given = Preference.objects.prefer(
            run, (output, other), verdict, by=self.user, note=wanted["note"]
        )
        return Response(PreferenceShape(given).data)
