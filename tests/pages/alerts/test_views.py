"""A team's alerts: what fires, its rules, what has fired, and what people do about them."""

from __future__ import annotations

from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from scoring.models import (
    Alert,
    AlertDelivery,
    AlertRule,
    AuditEntry,
    DatasetVersion,
    Run,
    Team,
    User,
)
from tests.pages.alerts.steps import (
    HOOK,
    HOOK_SHOWN,
    BrowserOf,
    MakeRule,
    administrator,
    fires,
    make_rule,
    over,
    reviewer,
    sees,
    tells,
    version,
    viewer,
)
from tests.support.undone import undone

__all__ = ["administrator", "make_rule", "reviewer", "version", "viewer"]  # fixtures

MAX_QUERIES = 12


def page_of(browser: Client, query: str = "") -> str:
    html = unescape(browser.get(reverse("alerts", args=["support"]) + query).text)
    return " ".join(html.split())


def do(browser: Client, name: str, row: AlertRule | Alert, **sent: str) -> int:
    return browser.post(reverse(name, args=[row.uuid]), sent).status_code


def test_an_empty_team_reads_in_a_sentence_what_a_rule_is(
    administrator: Client, viewer: Client
) -> None:
    made, read = page_of(administrator), page_of(viewer)
    drift = reverse("team_drift", args=["support"])
    for html in (made, read):
        assert f'watches a line of the <a href="{drift}">drift page</a> and tells you' in html
    new = reverse("new_alert_rule", args=["support"])
    assert new in made
    assert new not in read
    assert "an admin of the team makes one" in read


def test_what_fires_stands_with_its_run_and_leads_to_its_line(
    viewer: Client, make_rule: MakeRule, version: DatasetVersion
) -> None:
    run = Run.objects.get(name="w2")
    fires(make_rule(), "The mean fell to 0.5.", run=run, opened_at=timezone.now())
    html = page_of(viewer)
    assert "The mean fell to 0.5." in html
    assert ">firing<" in html
    line = f"{reverse('dataset_drift', args=[version.dataset.uuid])}?scorer=close&series=bot"
    assert f'href="{line}"' in html
    assert reverse("run", args=[run.uuid]) in html
    assert "No active alerts." not in html


def test_an_undecided_alert_is_never_said_to_be_fine(viewer: Client, make_rule: MakeRule) -> None:
    rule = make_rule()
    fires(rule, state="undecided", note="Since w3 it cannot be told: 3 errors of 4.")
    sees(rule, "bot", "undecided", "3 errors of 4.")
    html = page_of(viewer)
    assert ">undecided<" in html
    assert "Since w3 it cannot be told: 3 errors of 4." in html
    assert "fine" not in html


def test_rules_stand_with_what_they_saw_of_each_series_the_worst_first(
    viewer: Client, make_rule: MakeRule
) -> None:
    rule = make_rule(series="")
    for series, state in (("bot", "fine"), ("other", "firing"), ("third", "fine")):
        sees(rule, series, state, f"Seen in {series}.")
    html = page_of(viewer)
    assert "Mean of close below 0.8" in html
    assert html.index("Seen in other.") < html.index("Seen in bot.")
    assert "2 series" in html
    assert "No active alerts." in html


def test_what_is_over_moves_to_the_past(viewer: Client, make_rule: MakeRule) -> None:
    over(fires(make_rule(), resolved_by_run=Run.objects.get(name="w2")))
    html = page_of(viewer)
    assert "No active alerts." in html
    assert html.index("Past alerts") < html.index("The mean fell to 0.5.")


def test_the_latest_fifty_of_the_past_are_kept_in_sight(
    viewer: Client, make_rule: MakeRule
) -> None:
    rule, now = make_rule(), timezone.now()
    Alert.objects.bulk_create(
        Alert(rule=rule, sentence=f"Fall {n}.", resolved_at=now - timedelta(hours=n))
        for n in range(51)
    )
    html = page_of(viewer)
    assert "the latest 50" in html
    assert "Fall 49." in html
    assert "Fall 50." not in html


def test_a_webhook_is_named_by_its_host_and_last_characters(
    viewer: Client, make_rule: MakeRule
) -> None:
    make_rule(webhook_url=HOOK, emails=["alice@example.org"])
    html = page_of(viewer)
    assert f"this site, alice@example.org, {HOOK_SHOWN}" in html
    assert "/services/" not in html


def test_a_message_that_did_not_arrive_says_why_until_a_later_one_does(
    viewer: Client, make_rule: MakeRule
) -> None:
    rule = make_rule(webhook_url=HOOK)
    tells(rule, state="waiting", error="it answered 500")
    assert "not sent yet" in page_of(viewer)
    tells(rule, state="failed", error="it answered 404")
    tells(rule, state="sent", channel="email", target="alice@example.org")
    html = page_of(viewer)
    assert "it answered 404" in html
    assert "it answered 500" not in html
    tells(rule, state="sent")
    assert "not sent" not in page_of(viewer)


