"""Alert rules and alerts as pages show them: where each stands, who is told, where it leads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef
from django.urls import reverse

from evalsite.templatetags.look import NOTHING
from scoring.engine.drift.names import LineName
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

#: How a state is shown: what a verdict it looks like, and its mark. The worst first.
LOOKS: Final = {
    WatchState.FIRING: ("fail", "✕"),
    WatchState.UNDECIDED: ("error", "!"),
    WatchState.FINE: ("pass", "✓"),
    WatchState.SILENT: ("skipped", NOTHING),
    WatchState.NEW: ("skipped", NOTHING),
}
MOST_FAILURES: Final = 500


class Stand(NamedTuple):
    """How many series of a rule are in a state; `sentence` is what was seen in one of them."""

    look: str
    mark: str
    words: str
    series: int
    sentence: str


class RuleRow(NamedTuple):
    """A rule in a list. `failure` is the newest message that did not arrive, None where all did."""

    rule: AlertRule
    stands: Sequence[Stand]
    drift_url: str
    tells: str
    failure: AlertDelivery | None


class AlertRow(NamedTuple):
    """An alert that is not over; `url` leads to the line it is about."""

    alert: Alert
    url: str


def rule_rows(rules: Iterable[AlertRule], *, with_failures: bool = True) -> list[RuleRow]:
    """The rules as they stand, with two queries for all of them, or one without failures."""
    rules = list(rules)
    watches: dict[int, list[AlertWatch]] = defaultdict(list)
    for watch in AlertWatch.objects.filter(rule__in=rules).order_by("series"):
        watches[watch.rule_id].append(watch)
    failures = {each.rule_id: each for each in _failures(rules)} if with_failures else {}
    return [
        RuleRow(
            rule,
            _stands(watches[rule.pk]),
            line_url(rule.dataset, rule.series, rule.scorer),
            told_by(rule),
            failures.get(rule.pk),
        )
        for rule in rules
    ]


def open_rows(alerts: Iterable[Alert]) -> list[AlertRow]:
    return [
        AlertRow(each, line_url(each.rule.dataset, each.series, each.rule.scorer))
        for each in alerts
    ]


def open_alerts(of: Team | Dataset, most: int | None = None) -> list[AlertRow]:
    """Those of the team or dataset that are not over, the newest first, at most so many."""
    whose = {"rule__team": of} if isinstance(of, Team) else {"rule__dataset": of}
    return open_rows(Alert.objects.of_living().unresolved().filter(**whose).for_list()[:most])


def on_lines(rows: Sequence[AlertRow], lines: Sequence[LineName]) -> list[list[AlertRow]]:
    """The alerts on each of the lines; one over all scorers is on the first of its series."""
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
    chosen = {name: text for name, text in (("scorer", scorer), ("series", series)) if text}
    query = f"?{urlencode(chosen)}" if chosen else ""
    return reverse("dataset_drift", args=[dataset.uuid]) + query


def told_by(rule: AlertRule, *, but_site: bool = False) -> str:
    """Whom a rule tells, in words; of a webhook its host alone."""
    count = len(rule.emails)
    ways = [
        "this site" if rule.by_site and not but_site else "",
        rule.emails[0] if count == 1 else f"{count} people by e-mail" if count else "",
        rule.webhook_host,
    ]
    return ", ".join(way for way in ways if way)


def _stands(watches: Sequence[AlertWatch]) -> list[Stand]:
    by_state: dict[str, list[AlertWatch]] = defaultdict(list)
    for watch in watches:
        by_state[watch.state].append(watch)
    return [
        Stand(*look, WatchState(state).label, len(by_state[state]), by_state[state][0].sentence)
        for state, look in LOOKS.items()
        if by_state[state]
    ]


def _failures(rules: Sequence[AlertRule]) -> list[AlertDelivery]:
    """The messages that did not arrive and no later one by the same way did, the newest last."""
    later = AlertDelivery.objects.filter(
        rule=OuterRef("rule"),
        channel=OuterRef("channel"),
        target=OuterRef("target"),
        state=DeliveryState.SENT,
        pk__gt=OuterRef("pk"),
    )
    failed = AlertDelivery.objects.filter(rule__in=rules).exclude(channel=Channel.SITE)
    failed = failed.exclude(state=DeliveryState.SENT).exclude(error="")
    newest = failed.exclude(Exists(later)).select_related("rule").order_by("-pk")[:MOST_FAILURES]
    return list(newest)[::-1]
