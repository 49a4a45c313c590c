"""What a team's home says needs attention."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from scoring.engine.drift import measure_series
from scoring.models import (
    CaseDecision,
    CaseDecisionState,
    DatasetVersion,
    Notice,
    Run,
    RunState,
    Scorer,
    User,
    Waiver,
)
from scoring.models.reviews.waiver import Terms, WaivedScorer
from tests.support.drift_runs import run_in_week
from tests.support.fixtures.weeks import version
from tests.support.html import on_one_line
from tests.support.waived_runs import waive

__all__ = ["version"]

BrowserOf = Callable[[User], Client]
MAX_QUERIES = 19
STEADY = [0.80, 0.82, 0.81, 0.80, 0.82, 0.80, 0.81, 0.82]


@pytest.fixture
def home(browser_of: BrowserOf, bob: User) -> Callable[[], str]:
    def read() -> str:
        return on_one_line(browser_of(bob).get(reverse("team_home", args=["support"])).text)

    return read


def test_a_series_that_drifts_is_named_with_what_drifted(
    version: DatasetVersion, home: Callable[[], str]
) -> None:
    for week, mean in enumerate([*STEADY, 0.3]):
        run_in_week(version, week, mean, "pppp")
    measure_series(version.dataset, "a")
    html = home()
    assert "Needs attention" in html
    assert "close decreased with w8: 0.810 → 0.300." in html
    assert f'href="{reverse("dataset_drift", args=[version.dataset.uuid])}?series=a"' in html


def test_a_run_that_broke_cases_leads_to_its_comparison(
    version: DatasetVersion, home: Callable[[], str]
) -> None:
    before = run_in_week(version, 1, letters="pppf")
    latest = run_in_week(version, 2, letters="pffp")
    measure_series(version.dataset, "a")
    html = unescape(home())
    assert "2 of 4 cases passed in w1 and fail now; 1 is fixed." in html
    query = f"?baseline={before.uuid}&candidate={latest.uuid}"
    assert f'href="{reverse("compare", args=["support"])}{query}"' in html


def test_what_is_signed_off_is_no_longer_told(
    version: DatasetVersion, home: Callable[[], str], alice: User
) -> None:
    before = run_in_week(version, 1, letters="pppf")
    latest = run_in_week(version, 2, letters="pffp")
    measure_series(version.dataset, "a")
    broken = latest.verdicts.filter(position__in=[2, 3]).values_list("output", flat=True)
    first, second = broken.order_by("position")
    accept = partial(
        CaseDecision.objects.decide, (before, latest), state=CaseDecisionState.ACCEPTED, by=alice
    )
    accept([first])
    assert "1 is fixed. 1 not signed off." in home()
    accept([second])
    assert "broke" not in home().partition("<main")[2].partition("</main>")[0]


def test_waived_cases_are_no_longer_told_until_their_day_is_over(
    version: DatasetVersion, home: Callable[[], str], alice: User
) -> None:
    run_in_week(version, 1, letters="pppf")
    latest = run_in_week(version, 2, letters="pffp")
    measure_series(version.dataset, "a")
    waiver = waive(latest, "q1", "close", alice)
    assert "1 is fixed. 1 not signed off." in home()
    waive(latest, "q2", "close", alice)
    assert "broke" not in home().partition("<main")[2].partition("</main>")[0]
    Waiver.objects.filter(pk=waiver.pk).update(until=timezone.localdate() - timedelta(days=1))
    assert "1 is fixed. 1 not signed off." in home()


def test_one_case_is_told_in_the_singular(version: DatasetVersion, home: Callable[[], str]) -> None:
    run_in_week(version, 1, letters="p")
    run_in_week(version, 2, letters="f")
    measure_series(version.dataset, "a")
    assert "1 of 1 case passed in w1 and fails now; 0 are fixed." in home()


def test_where_nothing_drifts_there_is_no_such_part(
    version: DatasetVersion, home: Callable[[], str]
) -> None:
    for week, mean in enumerate([*STEADY, 0.3, *STEADY]):
        run_in_week(version, week, mean, "pppp")
    measure_series(version.dataset, "a")
    assert "Needs attention" not in home()


@pytest.mark.parametrize("count", [1, 12])
def test_home_costs_the_same_however_many_series_there_are(
    browser_of: BrowserOf,
    bob: User,
    version: DatasetVersion,
    django_assert_max_num_queries: DjangoAssertNumQueries,
    count: int,
) -> None:
    for number in range(count):
        for week, letters in enumerate(["pppp", "ffff"]):
            run_in_week(version, week, letters=letters, series=f"s{number}")
        measure_series(version.dataset, f"s{number}")
    browser = browser_of(bob)
    url = reverse("team_home", args=["support"])
    browser.get(url)
    with django_assert_max_num_queries(MAX_QUERIES):
        assert browser.get(url).text.count("4 broke") == min(count, 8)


def test_of_many_broken_series_with_a_waiver_no_more_are_counted_than_shown(
    browser_of: BrowserOf, bob: User, alice: User, version: DatasetVersion
) -> None:
    for number in range(12):
        for week, letters in enumerate(["pppp", "ffff"]):
            run_in_week(version, week, letters=letters, series=f"s{number}")
        measure_series(version.dataset, f"s{number}")
    scorer = Scorer.objects.earliest("pk")
    terms = Terms(timezone.localdate(), "Known.", alice)
    Waiver.objects.waive(version.dataset, [WaivedScorer("none", scorer.pk)], terms, by=alice)
    browser, url = browser_of(bob), reverse("team_home", args=["support"])

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(url).text.count("4 broke") == 8
        return len(captured)

    queries()
    with_twelve = queries()
    for number in range(8, 12):
        Run.objects.filter(output_set__series=f"s{number}").update(deleted_at=timezone.now())
    assert queries() == with_twelve


def test_home_with_all_that_it_can_say_costs_no_more(
    browser_of: BrowserOf,
    bob: User,
    version: DatasetVersion,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    runs = [run_in_week(version, week, letters=letters) for week, letters in enumerate("pf")]
    measure_series(version.dataset, "a")
    going = {"team": runs[0].team, "output_set": runs[0].output_set, "name": "going"}
    Run.objects.create(**going, state=RunState.RUNNING)
    Notice.objects.create(user=bob, run=runs[0], text="w0 has finished.")
    browser = browser_of(bob)
    url = reverse("team_home", args=["support"])
    browser.get(url)
    with django_assert_max_num_queries(MAX_QUERIES):
        html = browser.get(url).text
    for told in ("w0 has finished.", "1 broke", "going", "Latest runs"):
        assert told in html
