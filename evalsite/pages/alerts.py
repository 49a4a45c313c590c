"""Alerts: a team's rules, what fires now, who is told, and what a person does about it."""

from __future__ import annotations

import uuid
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from evalsite import access
from evalsite.pages.alert_rows import open_alerts, open_rows, rule_rows, told_by
from evalsite.pages.forms.alerts import AlertRuleForm, DatasetChoice
from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.methods import filling, posting, reading
from scoring.engine.alerts import send_test
from scoring.engine.alerts.desk import KEPT_FOR
from scoring.engine.progress import NO_WORKER, worker_is_alive
from scoring.models import Alert, AlertRule, DeliveryState, Event, Notice, Role, Team
from scoring.models.sealed import SealError, seal, unseal

MOST_PAST: Final = 50
MOST_TOLD: Final = 20


@reading
def alerts(request: SignedInRequest, slug: str) -> HttpResponse:
    """What fires in the team, its rules, and what has fired: notices of it are read here."""
    team = access.team_for(request.user, slug)
    if getattr(request.user, "has_notices", False):
        Notice.objects.filter(user=request.user, alert__rule__team=team).mark_read()
    past = Alert.objects.of_living().filter(rule__team=team).resolved().for_list()
    context = {
        "team": team,
        **access.granted(request.user, team),
        "open": open_alerts(team),
        "rows": rule_rows(AlertRule.objects.filter(team=team).for_list()),
        "past": list(past[:MOST_PAST]),
        "most_past": MOST_PAST,
        **_just_deleted(team, request.GET.get("undo")),
    }
    return show(request, "alert/list.html", context)


@filling
def new_alert_rule(request: SignedInRequest, slug: str) -> HttpResponse:
    """Make a rule over the dataset that the address names; it may name a line, too."""
    team = access.team_for(request.user, slug, Role.ADMIN)
    choice = DatasetChoice(request.GET, team=team)
    dataset = choice.chosen
    context: dict[str, Any] = {"team": team, "choice": choice, "dataset": dataset}
    if dataset is None:
        return show(request, "alert/new.html", context)
    form = AlertRuleForm(request.POST or None, dataset=dataset, asked=request.GET.dict())
    if form.is_valid() and (saved := form.save(request.user)):
        messages.success(request, "The rule watches from now on.")
        return _to_rule(request, *saved)
    status = 422 if form.errors else 200
    return show(request, "alert/new.html", context | {"form": form}, status=status)


@filling
def alert_rule(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """One rule: where it stands, its test, what was told, and its settings."""
    rule = access.alert_rule_for(request.user, uid)
    form = AlertRuleForm(request.POST or None, dataset=rule.dataset, rule=rule)
    if form.is_valid() and (saved := form.save(request.user)):
        messages.success(request, "Saved.")
        return _to_rule(request, *saved)
    context = _page(request, rule) | {"form": form}
    status = 422 if form.errors else 200
    return show(request, "alert/page.html", context, parts=["test"], status=status)


@posting
def pause_alert_rule(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    rule = access.alert_rule_for(request.user, uid)
    rule.pause(by=request.user)
    messages.success(request, "The rule is paused: it looks at nothing and tells nobody.")
    return _back(request, rule)


@posting
def resume_alert_rule(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    rule = access.alert_rule_for(request.user, uid)
    rule.resume(by=request.user)
    messages.success(request, "The rule watches again.")
    return _back(request, rule)


@posting
def delete_alert_rule(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Delete the rule, and offer to take that back on the list."""
    rule = access.alert_rule_for(request.user, uid)
    rule.remove(by=request.user)
    return redirect(f"{reverse('alerts', args=[rule.team.slug])}?undo={uid}")


@posting
def restore_alert_rule(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    rule = access.deleted_alert_rule_for(request.user, uid)
    try:
        rule.restore(by=request.user)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    else:
        messages.success(request, "The rule is back.")
    return redirect("alerts", rule.team.slug)


@posting
def alert_rule_secret(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Sign the webhook's calls with another secret, which the rule's page shows once."""
    rule = access.alert_rule_for(request.user, uid)
    try:
        secret = rule.replace_secret(by=request.user)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
        secret = ""
    return _to_rule(request, rule, secret)


@posting
def acknowledge_alert(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Say that somebody is at it, and stay on the page."""
    alert = access.alert_for(request.user, uid, Role.REVIEWER)
    try:
        alert.acknowledge(by=request.user)
    except ValidationError as refused:
        messages.info(request, " ".join(refused.messages))
    else:
        Notice.objects.filter(user=request.user, alert=alert).mark_read()
        messages.success(request, "Acknowledged: people are told once more when it is over.")
    return _back(request, alert.rule)


@posting
def test_alert_rule(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Let the worker send a message by each of the rule's ways."""
    rule = access.alert_rule_for(request.user, uid)
    if rule.webhook_url or rule.emails:
        send_test(rule, by=request.user)
    else:
        messages.info(request, "The rule has neither a webhook nor an address to try.")
    return redirect("alert_rule", uid)


def _page(request: SignedInRequest, rule: AlertRule) -> dict[str, Any]:
    told = list(rule.deliveries.for_list()[:MOST_TOLD])
    tests = [each for each in told if each.event == Event.TEST]
    latest = [each for each in tests if each.happened_at == tests[0].happened_at]
    (row,) = rule_rows([rule], with_failures=False)
    is_testing = any(each.state == DeliveryState.WAITING and not each.error for each in latest)
    return {
        "team": rule.team,
        "rule": rule,
        "row": row,
        "secret": _secret_once(request, rule),
        "open": open_rows(rule.alerts.unresolved().for_list()),
        "may_review": True,  # as an admin does
        "told": told,
        "tests": latest,
        "is_testing": is_testing,
        "test_targets": told_by(rule, but_site=True),
        "cause": NO_WORKER if is_testing and not worker_is_alive() else None,
    }


def _to_rule(request: SignedInRequest, rule: AlertRule, secret: str) -> HttpResponse:
    """On to the rule's page, which shows a new secret once; until then it is kept sealed."""
    if secret:
        request.session[_key(rule)] = seal(secret, _key(rule))
    return redirect("alert_rule", rule.uuid)


def _secret_once(request: SignedInRequest, rule: AlertRule) -> str:
    if request.method == "POST" or _key(rule) not in request.session:
        return ""
    with suppress(SealError):
        return unseal(request.session.pop(_key(rule)), _key(rule))
    return ""


def _key(rule: AlertRule) -> str:
    return f"alert_secret:{rule.uuid}"


def _back(request: SignedInRequest, rule: AlertRule) -> HttpResponse:
    """To the page the act was asked for on, else to the team's alerts."""
    wanted = request.POST.get("next", "")
    is_own = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None)
    return redirect(wanted) if wanted and is_own else redirect("alerts", rule.team.slug)


def _just_deleted(team: Team, named: str | None) -> dict[str, object]:
    """The rule that the list is shown after the deletion of."""
    with suppress(forms.ValidationError):
        if uid := forms.UUIDField(required=False).clean(named):
            deleted = AlertRule.with_deleted.deleted().filter(team=team, uuid=uid)
            rule = deleted.select_related("dataset").first()
            return {"deleted": rule, "kept_until": rule and _kept_until(rule)}
    return {}


def _kept_until(rule: AlertRule) -> datetime | None:
    """When a deleted rule is gone for good."""
    return rule.deleted_at + KEPT_FOR if rule.deleted_at else None
