"""Alerts in the browser: a rule made from a drift line, tested, fired, acknowledged and undone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from scoring.engine.alerts import delivery as sending
from scoring.engine.alerts import tick
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.models import Alert, AlertDelivery, AlertRule, DatasetVersion, Run, Team, User
from tests.browser.actions import HANDS, ByKeys, ByMouse
from tests.browser.compare_steps import in_both_schemes, stays
from tests.browser.walk import Walk, forgive_422
from tests.conftest import MakeDataset
from tests.engine.alerts.webhook_receiver import Receiver
from tests.support.drift_runs import run_in_week
from tests.support.waiting import DEADLINE_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def work() -> None:
    """What the worker would do, in a thread as there: this one has the browser's event loop."""
    with ThreadPool(1) as threads:
        threads.submit(tick).result(DEADLINE_SECONDS)
        for delivery in AlertDelivery.objects.due():
            threads.submit(sending.deliver, delivery).result(DEADLINE_SECONDS)


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{number}"} for number in range(4)], "Support answers")


@pytest.fixture
def runs(version: DatasetVersion) -> list[Run]:
    means = [0.9, 0.9, 0.5]
    return [run_in_week(version, week, mean, "pppf") for week, mean in enumerate(means)]


@pytest.fixture
def rule(team: Team, alice: User, version: DatasetVersion, runs: list[Run]) -> AlertRule:
    wanted = {"kind": "mean_below", "scorer": "close", "series": "a", "limit": 0.8}
    return AlertRule.objects.define(team, version.dataset, by=alice, **wanted).rule


def now(page: Page) -> Locator:
    return page.get_by_role("region", name="Now", exact=True)


def test_from_a_drift_line_to_a_rule_that_fires(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    complaints: list[str],
    settings: Settings,
    alice: User,
    team: Team,
    runs: list[Run],
) -> None:
    walk = Walk(page)
    sign_in(alice)
    page.goto(reverse("alerts", args=[team.slug]))
    expect(page.get_by_text("No alert rules yet")).to_be_visible()
    is_accessible(page)
    walk.follow("drift page")
    page.get_by_role("row").filter(has_text="Support answers").get_by_role("link").click()
    walk.follow("Create alert")
    walk.is_at("New rule")
    expect(page.get_by_label("Series", exact=True)).to_have_value("a")
    expect(page.get_by_label("Scorer", exact=True)).to_have_value("close")
    is_accessible(page)

    page.get_by_role("radio", name="Mean below").check()
    page.get_by_label("Mean, from 0 to 1").fill("80")
    with Receiver() as hook:
        page.get_by_label("Webhook URL").fill(hook.url)
        walk.press("Create rule")
        expect(page.get_by_role("alert")).to_contain_text("Give a number above 0 and up to 1.")
        expect(page.get_by_text(f"EVALSITE_WEBHOOK_HOSTS={hook.host}")).to_be_visible()
        is_accessible(page)
        forgive_422(complaints)

        settings.EVALSITE_WEBHOOK_HOSTS = frozenset({hook.host})
        page.get_by_label("Mean, from 0 to 1").fill("0.8")
        page.get_by_label("Webhook URL").fill(hook.url)
        walk.press("Create rule")
        walk.is_at("Mean of close below 0.8")
        expect(page.locator("#secret")).to_have_text(AlertRule.objects.get().secret())
        is_accessible(page)
        walk.press("Send a test")
        expect(page.get_by_text("no worker: start manage.py worker")).to_be_visible()
        is_accessible(page)
        work()
        expect(page.get_by_text("Sent to 127.0.0.1.")).to_be_visible()
        assert len(hook.sent) == 2  # the test, and what fired
        page.reload()
        expect(page.locator("#secret")).to_have_count(0)

    expect(now(page)).to_contain_text("firing")
    is_accessible(page)


