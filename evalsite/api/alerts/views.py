"""Alert rules of a team, what fires, and its acknowledgement."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet, prefetch_related_objects
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.alerts.serializers import (
    AlertQuery,
    AlertRuleShape,
    AlertShape,
    ChangedAlertRule,
    NewAlertRule,
    SecretShape,
)
from evalsite.api.base import ApiView, ListView
from evalsite.api.errors import Problem, missing_problem
from evalsite.api.idempotency import idempotent
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import ALERT_RULE, request_example
from evalsite.api.pagination import NewestFirst
from scoring.models import Alert, AlertRule, Role, Scope, User
from scoring.models.alerts.rule import RuleExistsError


class AlertPages(NewestFirst):
    query = AlertQuery


class AlertList(ListView):
    """The team's alerts, those of deleted rules left out."""

    serializer_class = AlertShape
    pagination_class = AlertPages

    def get_queryset(self) -> QuerySet[Alert]:
        alerts = Alert.objects.of_living().filter(rule__team=self.team()).for_list()
        state = self.parse_query(self.request, AlertQuery).validated_data.get("state")
        return alerts.in_state(state) if state else alerts

    @describe(parameters=[AlertQuery])
    def get(self, request: Request, **_: Any) -> Response:
        """The newest first: firing, undecided or resolved, which is what became of them."""
        return self.list(request)


class AlertAcknowledgement(ApiView):
    """That somebody is at it."""

    scope = Scope.REVIEW
    serializer_class = AlertShape

    @describe(request=None, responses=AlertShape)
    def post(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Tell nobody again before the alert is over; reviewers may. Twice counts once."""
        alert = access.alert_for(self.user, uid, Role.REVIEWER)
        try:
            alert.acknowledge(by=self.user)
        except ValidationError as refused:
            text = " ".join(refused.messages)
            raise Problem(409, "alert_over", text, object_id=alert.uuid) from None
        return Response(AlertShape(alert).data)


class AlertRuleList(ListView):
    """The team's alert rules."""

    scope = Scope.ADMIN
    serializer_class = AlertRuleShape

    def get_queryset(self) -> QuerySet[AlertRule]:
        rules = AlertRule.objects.filter(team=self.team()).for_list()
        return rules.prefetch_related("watches__run")

    @describe(
        request=NewAlertRule,
        responses={201: AlertRuleShape},
        examples=[request_example(ALERT_RULE)],
    )
    @idempotent
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Make a rule; admins may. Its webhook's calls are signed: ask for its secret."""
        team = self.team(Role.ADMIN)
        wanted = self.parse_body(NewAlertRule)
        dataset = self.look_up("dataset", wanted.pop("dataset"), access.dataset_for)
        if dataset.team_id != team.pk:
            raise missing_problem("dataset")
        with _refuse_duplicate():
            rule = AlertRule.objects.define(team, dataset, by=self.user, **wanted).rule
        return Response(_rule_body(rule), 201)


class AlertRuleDetail(ApiView):
    """One rule, as it is now."""

    scope = Scope.ADMIN
    serializer_class = AlertRuleShape

    def get(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        return Response(_rule_body(access.alert_rule_for(self.user, uid, Role.VIEWER)))

    @describe(request=ChangedAlertRule, responses=AlertRuleShape)
    def patch(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Change what is named, and pause or resume; admins may. The dataset stays."""
        rule = access.alert_rule_for(self.user, uid)
        _change(rule, self.parse_body(ChangedAlertRule), self.user)
        return Response(_rule_body(rule))

    @describe(responses={204: None})
    def delete(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Silence and hide the rule; for seven days an admin can bring it back on the pages."""
        access.alert_rule_for(self.user, uid).remove(by=self.user)
        return Response(status=204)


class AlertRuleSecret(ApiView):
    """What the webhook's calls are signed with."""

    scope = Scope.ADMIN
    serializer_class = SecretShape

    @describe(request=None, responses=SecretShape)
    def post(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """A new secret, shown this once; the one before signs nothing any more."""
        rule = access.alert_rule_for(self.user, uid)
        return Response({"webhook_secret": rule.replace_secret(by=self.user)})


def _rule_body(rule: AlertRule) -> dict[str, Any]:
    prefetch_related_objects([rule], "watches__run")
    return dict(AlertRuleShape(rule).data)


@contextmanager
def _refuse_duplicate() -> Iterator[None]:
    """Raise the problem 409 with the id of the rule that watches the same already."""
    try:
        yield
    except RuleExistsError as refused:
        text = " ".join(refused.messages)
        raise Problem(409, "rule_exists", text, object_id=refused.rule.uuid) from None


def _change(rule: AlertRule, wanted: dict[str, Any], by: User) -> None:
    is_paused = wanted.pop("paused", rule.is_paused)
    with _refuse_duplicate(), transaction.atomic():
        if wanted:
            rule.change(by=by, **wanted)
        if is_paused != rule.is_paused:
            (rule.pause if is_paused else rule.resume)(by=by)
