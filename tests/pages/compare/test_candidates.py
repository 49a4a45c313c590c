"""Runs compared with a baseline: by the worker where it takes long, and with what is kept."""

from __future__ import annotations

from html import escape

import pytest

from scoring.engine.jobs import job_queue
from scoring.models import Comparison, Job, JobKind, Run, User
from tests.pages.compare.test_views import (
    POLL,
    BrowserOf,
    baseline,
    candidate,
    is_large,
    url,
    version,
    words,
)

__all__ = ["baseline", "candidate", "is_large", "version"]


@pytest.mark.usefixtures("is_large")
def test_a_large_comparison_is_waited_for_and_then_shown(
    browser_of: BrowserOf, bob: User, baseline: Run, candidate: Run
) -> None:
    browser = browser_of(bob)
    first = browser.get(url(baseline, candidate))
    assert 'hx-trigger="every 2s"' in first.text
    assert "No worker: start" in words(first)
    again = browser.get(url(baseline, candidate), headers=POLL)
    assert again.text.strip().startswith("<div")
    assert Job.objects.filter(kind=JobKind.COMPARE).count() == 1
    job_queue.run_job(Job.objects.get())
    ended = browser.get(url(baseline, candidate), headers=POLL)
    assert (ended.headers["HX-Retarget"], ended.headers["HX-Reselect"]) == ("#main", "#main")
    assert "2 of 8 cases broke" in words(ended)


@pytest.mark.usefixtures("is_large")
def test_a_comparison_that_failed_is_said_and_can_be_asked_again(
    browser_of: BrowserOf, bob: User, baseline: Run, candidate: Run
) -> None:
    browser = browser_of(bob)
    browser.get(url(baseline, candidate))
    job_queue.fail_abandoned(Job.objects.get())
    failed = browser.get(url(baseline, candidate))
    assert "Not compared: the worker ended meanwhile; ask again." in words(failed)
    assert "hx-trigger" not in failed.text.partition('id="waiting"')[2].partition(">")[0]
    waiting = browser.get(url(baseline, candidate, again="1"))
    assert Job.objects.unfinished().count() == 1
    assert f'hx-get="{escape(url(baseline, candidate))}"' in waiting.text


def test_kept_figures_are_used_again(
    browser_of: BrowserOf, bob: User, baseline: Run, candidate: Run
) -> None:
    browser_of(bob).get(url(baseline, candidate))
    Comparison.objects.update(figures={**Comparison.objects.get().figures, "warnings": ["Kept."]})
    assert "Kept." in words(browser_of(bob).get(url(baseline, candidate)))
