"""Drift shows the pass rates of re-labelled runs beside the stored ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from evalsite.pages.drift.later_rates import read_later_rates
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import DatasetVersion, Run, User
from tests.conftest import MakeDataset
from tests.support.html import Reader
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db

BrowserOf = Callable[[User], Client]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{}] * 4)


@pytest.fixture
def runs(version: DatasetVersion) -> list[Run]:
    """Of a suite whose threshold of `close` has risen since; the second one is re-labelled."""
    scores = {"close": [0.6, 0.6, 0.9, "error"], "same": [1, 1, 1, 1]}
    made = [suite_run(version, scores, name=name) for name in ("w45", "w46")]
    entry_of().change_threshold(0.7, by=None, reason="x")
    relabel_run(made[1], by=None)
    return made


def test_both_rates_stand_in_chart_and_table(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, runs: list[Run]
) -> None:
    url = reverse("dataset_drift", args=[version.dataset.uuid])
    answer = browser_of(bob).get(url, {"scorer": "close"})
    text = " ".join(Reader(answer.text).text.split())
    assert "100.0 % re-labelled→ 33.3 %" in text
    (figure,) = answer.context["figures"]
    first, second = (" ".join(point.text.split()) for point in figure.chart_points)
    assert "100.0 % pass · re-labelled 33.3 % pass at 0.7" in second
    assert "re-labelled" not in first
    other = browser_of(bob).get(url, {"scorer": "same"}).text
    assert "re-labelled" not in other


def test_rates_take_one_query(
    browser_of: BrowserOf,
    bob: User,
    version: DatasetVersion,
    runs: list[Run],
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    answer = browser_of(bob).get(reverse("dataset_drift", args=[version.dataset.uuid]))
    lines = [figure.line for figure in answer.context["figures"]]
    with django_assert_num_queries(1):
        rates = read_later_rates(lines)
    assert rates == {(str(runs[1].uuid), "close"): (1 / 3, 0.7)}
    with django_assert_num_queries(0):
        assert read_later_rates([]) == {}
