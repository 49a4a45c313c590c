"""What fires is seen where people look: on home, on the drift line, on the run's page."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import Alert, DatasetVersion, Notice, Run, User
from tests.pages.alerts.steps import (
    MakeRule,
    administrator,
    fires,
    make_rule,
    over,
    reviewer,
    version,
    viewer,
)
from tests.support.drift_runs import run_in_week, scorer_of
from tests.support.html import on_one_line

__all__ = ["administrator", "make_rule", "reviewer", "version", "viewer"]  # fixtures


@pytest.fixture
def latest(version: DatasetVersion) -> Run:
    """The latest run of the series bot, seen by two scorers."""
    both = [scorer_of(version, "close"), scorer_of(version, "same")]
    return run_in_week(version, 3, 0.5, "ffff", series="bot", scorers=both)


@pytest.fixture
def alert(make_rule: MakeRule, latest: Run) -> Alert:
    return fires(make_rule(), run=latest)


def drift_of(browser: Client, version: DatasetVersion, query: str = "") -> str:
    url = reverse("dataset_drift", args=[version.dataset.uuid])
    return unescape(on_one_line(browser.get(f"{url}{query}").text))


def line(html: str, scorer: str) -> str:
    """The part of a drift page about this scorer, one series being shown."""
    sections = html.split('<section class="section"')
    (found,) = [each for each in sections if re.search(rf"<h2 [^>]*>{scorer}</h2>", each)]
    return found


def acknowledging(alert: Alert) -> str:
    return f'action="{reverse("acknowledge_alert", args=[alert.uuid])}"'


def test_home_names_what_fires_first(reviewer: Client, alert: Alert) -> None:
    html = reviewer.get(reverse("team_home", args=["support"])).text
    assert html.index("Needs attention") < html.index("The mean fell to 0.5.")
    assert acknowledging(alert) in html
    over(alert)
    assert "The mean fell" not in reviewer.get(reverse("team_home", args=["support"])).text


def test_home_names_no_more_than_eight(viewer: Client, make_rule: MakeRule) -> None:
    for number in range(9):
        fires(make_rule(limit=0.1 + number / 10), f"Fall {number}.")
    html = viewer.get(reverse("team_home", args=["support"])).text
    assert html.count('id="alert-') == 8


def test_a_line_says_what_fires_and_marks_its_run(
    viewer: Client, version: DatasetVersion, alert: Alert, latest: Run
) -> None:
    html = drift_of(viewer, version, "?series=bot")
    close, same = line(html, "close"), line(html, "same")
    assert "The mean fell to 0.5." in close
    assert "The mean fell to 0.5." not in same
    (mark,) = re.findall(r"<a [^>]*data-drift-mark[^>]*>(?:(?!</a>).)*drift-flag.*?</a>", close)
    assert reverse("run", args=[latest.uuid]) in mark
    assert "an alert fires" in mark
    assert "drift-flag" not in same


def test_an_alert_over_all_scorers_stands_once_a_series(
    viewer: Client, version: DatasetVersion, make_rule: MakeRule, latest: Run
) -> None:
    fires(make_rule(kind="drop"), "Two cases broke.", run=latest)
    html = drift_of(viewer, version, "?series=bot")
    assert html.count("Two cases broke.") == 1
    assert "Two cases broke." not in drift_of(viewer, version, "?series=other")
    assert "about all scorers" in line(html, "close")


def test_a_line_leads_an_admin_to_a_rule_about_it(
    administrator: Client, viewer: Client, version: DatasetVersion
) -> None:
    html = drift_of(administrator, version, "?series=bot")
    (url,) = re.findall(r'href="([^"]*)">Create alert', html)
    form = administrator.get(url).context["form"]
    assert form.dataset == version.dataset
    assert (form["series"].value(), form["scorer"].value()) == ("bot", "close")
    assert "Alert me" not in drift_of(viewer, version, "?series=bot")


def test_the_runs_page_says_that_it_fired_and_that_it_is_over(
    reviewer: Client, alert: Alert, latest: Run
) -> None:
    url = reverse("run", args=[latest.uuid])
    assert "Alert: The mean fell to 0.5." in reviewer.get(url).text
    assert acknowledging(alert) in reviewer.get(url).text
    over(alert)
    assert "Alert, over now: The mean fell to 0.5." in reviewer.get(url).text
    assert acknowledging(alert) not in reviewer.get(url).text
    alert.rule.remove(by=None)
    assert "The mean fell" not in reviewer.get(url).text


def test_more_than_two_alerts_take_one_line_of_the_runs_page(
    reviewer: Client, make_rule: MakeRule, latest: Run
) -> None:
    url = reverse("run", args=[latest.uuid])
    alerts = [fires(make_rule(limit=limit), run=latest) for limit in (0.7, 0.8)]
    assert "notice-fold" not in reviewer.get(url).text
    alerts.append(fires(make_rule(limit=0.9), run=latest))
    over(alerts[0])
    html = on_one_line(reviewer.get(url).text)
    assert "<summary> 3 alerts about this run: 2 not over, 1 over </summary>" in html
    assert [acknowledging(each) in html for each in alerts] == [False, True, True]


def test_an_alert_names_its_rule_and_leads_to_it(
    administrator: Client, viewer: Client, alert: Alert, version: DatasetVersion
) -> None:
    rules = reverse("alerts", args=["support"])
    own, listed = reverse("alert_rule", args=[alert.rule.uuid]), f"{rules}#rule-{alert.rule.uuid}"
    drift = reverse("dataset_drift", args=[version.dataset.uuid])
    for url in (
        rules,
        drift,
        reverse("team_home", args=["support"]),
        reverse("run", args=[alert.run.uuid]),
    ):
        named = f'<a href="{{}}">{alert.rule.condition}</a>'
        assert named.format(own) in administrator.get(url).text
        assert named.format(listed) in viewer.get(url).text
    over(alert)
    assert f'<a href="{own}">{alert.rule.condition}</a>' in administrator.get(rules).text
    assert f'id="rule-{alert.rule.uuid}"' in viewer.get(rules).text


@pytest.mark.parametrize("reads", ["alerts", "acknowledge_alert"])
def test_a_notice_is_read_where_its_alert_is_looked_at(
    reviewer: Client, alert: Alert, bob: User, reads: str
) -> None:
    rita = User.objects.get(email="rita@example.org")
    for person in (rita, bob):
        Notice.objects.create(user=person, alert=alert, text="The mean fell.")
    if reads == "alerts":
        html = reviewer.get(reverse("alerts", args=["support"])).text
        assert "Dismiss: The mean fell." not in html
    else:
        reviewer.post(reverse(reads, args=[alert.uuid]))
    assert [each.user for each in Notice.objects.filter(read_at=None)] == [bob]


def test_a_notice_of_an_alert_leads_to_its_series(
    viewer: Client, bob: User, alert: Alert, version: DatasetVersion
) -> None:
    Notice.objects.create(user=bob, alert=alert, text="The mean fell.")
    series = f"{reverse('dataset_drift', args=[version.dataset.uuid])}?series=bot"
    assert f'<a href="{series}">The mean fell.</a>' in viewer.get(reverse("notices")).text