def test_a_rules_page_lists_its_messages_with_their_last_error(
    administrator: Client, make_rule: MakeRule
) -> None:
    rule = make_rule(webhook_url=HOOK)
    tells(rule, state="failed", error="it answered \x07 500")
    html = administrator.get(reverse("alert_rule", args=[rule.uuid])).text
    assert HOOK_SHOWN in html
    assert "/services/" not in html
    assert '<span class="invisible"' in html


def test_a_rule_is_paused_and_resumed_where_one_is(
    administrator: Client, viewer: Client, make_rule: MakeRule
) -> None:
    rule = make_rule()
    url = reverse("alert_rule", args=[rule.uuid])
    paused = administrator.post(reverse("pause_alert_rule", args=[rule.uuid]), {"next": url})
    assert paused["Location"] == url
    assert AlertRule.objects.get().is_paused
    assert "paused" in page_of(viewer)
    away = {"next": "https://elsewhere.example/"}
    resumed = administrator.post(reverse("resume_alert_rule", args=[rule.uuid]), away)
    assert resumed["Location"] == reverse("alerts", args=["support"])
    assert not AlertRule.objects.get().is_paused
    actions = AuditEntry.objects.values_list("action", flat=True)
    assert {"alert_rule.paused", "alert_rule.resumed"} <= set(actions)


def test_an_open_alert_says_that_its_rule_is_paused(viewer: Client, make_rule: MakeRule) -> None:
    rule = make_rule()
    fires(rule)
    said = "its rule is paused: nobody looks"
    assert said not in page_of(viewer)
    rule.pause(by=None)
    assert page_of(viewer).count(said) == 1
    rule.resume(by=None)
    assert said not in page_of(viewer)


def test_a_rule_is_deleted_and_brought_back(
    administrator: Client, viewer: Client, make_rule: MakeRule
) -> None:
    rule = make_rule()
    fires(rule)
    deleted = administrator.post(reverse("delete_alert_rule", args=[rule.uuid]), follow=True)
    restore = reverse("restore_alert_rule", args=[rule.uuid])
    assert f'action="{restore}"' in deleted.text
    assert "You can restore it until" in deleted.text
    assert "The mean fell" not in deleted.text
    assert not AlertRule.objects.exists()
    assert administrator.get(reverse("alert_rule", args=[rule.uuid])).status_code == 404
    assert restore not in page_of(viewer, f"?undo={rule.uuid}")
    back = administrator.post(restore, follow=True)
    assert "The mean fell" in back.text
    assert administrator.post(restore).status_code == 404


def test_a_deleted_rule_stays_away_while_another_watches_the_same(
    administrator: Client, make_rule: MakeRule
) -> None:
    rule = make_rule()
    rule.remove(by=None)
    twin = make_rule()
    refused = administrator.post(reverse("restore_alert_rule", args=[rule.uuid]), follow=True)
    assert f"The rule “{twin}” watches just this already: change that one." in refused.text
    assert list(AlertRule.objects.all()) == [twin]
    twin.remove(by=None)
    back = administrator.post(reverse("restore_alert_rule", args=[rule.uuid]), follow=True)
    assert "The rule is back." in back.text


