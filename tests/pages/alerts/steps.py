"""What tests of the alert pages share: a dataset with runs, rules over it and alerts of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from scoring.models import (
    Alert,
    AlertDelivery,
    AlertRule,
    AlertWatch,
    DatasetVersion,
    Member,
    Role,
    Team,
    User,
)
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week

BrowserOf = Callable[[User], Client]
MakeRule = Callable[..., AlertRule]
HOOK = "https://hooks.example.org/services/T0/B1xyz"
HOOK_SHOWN = "hooks.example.org …1xyz"


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    """Two runs of the series bot and one of the series other, by the scorer close."""
    version = make_dataset([{"key": f"q{number}"} for number in range(4)])
    for week, (series, letters) in enumerate([("bot", "pppp"), ("other", "pppf"), ("bot", "ppff")]):
        run_in_week(version, week, letters=letters, series=series)
    return version


@pytest.fixture
def administrator(browser_of: BrowserOf, alice: User) -> Client:
    return browser_of(alice)


@pytest.fixture
def viewer(browser_of: BrowserOf, bob: User) -> Client:
    return browser_of(bob)


@pytest.fixture
def reviewer(browser_of: BrowserOf, team: Team) -> Client:
    rita = User.objects.create_user("rita@example.org")
    Member.objects.create(team=team, user=rita, role=Role.REVIEWER)
    return browser_of(rita)


@pytest.fixture
def make_rule(team: Team, alice: User, version: DatasetVersion) -> MakeRule:
    """A rule over the dataset; unless told otherwise, for a mean below 0.8."""

    def make(**wanted: Any) -> AlertRule:
        usual = {"kind": "mean_below", "scorer": "close", "series": "bot", "limit": 0.8}
        if wanted.get("kind", "mean_below") != "mean_below":
            usual = {"series": "bot"}
        return AlertRule.objects.define(team, version.dataset, by=alice, **usual | wanted).rule

    return make


def fires(rule: AlertRule, sentence: str = "The mean fell to 0.5.", **fields: Any) -> Alert:
    return Alert.objects.create(rule=rule, sentence=sentence, **{"series": "bot"} | fields)


def over(alert: Alert) -> Alert:
    alert.resolved_at = timezone.now()
    alert.save()
    return alert


def sees(rule: AlertRule, series: str, state: str, sentence: str = "") -> None:
    """What the worker has seen of a series."""
    seen = {"state": state, "sentence": sentence}
    AlertWatch.objects.update_or_create(rule=rule, series=series, defaults=seen)


def tells(rule: AlertRule, **fields: Any) -> AlertDelivery:
    usual = {"channel": "webhook", "target": rule.webhook_target, "event": "opened"}
    return AlertDelivery.objects.create(rule=rule, happened_at=timezone.now(), **usual | fields)


def typed(**fields: Any) -> dict[str, Any]:
    """What a browser sends of the form: every kind's limit, whichever is chosen."""
    usual = {
        "series": "",
        "scorer": "close",
        "kind": "mean_below",
        "by_site": "on",
        "webhook_url": "",
        "renotify_hours": "24",
        "limit_mean_below": "0.8",
        "limit_pass_rate_below": "90",
        "limit_drop": "",
        "limit_regressions": "0",
        "limit_no_data": "8",
    }
    return usual | fields
