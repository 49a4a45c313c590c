"""What a team's home says needs a look."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from scoring.engine.drift import measure
from scoring.models import DatasetVersion, Notice, Run, RunState, User
from tests.conftest import MakeDataset
from tests.drifting import run_in_week

BrowserOf = Callable[[User], Client]
MAX_QUERIES = 12
STEADY = [0.80, 0.82, 0.81, 0.80, 0.82, 0.80, 0.81, 0.82]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{number}"} for number in range(4)])


@pytest.fixture
def home(browser_of: BrowserOf, bob: User) -> Callable[[], str]:
    def read() -> str:
        return browser_of(bob).get(reverse("team_home", args=["support"])).text

    return read


def test_a_series_that_drifts_is_named_with_what_drifted(
    version: DatasetVersion, home: Callable[[], str]
) -> None:
    for week, mean in enumerate([*STEADY, 0.3]):
        run_in_week(version, week, mean, "pppp")
    html = home()
    assert "Needs a look" in html
    assert "close is below its control limits in w8." in html
    assert f'href="{reverse("dataset_drift", args=[version.dataset.uuid])}?series=a"' in html


def test_a_run_that_broke_cases_leads_to_its_comparison(
    version: DatasetVersion, home: Callable[[], str]
) -> None:
    before = run_in_week(version, 1, letters="pppf")
    latest = run_in_week(version, 2, letters="pffp")
    measure(version.dataset, "a")
    html = unescape(home())
    assert "2 of 4 cases passed in w1 and fail now; 1 is fixed." in html
    query = f"?baseline={before.uuid}&candidate={latest.uuid}"
    assert f'href="{reverse("compare", args=["support"])}{query}"' in html


def test_one_case_is_told_in_the_singular(version: DatasetVersion, home: Callable[[], str]) -> None:
    run_in_week(version, 1, letters="p")
    run_in_week(version, 2, letters="f")
    measure(version.dataset, "a")
    assert "1 of 1 case passed in w1 and fails now; 0 are fixed." in home()


def test_where_nothing_drifts_there_is_no_such_part(
    version: DatasetVersion, home: Callable[[], str]
) -> None:
    for week, mean in enumerate([*STEADY, 0.3, *STEADY]):
        run_in_week(version, week, mean, "pppp")
    measure(version.dataset, "a")
    assert "Needs a look" not in home()


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
        measure(version.dataset, f"s{number}")
    browser = browser_of(bob)
    url = reverse("team_home", args=["support"])
    browser.get(url)
    with django_assert_max_num_queries(MAX_QUERIES):
        assert browser.get(url).text.count("4 broke") == min(count, 8)


def test_home_with_all_that_it_can_say_costs_no_more(
    browser_of: BrowserOf,
    bob: User,
    version: DatasetVersion,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    runs = [run_in_week(version, week, letters=letters) for week, letters in enumerate("pf")]
    measure(version.dataset, "a")
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