def test_nothing_is_undone_that_was_not_deleted(
    administrator: Client, make_rule: MakeRule, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["", "nobody", "01890000-0000-7000-8000-000000000000"]
    for named in cases:
        with subtests.test(named=named), undone():
            make_rule()
            assert "Undo" not in page_of(administrator, f"?undo={named}")


def test_a_test_is_sent_by_the_worker_and_its_end_is_shown(
    administrator: Client, make_rule: MakeRule, bob: User
) -> None:
    rule = make_rule(webhook_url=HOOK, emails=[bob.email])
    url = reverse("alert_rule", args=[rule.uuid])
    act = reverse("test_alert_rule", args=[rule.uuid])
    assert administrator.post(act)["Location"] == url
    waiting = administrator.get(url).text
    assert f"Sending to bob@example.org, {HOOK_SHOWN}." in waiting
    assert "no worker" in waiting
    assert act not in waiting
    by_mail, by_hook = rule.deliveries.order_by("channel")
    tried(by_mail, state="waiting", error="no mail is set up on this site (EVALSITE_MAIL_HOST)")
    assert 'hx-trigger="every 500ms"' in administrator.get(url).text
    tried(by_hook, state="sent")
    headers = {"HX-Request": "true", "HX-Target": "test"}
    ended = administrator.get(url, headers=headers).text
    assert ended.lstrip().startswith('<section class="section" id="test"')
    assert f"Sent to {HOOK_SHOWN}." in ended
    assert "Not sent to bob@example.org: no mail is set up on this site" in ended
    assert "hx-get" not in ended
    assert act in ended
    assert AuditEntry.objects.filter(action="alert_rule.tested").count() == 1


def test_only_the_latest_test_is_shown(administrator: Client, make_rule: MakeRule) -> None:
    rule = make_rule(webhook_url=HOOK)
    tells(rule, event="test", state="failed", error="it answered 500")
    tells(rule, event="test", state="sent")
    html = administrator.get(reverse("alert_rule", args=[rule.uuid])).text
    test = html.partition('id="test"')[2].partition("</section>")[0]
    assert f"Sent to {HOOK_SHOWN}." in test
    assert "it answered" not in test


def test_a_rule_that_tells_in_the_site_alone_has_nothing_to_test(
    administrator: Client, make_rule: MakeRule
) -> None:
    rule = make_rule()
    html = administrator.get(reverse("alert_rule", args=[rule.uuid])).text
    assert "this rule has neither" in html
    assert reverse("test_alert_rule", args=[rule.uuid]) not in html
    answer = administrator.post(reverse("test_alert_rule", args=[rule.uuid]), follow=True)
    assert "neither a webhook nor an address" in answer.text
    assert not rule.deliveries.exists()


def tried(delivery: AlertDelivery, **fields: str) -> None:
    AlertDelivery.objects.filter(pk=delivery.pk).update(try_count=1, **fields)


def test_a_reviewer_acknowledges_and_stays_on_the_page(
    reviewer: Client, viewer: Client, make_rule: MakeRule
) -> None:
    alert = fires(make_rule())
    act = f'action="{reverse("acknowledge_alert", args=[alert.uuid])}"'
    assert act in page_of(reviewer)
    assert act not in page_of(viewer)
    assert do(viewer, "acknowledge_alert", alert) == 403
    home = reverse("team_home", args=["support"])
    answer = reviewer.post(
        reverse("acknowledge_alert", args=[alert.uuid]), {"next": home}, follow=True
    )
    assert answer.redirect_chain == [(home, 302)]
    assert "acknowledged by rita@example.org" in page_of(viewer)
    said = AuditEntry.objects.get(action="alert.acknowledged")
    assert said.actor == Alert.objects.get().acknowledged_by


def test_an_alert_that_is_over_cannot_be_acknowledged(
    reviewer: Client, make_rule: MakeRule
) -> None:
    alert = over(fires(make_rule()))
    answer = reviewer.post(reverse("acknowledge_alert", args=[alert.uuid]), follow=True)
    assert "The alert is over: there is nothing to acknowledge." in answer.text


def test_a_reviewer_changes_no_rule(reviewer: Client, make_rule: MakeRule) -> None:
    rule = make_rule()
    for name in ("pause_alert_rule", "delete_alert_rule", "alert_rule_secret", "alert_rule"):
        assert do(reviewer, name, rule) == 403
    assert reviewer.get(reverse("alert_rule", args=[rule.uuid])).status_code == 403
    assert reverse("alert_rule", args=[rule.uuid]) not in page_of(reviewer)


def test_another_team_is_told_of_nothing(
    browser_of: BrowserOf, charlie: User, make_rule: MakeRule, version: DatasetVersion
) -> None:
    rule = make_rule()
    alert, browser = fires(rule), browser_of(charlie)
    assert do(browser, "acknowledge_alert", alert) == 404
    assert do(browser, "delete_alert_rule", rule) == 404
    elsewhere = reverse("new_alert_rule", args=["elsewhere"])
    theirs = browser.get(f"{elsewhere}?dataset={version.dataset.uuid}")
    assert "No such dataset" in theirs.text
    assert version.dataset.name not in theirs.text
    rule.remove(by=charlie)
    undo = browser.get(f"{reverse('alerts', args=['elsewhere'])}?undo={rule.uuid}")
    assert "is deleted" not in undo.text


def test_a_team_without_a_dataset_is_told_to_upload_one(
    browser_of: BrowserOf, charlie: User
) -> None:
    answer = browser_of(charlie).get(reverse("new_alert_rule", args=["elsewhere"]))
    assert "Nothing to watch yet" in answer.text


def test_pages_cost_the_same_for_one_rule_as_for_fifty(
    administrator: Client, make_rule: MakeRule, team: Team
) -> None:
    costs = []
    for numbers in (range(1, 2), range(2, 51)):
        for number in numbers:
            rule = make_rule(webhook_url=HOOK, limit=number / 100)
            fires(rule)
            over(fires(rule, series="other"))
            sees(rule, "bot", "firing")
            tells(rule, state="failed", error="it answered 500")
        urls = [reverse("alerts", args=[team.slug]), reverse("alert_rule", args=[rule.uuid])]
        costs.append([queries(administrator, url) for url in urls])
    assert costs[0] == costs[1]
    assert max(costs[0]) <= MAX_QUERIES


def queries(browser: Client, url: str) -> int:
    browser.get(url)
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(url).status_code == 200
    return len(captured)
