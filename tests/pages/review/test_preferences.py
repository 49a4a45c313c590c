"""The page of people's preferences between the series of a dataset."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.models import QueueOrder, Run, User
from tests.engine.review.test_series_preferences import Runs, prefer, runs

__all__ = ["runs"]


def page_of(browser: Client, run: Run) -> str:
    url = reverse("dataset_preferences", args=[run.output_set.version.dataset.uuid])
    return " ".join(browser.get(url).text.split())


def test_the_page_says_what_is_known_and_what_is_not(
    browser: Client, runs: Runs, rita: User
) -> None:
    assert "No outputs compared by people" in page_of(browser, runs["a"])
    prefer(runs["a"], runs["b"], 15, rita)
    page = page_of(browser, runs["a"])
    assert "a vs. b" in page
    assert "ranking-title" not in page
    prefer(runs["b"], runs["c"], 14, rita, count=20)
    prefer(runs["c"], runs["d"], 3, rita, count=4)
    page = page_of(browser, runs["a"])
    for said in ("ranking-title", "too few", "never met", "95 % Wilson interval"):
        assert said in page


def test_whoever_is_to_compare_sees_nothing_before(
    ritas: Client, rita: User, runs: Runs, alice: User
) -> None:
    prefer(runs["a"], runs["b"], 15, alice)
    assert "a vs. b" in page_of(ritas, runs["a"])
    plan = QueuePlan("pairs", [rita], 3, QueueOrder.RANDOM, baseline=runs["b"])
    create_queue(runs["a"], plan, alice)
    page = page_of(ritas, runs["a"])
    assert "a vs. b" not in page
    assert "Hidden until you have compared all pairs assigned to you." in page
