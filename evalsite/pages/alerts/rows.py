"""Rows of alert rules and alerts: states, channels and links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse

from evalsite.templatetags.formatting import NOTHING
from scoring.engine.drift.line_runs import LineName
from scoring.models import (
    Alert,
    AlertDelivery,
    AlertRule,
    AlertWatch,
    Channel,
    Dataset,
    DeliveryState,
    Team,
    WatchState,
)
from scoring.models.prepared_query import prepared_query

#: The verdict that a state looks like, and its mark; the worst first.
STATE_MARKS: Final = {
    WatchState.FIRING: ("fail", "✕"),
    WatchState.WARNING: ("error", "▲"),
    WatchState.UNDECIDED: ("error", "!"),
    WatchState.FINE: ("pass", "✓"),
    WatchState.SILENT: ("skipped", NOTHING),
    WatchState.NEW: ("skipped", NOTHING),
}
MAX_FAILURES: Final = 500


class StateCount(NamedTuple):
    """How many series of a rule are in a state; `sentence` describes one of them."""

    look: str
    mark: str
    label: str
    series: int
    sentence: str


class RuleRow(NamedTuple):
    """A rule in a list. `failure` is the latest message that was not delivered, None without."""

    rule: AlertRule
    states: Sequence[StateCount]
    drift_url: str
    channels: str
    failure: AlertDelivery | None


class AlertRow(NamedTuple):
    """An open alert; `url` is that of its line on the drift page."""

    alert: Alert
    url: str


def rule_rows(rules: Iterable[AlertRule], *, with_failures: bool = True) -> list[RuleRow]:
    """The rules with their states: two queries for all of them, or one without failures."""
    rules = list(rules)
    watches: dict[int, list[AlertWatch]] = defaultdict(list)
    for watch in AlertWatch.objects.filter(rule__in=rules).order_by("series"):
        watches[watch.rule_id].append(watch)
    failures = _find_failures(rules) if with_failures else {}
    return [
        RuleRow(
            rule,
            _count_states(watches[rule.pk]),
            line_url(rule.dataset, rule.series, rule.scorer),
            describe_channels(rule),
            failures.get(rule.pk),
        )
        for rule in rules
    ]


def alert_rows(alerts: Iterable[Alert]) -> list[AlertRow]:
    return [
        AlertRow(alert, line_url(alert.rule.dataset, alert.series, alert.rule.scorer))
        for alert in alerts
    ]


def list_open_alerts(owner: Team | Dataset, most: int | None = None) -> list[AlertRow]:
    """The open alerts of the team or dataset, the newest first, at most so many."""
    is_team = isinstance(owner, Team)
    return alert_rows(_open_alerts(owner.pk, is_team=is_team, most=most))


@prepared_query
def _open_alerts(owner: int, *, is_team: bool, most: int | None) -> QuerySet[Alert]:
    of_owner = {"rule__team" if is_team else "rule__dataset": owner}
    alerts = Alert.objects.unresolved().of_living().filter(**of_owner)
    return alerts.for_open_list()[:most]


def group_by_line(rows: Sequence[AlertRow], lines: Sequence[LineName]) -> list[list[AlertRow]]:
    """The alerts of each line; those over all scorers belong to the first line of the series."""
    firsts = {line.series: line for line in reversed(lines)}
    return [
        [
            row
            for row in rows
            if row.alert.series == line.series
            and (row.alert.rule.scorer or firsts[line.series].scorer) == line.scorer
        ]
        for line in lines
    ]


def line_url(dataset: Dataset, series: str, scorer: str) -> str:
    """The drift page of the dataset with what a rule watches."""
    query = {name: text for name, text in (("scorer", scorer), ("series", series)) if text}
    return reverse("dataset_drift", args=[dataset.uuid], query=query)


def describe_channels(rule: AlertRule, *, but_site: bool = False) -> str:
    """The rule's channels in words; a webhook by its host and last characters."""
    count = len(rule.emails)
    channels = [
        "this site" if rule.by_site and not but_site else "",
        rule.emails[0] if count == 1 else f"{count} people by e-mail" if count else "",
        rule.webhook_shown,
    ]
    return ", ".join(filter(None, channels))


def _count_states(watches: Sequence[AlertWatch]) -> list[StateCount]:
    by_state: dict[str, list[AlertWatch]] = defaultdict(list)
    for watch in watches:
        by_state[watch.state].append(watch)
    return [
        StateCount(
            *look, WatchState(state).label, len(by_state[state]), by_state[state][0].sentence
        )
        for state, look in STATE_MARKS.items()
        if by_state[state]
    ]


def _find_failures(rules: Sequence[AlertRule]) -> dict[int, AlertDelivery]:
    """The latest undelivered message of each rule, unless a later one by its channel arrived."""
    later = AlertDelivery.objects.filter(
        rule=OuterRef("rule"),
        channel=OuterRef("channel"),
        target=OuterRef("target"),
        state=DeliveryState.SENT,
        pk__gt=OuterRef("pk"),
    )
    failed = AlertDelivery.objects.filter(rule__in=rules).exclude(channel=Channel.SITE)
    failed = failed.exclude(state=DeliveryState.SENT).exclude(error="")
    newest = failed.exclude(Exists(later)).select_related("rule").order_by("-pk")[:MAX_FAILURES]
    return {delivery.rule_id: delivery for delivery in reversed(newest)}