def test_an_alert_is_acknowledged_on_home_and_seen_on_its_line_and_run(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    alice: User,
    rule: AlertRule,
) -> None:
    work()
    sign_in(alice)
    page.goto(reverse("team_home", args=[rule.team.slug]))
    is_accessible(page)
    item = page.get_by_role("listitem").filter(has_text="firing")
    item.get_by_role("button", name="Acknowledge").click()
    expect(item).to_contain_text("acknowledged by alice@example.org")
    Walk(page).is_at(rule.team.name)
    item.get_by_role("link", name="Support answers").click()
    latest = page.locator("[data-drift-mark]").last
    expect(latest).to_have_accessible_name(re.compile(r"^w2, .* an alert fires$"))
    is_accessible(page)
    page.get_by_role("listitem").filter(has_text="firing").get_by_role("link", name="w2").click()
    Walk(page).is_at("w2")
    expect(page.get_by_text("Alert: ")).to_be_visible()
    is_accessible(page)


@pytest.mark.parametrize("make_hand", HANDS)
def test_an_alert_in_a_fold_is_acknowledged_and_the_fold_stays_open(
    page: Page,
    sign_in: Callable[[User], None],
    alice: User,
    rule: AlertRule,
    runs: list[Run],
    make_hand: Callable[[Page], ByKeys | ByMouse],
) -> None:
    for limit in (0.7, 0.75):
        wanted = {"kind": "mean_below", "scorer": "close", "series": "a", "limit": limit}
        AlertRule.objects.define(rule.team, rule.dataset, by=alice, **wanted)
    work()
    sign_in(alice)
    page.goto(reverse("run", args=[runs[-1].uuid]))
    is_same, hand = stays(page), make_hand(page)
    summary = page.locator("summary", has_text="3 alerts about this run")
    hand.press(summary)
    hand.press(page.get_by_role("button", name=re.compile("^Acknowledge: .* 0.75")))
    told = page.locator("details", has=summary)
    expect(told.get_by_text("acknowledged by alice@example.org")).to_be_visible()
    expect(told.get_by_role("button", name="Acknowledge")).to_have_count(2)
    expect(summary).to_be_focused()
    assert is_same()


def test_a_rule_is_paused_deleted_and_brought_back_by_keys_alone(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    alice: User,
    team: Team,
    rule: AlertRule,
) -> None:
    sign_in(alice)
    page.goto(reverse("alerts", args=[team.slug]))
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    Walk(page).is_at("Mean of close below 0.8")
    press(page, "Pause")
    expect(now(page)).to_contain_text("paused")
    is_accessible(page)
    press(page, "Resume")
    expect(now(page)).not_to_contain_text("paused")
    chosen = page.get_by_role("radio", name="Mean below")
    chosen.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Pass rate, in %")).to_be_visible()
    expect(page.get_by_label("Mean, from 0 to 1")).to_be_hidden()
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("70")
    page.keyboard.press("Enter")
    Walk(page).is_at("Pass rate of close below 70\u202f%")
    press(page, "Delete")
    expect(page.get_by_text("No alert rules yet")).to_be_visible()
    is_accessible(page)
    press(page, "Undo")
    row = page.get_by_role("row").filter(has_text="Pass rate of close below 70\u202f%")
    expect(row).to_be_visible()


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).focus()
    page.keyboard.press("Enter")


def test_a_kind_that_watches_for_runs_asks_for_no_scorer(
    page: Page, sign_in: Callable[[User], None], alice: User, rule: AlertRule
) -> None:
    sign_in(alice)
    page.goto(reverse("alert_rule", args=[rule.uuid]))
    expect(page.get_by_label("Scorer", exact=True)).to_be_visible()
    page.get_by_role("radio", name="No recent runs").check()
    expect(page.get_by_label("Scorer", exact=True)).to_be_hidden()
    expect(page.get_by_label("Days")).to_be_visible()
    Walk(page).press("Save")
    Walk(page).is_at("No run for 8 days")


