"""`manage.py alerts` prints what the page of alerts shows."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from django.utils import timezone

from scoring.models import Alert, AlertRule, DatasetVersion, User
from tests.support.commands import call
from tests.support.fixtures.alert_rules import BAD, MakeRule, make_rule, version, week

__all__ = ["make_rule", "version"]

OPENED = datetime(2026, 3, 2, 6, 10, tzinfo=UTC)


def alerts(*words: str) -> str:
    code, text = call("alerts", *words)
    assert code == 0, text
    return text


@pytest.fixture
def rule(version: DatasetVersion, make_rule: MakeRule) -> AlertRule:
    """With an alert that fires over the series a."""
    made = make_rule()
    week(version, 1, BAD)
    Alert.objects.update(opened_at=OPENED)
    return made


LINE = (
    "firing     2026-03-02 06:10  Answers · a: The pass rate is 25.0 % in w1 (n = 20), below 80 %."
)


def test_open_alerts_are_lines(rule: AlertRule, bob: User) -> None:
    Alert.objects.create(
        rule=rule, series="b", state="undecided", sentence="No figure.", opened_at=OPENED
    )
    gone = {"resolved_at": timezone.now(), "opened_at": OPENED}
    Alert.objects.create(rule=rule, series="c", sentence="Low.", note="Fine.", **gone)
    undecided = "undecided  2026-03-02 06:10  Answers · b: No figure."
    assert sorted(alerts().splitlines()) == [LINE, undecided]
    assert alerts("--state", "firing") == f"{LINE}\n"
    assert alerts("--state", "undecided") == f"{undecided}\n"
    assert alerts("--state", "resolved").startswith("resolved   2026-03-02 06:10  Answers · c: ")
    Alert.objects.firing().get().acknowledge(by=bob)
    assert alerts("--state", "firing") == f"{LINE} (acknowledged by bob@example.org)\n"


def test_json_has_the_fields_of_a_message(rule: AlertRule) -> None:
    (row,) = json.loads(alerts("--json"))
    assert row["rule"]["condition"] == "pass rate below 80\u202f%"
    assert (row["alert"]["state"], row["alert"]["value"]) == ("firing", 0.25)
    assert (row["run"]["name"], row["baseline"], row["series"]) == ("w1", None, "a")


def test_where_there_is_nothing_it_says_so(rule: AlertRule) -> None:
    rule.remove(by=None)
    assert alerts() == "There is no such alert.\n"
    assert json.loads(alerts("--json")) == []


def test_another_teams_alerts_are_not_told(rule: AlertRule, charlie: User) -> None:
    assert alerts("--team", "elsewhere") == "There is no such alert.\n"


@pytest.mark.parametrize("words", [["--state", "sometimes"], ["--team", "nowhere"]])
def test_bad_use_ends_with_2(rule: AlertRule, words: list[str]) -> None:
    assert call("alerts", *words)[0] in (1, 2)
