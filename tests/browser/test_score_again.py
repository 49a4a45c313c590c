"""A wrong expected value: accepted on the case, published, and three runs scored again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from multiprocessing.pool import ThreadPool
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.engine.jobs import job_queue
from scoring.engine.runs import execution
from scoring.models import Case, Job, Run, User
from tests.browser.compare_steps import in_both_schemes
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.fixtures.runs import finish, rows_of
from tests.support.run_states import EXACT, finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CASES = 60
WRONG = 7
DEADLINE_SECONDS = 60
Check = Callable[[Page], None]


@pytest.fixture
def runs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> list[Run]:
    """Three models that answer alike; one of the sixty cases expects something wrong."""
    cases = [
        {"key": f"q{n}", "input": f"{n}?", "expected": "wrong" if n == WRONG else f"answer {n}"}
        for n in range(CASES)
    ]
    version = make_dataset(cases)
    texts = [f"answer {n}" for n in range(CASES)]
    return [
        finished_run(make_outputs(version, texts, series), EXACT, name=series)
        for series in ("small", "medium", "large")
    ]


def work() -> None:
    """What the worker would do, in a thread as there: this one has the browser's event loop."""

    def score() -> None:
        for job in Job.objects.unfinished().select_related("team", "requested_by"):
            job_queue.run_job(job)
        for run in Run.objects.filter(state="queued"):
            finish(run)

    with ThreadPool(1) as threads:
        threads.apply_async(score).get(DEADLINE_SECONDS)


def test_one_accepted_output_corrects_three_runs_in_three_clicks(
    page: Page,
    sign_in: Callable[[User], None],
    runs: list[Run],
    erin: User,
    is_accessible: Check,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scored: list[int] = []
    results = execution._results

    def counted(scorer: Any, cases: Sequence[Any]) -> Any:
        scored.append(len(cases))
        return results(scorer, cases)

    before = {run.name: rows_of(run) for run in runs}
    dataset = runs[0].output_set.version.dataset
    sign_in(erin)
    page.goto(reverse("run_case", args=[runs[0].uuid, WRONG + 1]))
    in_both_schemes(page, is_accessible)
    page.get_by_role("button", name="Accept this output as right").click()
    expect(page.locator("#messages")).to_contain_text(
        f"this output is the expected value of q{WRONG}"
    )
    page.get_by_role("link", name="Publish version 2 and score again").click()
    for run in runs:
        expect(page.get_by_label(run.name)).to_be_checked()
    reused = "1 case changes; scores of the other 59 are reused where the scorer is the same."
    expect(page.get_by_text(reused)).to_be_visible()
    in_both_schemes(page, is_accessible)
    page.get_by_label("What changed and why").fill("q7 expected the wrong answer.")
    page.get_by_role("button", name="Publish version 2 and score again").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Score again on version 2")
    monkeypatch.setattr(execution, "_results", counted)
    work()
    page.reload()
    expect(page.get_by_text("59 of 60 pass")).to_have_count(3)
    expect(page.get_by_text("60 of 60 pass")).to_have_count(3)
    in_both_schemes(page, is_accessible)
    assert scored == [1, 1, 1]
    assert {run.name: rows_of(run) for run in runs} == before
    assert Case.objects.get(version__number=2, key=f"q{WRONG}").expected == f"answer {WRONG}"
    page.get_by_role("link", name="What changed in small").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("small compared with small")
    page.goto(reverse("run", args=[runs[0].uuid]))
    expect(page.get_by_text("version 1 of 2").first).to_be_visible()
    page.goto(reverse("dataset_drift", args=[dataset.uuid]))
    assert "scored again: dataset version 1 → 2" in page.content()
