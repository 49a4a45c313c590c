"""Alerts: a team's rules, open alerts, their channels and acknowledgement."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.pages.alerts.forms import AlertRuleForm, DatasetChoice
from evalsite.pages.alerts.rows import alert_rows, describe_channels, list_open_alerts, rule_rows
from evalsite.pages.web.addresses import next_address
from evalsite.pages.web.decorators import form_page, get_page, post_action
from evalsite.pages.web.one_time_secret import keep_secret, take_secret
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.alerts import queue_test_message
from scoring.engine.alerts.runner import RULE_RETENTION
from scoring.engine.runs.progress import find_worker_problem
from scoring.models import Alert, AlertRule, DeliveryState, Event, Notice, Role, Team, WorkQueue

MAX_PAST: Final = 50
MAX_DELIVERIES: Final = 20


@get_page
def alerts(request: SignedInRequest, slug: str) -> HttpResponse:
    """A team's open alerts, rules and past alerts; marks the notices of them as read."""
    team = access.team_for(request.user, slug)
    if getattr(request.user, "has_notices", False):
        Notice.objects.filter(user=request.user, alert__rule__team=team).mark_read()
    past = Alert.objects.of_living().filter(rule__team=team).resolved().for_list()
    context = {
        "team": team,
        **access.permissions(request.user, team),
        "open": list_open_alerts(team),
        "rows": rule_rows(AlertRule.objects.filter(team=team).for_list()),
        "past": list(past[:MAX_PAST]),
        "most_past": MAX_PAST,
        **_just_deleted(team, request.GET.get("undo")),
    }
    return render_page(request, "alerts/list.html", context)


@form_page
def new_alert_rule(request: SignedInRequest, slug: str) -> HttpResponse:
    """Make a rule for the dataset that the address names; it may name a series and scorer, too."""
    team = access.team_for(request.user, slug, Role.ADMIN)
    choice = DatasetChoice(request.GET, team=team)
    dataset = choice.chosen
    context: dict[str, Any] = {"team": team, "choice": choice, "dataset": dataset}
    if dataset is None:
        return render_page(request, "alerts/new.html", context)
    form = AlertRuleForm(request.POST or None, dataset=dataset, query=request.GET.dict())
    if "preview" in request.POST:
        return _preview_rule(request, "alerts/new.html", form, context)
    if form.is_valid() and (saved := form.save(request.user)):
        messages.success(request, "Rule created.")
        return _redirect_to_rule(request, *saved)
    status = 422 if form.errors else 200
    return render_page(request, "alerts/new.html", context | {"form": form}, status=status)


