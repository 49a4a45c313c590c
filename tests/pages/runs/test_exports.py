"""Reports to hand out, asked for on the pages: who gets them, as what, and what leads there."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.engine.compare import jobs as compare_jobs
from scoring.engine.jobs import job_queue
from scoring.models import Dataset, Job, Run, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.report_html import sound

BrowserOf = Callable[[User], Client]


@pytest.fixture
def weeks(make_dataset: MakeDataset) -> tuple[Run, Run]:
    """Of eight cases seven broke."""
    version = make_dataset([{"key": f"q{n}"} for n in range(8)], name="Köln & Bonn")
    old = run_with(version, {"close": [1.0] * 8}, name="w45")
    return old, run_with(version, {"close": [0.0] * 7 + [1.0]}, name='w"46\r\n')


def of_run(run: Run) -> str:
    return reverse("run_report", args=[run.uuid])


def of_runs(*runs: Run, name: str = "compare_report") -> str:
    named = [("baseline", runs[0].uuid), *(("candidate", run.uuid) for run in runs[1:])]
    return f"{reverse(name, args=[runs[0].team.slug])}?{urlencode(named)}"


def test_a_run_is_downloaded_under_a_safe_name(
    browser_of: BrowserOf, bob: User, weeks: tuple[Run, Run]
) -> None:
    answer = browser_of(bob).get(of_run(weeks[1]))
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Content-Disposition"] == ('attachment; filename="koln-bonn-w46.html"')
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    found = sound(answer.text)
    assert "7 of 8 cases broke" in found.text
    assert found.addresses == [f"http://testserver{reverse('run', args=[weeks[1].uuid])}"]


def test_a_comparison_is_downloaded_under_a_safe_name(
    browser_of: BrowserOf, bob: User, weeks: tuple[Run, Run]
) -> None:
    answer = browser_of(bob).get(of_runs(*weeks))
    assert answer.headers["Content-Disposition"] == (
        'attachment; filename="koln-bonn-w46-compared-with-w45.html"'
    )
    found = sound(answer.text)
    assert "7 of 7 shown" in found.text
    assert found.addresses == [f"http://testserver{of_runs(*weeks, name='compare')}"]


def test_what_the_signed_in_person_is_does_not_show(
    browser_of: BrowserOf, alice: User, bob: User, weeks: tuple[Run, Run]
) -> None:
    """The file goes to others: nothing of the session, the theme or the team is in it."""

    def report(user: User) -> str:
        text = browser_of(user).get(of_run(weeks[1])).text
        return re.sub(r"made \d+ \w+ \d+, \d\d:\d\d UTC", "", text)

    assert report(alice) == report(bob)
    assert "csrf" not in report(bob)


def test_the_pages_lead_to_the_files(
    browser_of: BrowserOf, bob: User, weeks: tuple[Run, Run]
) -> None:
    browser = browser_of(bob)
    page = browser.get(reverse("run", args=[weeks[1].uuid]))
    assert f'href="{of_run(weeks[1])}"' in page.text
    page = browser.get(of_runs(*weeks, name="compare"))
    assert f'href="{of_runs(*weeks).replace("&", "&amp;")}"' in page.text


def test_a_run_that_is_going_has_no_link_to_a_report(
    browser_of: BrowserOf, bob: User, weeks: tuple[Run, Run]
) -> None:
    Run.objects.filter(pk=weeks[1].pk).update(state="running")
    page = browser_of(bob).get(reverse("run", args=[weeks[1].uuid]))
    assert of_run(weeks[1]) not in page.text


def test_runs_that_cannot_be_compared_are_refused_as_on_the_page(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, weeks: tuple[Run, Run]
) -> None:
    other = run_with(make_dataset([{}], "Other"), {"close": [1.0]}, name="other")
    answer = browser_of(bob).get(of_runs(weeks[0], other))
    assert "over different datasets" in answer.text
    assert "Content-Disposition" not in answer.headers
    assert "The baseline is among them" in browser_of(bob).get(of_runs(*weeks[:1] * 2)).text


def test_a_comparison_not_worked_out_leads_to_the_page_that_waits_for_it(
    browser_of: BrowserOf,
    bob: User,
    weeks: tuple[Run, Run],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compare_jobs, "MAX_INLINE_PAIRS", 0)
    browser = browser_of(bob)
    answer = browser.get(of_runs(*weeks))
    assert (answer.status_code, answer.headers["Location"]) == (
        302,
        of_runs(*weeks, name="compare"),
    )
    waiting = browser.get(answer.headers["Location"])
    assert 'hx-trigger="every 2s"' in waiting.text
    assert "compare/report" not in waiting.text
    job_queue.run_job(Job.objects.get())
    assert "7 of 7 shown" in sound(browser.get(of_runs(*weeks)).text).text


@pytest.mark.parametrize("count", [2, 80])
def test_the_files_cost_few_queries_whatever_their_size(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, count: int
) -> None:
    version = make_dataset([{"key": f"q{n}"} for n in range(count)])
    old = run_with(version, {"close": [1.0] * count}, name="w45")
    new = run_with(version, {"close": [0.0] * count}, name="w46")
    browser = browser_of(bob)
    for address, most in ((of_run(new), 12), (of_runs(old, new), 12)):
        browser.get(address)
        with CaptureQueriesContext(connection) as queries:
            browser.get(address)
        assert len(queries) <= most, address


def test_a_stranger_finds_neither(
    browser_of: BrowserOf, charlie: User, weeks: tuple[Run, Run]
) -> None:
    for address in (of_run(weeks[1]), of_runs(*weeks)):
        assert browser_of(charlie).get(address).status_code == 404
    assert Dataset.objects.count() == 1
