"""What a case's page says where the run beside it has nothing to show."""

from __future__ import annotations

from scoring.models import DatasetVersion, Run, User
from tests.pages.cases.test_baseline_output import (
    BrowserOf,
    baseline,
    run,
    told,
    url,
    version,
    words,
)
from tests.support.finished_runs import run_with

__all__ = ["baseline", "run", "version"]


def test_a_case_that_the_baseline_lacks_says_so(
    browser_of: BrowserOf, bob: User, version: DatasetVersion, run: Run
) -> None:
    fewer = run_with(version, {"close": [0.9] * 4}, name="fewer", leaves_out=[0])
    answer = browser_of(bob).get(url(run, fewer))
    assert "fewer has no output for this case." in words(answer)
    assert answer.context["view"].texts.between == "expected"


def test_an_output_that_was_not_produced_is_said(
    browser_of: BrowserOf, bob: User, baseline: Run, run: Run
) -> None:
    told(baseline, None)
    assert "no output is stored" in words(browser_of(bob).get(url(run, baseline)))