@form_page
def alert_rule(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """One rule: its state, test, deliveries and settings."""
    rule = access.alert_rule_for(request.user, uid)
    form = AlertRuleForm(request.POST or None, dataset=rule.dataset, rule=rule)
    if "preview" in request.POST:
        return _preview_rule(request, "alerts/page.html", form, _rule_context(request, rule))
    if form.is_valid() and (saved := form.save(request.user)):
        messages.success(request, "Saved.")
        return _redirect_to_rule(request, *saved)
    context = _rule_context(request, rule) | {"form": form}
    status = 422 if form.errors else 200
    return render_page(request, "alerts/page.html", context, parts=["test"], status=status)


@post_action
def pause_alert_rule(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    rule = access.alert_rule_for(request.user, uid)
    rule.pause(by=request.user)
    messages.success(request, "The rule is paused: it looks at nothing and tells nobody.")
    return _redirect_back(request, rule)


@post_action
def resume_alert_rule(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    rule = access.alert_rule_for(request.user, uid)
    rule.resume(by=request.user)
    messages.success(request, "The rule watches again.")
    return _redirect_back(request, rule)


@post_action
def delete_alert_rule(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Delete the rule; the list offers to undo that."""
    rule = access.alert_rule_for(request.user, uid)
    rule.remove(by=request.user)
    return redirect(f"{reverse('alerts', args=[rule.team.slug])}?undo={uid}")


@post_action
def restore_alert_rule(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    rule = access.deleted_alert_rule_for(request.user, uid)
    try:
        rule.restore(by=request.user)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    else:
        messages.success(request, "The rule is back.")
    return redirect("alerts", rule.team.slug)


@post_action
def alert_rule_secret(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Replace the secret that signs the webhook's calls; the rule's page shows the new one once."""
    rule = access.alert_rule_for(request.user, uid)
    try:
        secret = rule.replace_secret(by=request.user)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
        secret = ""
    return _redirect_to_rule(request, rule, secret)


@post_action
def acknowledge_alert(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Acknowledge an alert and stay on the page."""
    alert = access.alert_for(request.user, uid, Role.REVIEWER)
    try:
        alert.acknowledge(by=request.user)
    except ValidationError as refused:
        messages.info(request, " ".join(refused.messages))
    else:
        Notice.objects.filter(user=request.user, alert=alert).mark_read()
        messages.success(request, "Acknowledged: people are told once more when it is over.")
    return _redirect_back(request, alert.rule)


@post_action
def test_alert_rule(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Let the worker send a test message by each of the rule's channels."""
    rule = access.alert_rule_for(request.user, uid)
    if rule.has_webhook or rule.emails:
        queue_test_message(rule, by=request.user)
    else:
        messages.info(request, "The rule has neither a webhook nor an address to try.")
    return redirect("alert_rule", uid)


def _preview_rule(
    request: SignedInRequest, page: str, form: AlertRuleForm, context: dict[str, Any]
) -> HttpResponse:
    """The form again, with the runs on which the rule would have fired; nothing is saved."""
    form.is_valid()
    past_runs = form.past_runs()
    context |= {"form": form, "past_runs": past_runs, "problems": form.watch_problems}
    if not request.headers.get("HX-Request"):
        form.ask_for_url_again()
    return render_page(request, page, context, parts=["past_runs"])


def _rule_context(request: SignedInRequest, rule: AlertRule) -> dict[str, Any]:
    deliveries = list(rule.deliveries.for_list()[:MAX_DELIVERIES])
    tests = [delivery for delivery in deliveries if delivery.event == Event.TEST]
    latest = [test for test in tests if test.happened_at == tests[0].happened_at]
    (row,) = rule_rows([rule], with_failures=False)
    is_testing = any(test.state == DeliveryState.WAITING and not test.error for test in latest)
    return {
        "team": rule.team,
        "rule": rule,
        "row": row,
        "secret": take_secret(request, _secret_key(rule)),
        "open": alert_rows(rule.alerts.unresolved().for_list()),
        "may_review": True,  # only admins come here
        "deliveries": deliveries,
        "tests": latest,
        "is_testing": is_testing,
        "test_targets": describe_channels(rule, but_site=True),
        "cause": (is_testing and find_worker_problem(WorkQueue.JOBS)) or None,
    }


def _redirect_to_rule(request: SignedInRequest, rule: AlertRule, secret: str) -> HttpResponse:
    """Redirect to the rule's page, which shows a new secret once."""
    if secret:
        keep_secret(request, _secret_key(rule), secret)
    return redirect("alert_rule", rule.uuid)


def _secret_key(rule: AlertRule) -> str:
    return f"alert_secret:{rule.uuid}"


def _redirect_back(request: SignedInRequest, rule: AlertRule) -> HttpResponse:
    """Redirect to the page that the form stands on, else to the team's alerts."""
    return redirect(next_address(request, reverse("alerts", args=[rule.team.slug])))


def _just_deleted(team: Team, uid: str | None) -> dict[str, object]:
    """The rule that was just deleted, and until when it can be restored."""
    if not uid:
        return {}
    with suppress(ValidationError):  # raised for what is not a UUID
        deleted = AlertRule.with_deleted.deleted().filter(team=team, uuid=uid)
        rule = deleted.select_related("dataset").first()
        if rule and rule.deleted_at:
            return {"deleted": rule, "kept_until": rule.deleted_at + RULE_RETENTION}
    return {}
