"""Where a run's outputs come from and what they took, on the run's page."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.models import Run, User
from tests.pages.runs.steps import BrowserOf, url
from tests.support.html import on_one_line
from tests.support.undone import undone


def _change(run: Run, **fields: object) -> None:
    Run.objects.filter(pk=run.pk).update(**fields)


def test_files_versions_labels_and_people_are_told(
    browser_of: BrowserOf, alice: User, bob: User, run: Run
) -> None:
    outputs = run.output_set
    outputs.labels, outputs.source_name = {"commit": "ab12"}, "answers\u200b.csv"
    outputs.save()
    outputs.version.source_name = "cases.jsonl"
    outputs.version.save()
    _change(run, created_by=alice)
    page = on_one_line(browser_of(bob).get(url(run)).text)
    for words in ("answers", "zero width space", "cases.jsonl", "ab12", "alice@example.org"):
        assert words in page
    assert "close v1, exact v1" in page


def test_percentiles_tokens_and_cost_are_told(browser_of: BrowserOf, bob: User, run: Run) -> None:
    taken = {"p50": 410.2, "p90": 800.0, "p95": 901.0, "p99": 1203.4}
    _change(run, latencies_ms=taken, output_tokens_in=3_000, output_tokens_out=55, cost_usd=1.0)
    page = on_one_line(browser_of(bob).get(url(run)).text)
    for name, value in {"p50": "410", "p90": "800", "p95": "901", "p99": "1203"}.items():
        assert f'{name} <span class="number">{value} ms</span>' in page
    assert "3,000 in, 55 out" in page
    assert "$1.00, $0.25 an output" in page


def test_what_nobody_told_is_left_out(browser_of: BrowserOf, bob: User, run: Run) -> None:
    page = browser_of(bob).get(url(run)).text
    for words in ("Latency of the outputs", "Tokens of the outputs", "Cost of the outputs"):
        assert words not in page


def test_how_long_it_took_is_told(
    browser_of: BrowserOf, bob: User, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[float, str]] = [(0.42, "0.4 s"), (12, "12 s"), (300, "5 min"), (7_300, "2 h")]
    for seconds, words in cases:
        with subtests.test(seconds=seconds, words=words), undone():
            now = timezone.now()
            _change(run, started_at=now - timedelta(seconds=seconds), finished_at=now)
            assert f"took {words}" in browser_of(bob).get(url(run)).text


def test_a_run_at_work_tells_it_when_it_has_ended(
    browser_of: BrowserOf, bob: User, queued: Run
) -> None:
    assert "Where it comes from" not in browser_of(bob).get(url(queued)).text