def test_a_rule_is_previewed_by_keys_alone_before_it_is_made(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    alice: User,
    team: Team,
    runs: list[Run],
) -> None:
    sign_in(alice)
    page.goto(reverse("new_alert_rule", args=[team.slug]))
    page.get_by_role("radio", name="Mean below").check()
    page.get_by_label("Webhook URL").fill("https://hooks.example.org/typed")
    press(page, "Preview on past runs")
    expect(page.get_by_text("This kind looks at one scorer's mean")).to_be_visible()
    page.get_by_label("Scorer", exact=True).select_option("close")
    press(page, "Preview on past runs")
    preview = page.get_by_role("region", name="Would have fired")
    expect(preview).to_contain_text("on 1 of the latest 3 runs")
    expect(page.get_by_role("button", name="Preview on past runs")).to_be_focused()
    expect(page.get_by_label("Webhook URL")).to_have_value("https://hooks.example.org/typed")
    is_accessible(page)
    assert not AlertRule.objects.exists()
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate(WIDE) is False
    in_both_schemes(page, is_accessible)
    preview.get_by_role("link", name="w2").click()
    Walk(page).is_at("w2")


def test_without_scripts_a_rule_is_made_and_an_alert_acknowledged(
    chromium: Browser,
    live_server: LiveServer,
    page: Page,
    sign_in: Callable[[User], None],
    alice: User,
    runs: list[Run],
    make_dataset: MakeDataset,
) -> None:
    slug = runs[0].team.slug
    make_dataset([{"key": "q1"}], "Another one")
    sign_in(alice)
    plain = chromium.new_page(
        base_url=live_server.url,
        java_script_enabled=False,
        storage_state=page.context.storage_state(),
    )
    plain.goto(reverse("new_alert_rule", args=[slug]))
    plain.get_by_role("combobox", name="Dataset").select_option("Support answers")
    plain.get_by_role("button", name="Show its series and scorers").click()
    plain.get_by_role("radio", name="Mean below").check()
    plain.get_by_label("Scorer", exact=True).select_option("close")
    plain.get_by_role("button", name="Preview on past runs").click()
    expect(plain.get_by_role("heading", name="Would have fired")).to_be_visible()
    plain.get_by_role("button", name="Create rule").click()
    expect(plain.get_by_role("heading", level=1)).to_have_text("Mean of close below 0.8")
    work()
    plain.goto(reverse("alerts", args=[slug]))
    plain.get_by_role("button", name="Acknowledge").click()
    expect(plain.get_by_text("acknowledged by alice@example.org")).to_be_visible()
    plain.close()


def test_every_page_is_accessible_and_nothing_scrolls_sideways(
    page: Page,
    sign_in: Callable[[User], None],
    is_accessible: Callable[[Page], None],
    alice: User,
    rule: AlertRule,
) -> None:
    def check() -> None:
        for width in (1280, 360):
            page.set_viewport_size({"width": width, "height": 740})
            assert page.evaluate(WIDE) is False
        in_both_schemes(page, is_accessible)

    work()
    Alert.objects.create(rule=rule, series="b", state="undecided", sentence="Fell.", note="Now?")
    rule.change(by=alice, webhook_url="https://hooks.example.org/x")
    sign_in(alice)
    run = Run.objects.get(name="w2")
    slug = rule.team.slug
    for url in (
        reverse("alerts", args=[slug]),
        reverse("new_alert_rule", args=[slug]),
        reverse("alert_rule", args=[rule.uuid]),
        reverse("team_home", args=[slug]),
        reverse("dataset_drift", args=[rule.dataset.uuid]),
        reverse("run", args=[run.uuid]),
    ):
        page.goto(url)
        check()
    page.goto(reverse("alert_rule", args=[rule.uuid]))
    Walk(page).press("Create new secret")
    expect(page.locator("#secret")).to_be_visible()
    check()
