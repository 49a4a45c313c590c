"""After a change the page of a threshold offers to re-label the last runs of the suite."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.thresholds.relabel_panel import RelabelPanel
from scoring.engine.jobs.runner import JobRunner
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.models import AuditEntry, Job, JobState, Run, User
from tests.conftest import MakeDataset
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db

BrowserOf = Callable[[User], Client]


@pytest.fixture
def runs(make_dataset: MakeDataset) -> list[Run]:
    """Two of the suite `release`, the oldest first."""
    version = make_dataset([{}] * 2)
    scores = {"close": [0.6, 0.8], "same": [1, 1]}
    return [suite_run(version, scores, name=name) for name in ("w45", "w46")]


def url_of(name: str = "suite_threshold") -> str:
    entry = entry_of()
    return reverse(name, args=[entry.suite.uuid, entry.scorer.uuid])


def words(answer: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def work() -> None:
    runner = JobRunner(InlineExecutor())
    runner.step()
    runner.step()  # collects what the first one began


def test_runs_are_relabelled_right_after_the_change(alices: Client, runs: list[Run]) -> None:
    assert "Labels of finished runs" not in alices.get(url_of()).text
    fields = {"threshold": "0.7", "old": "0.5", "reason": "Too lenient."}
    answer = alices.post(url_of(), fields, follow=True)
    assert "2 of the last 10 finished runs of release have labels by other" in words(answer)
    assert "Re-label 2 runs" in words(answer)
    answer = alices.post(url_of("relabel_suite"), follow=True)
    assert "Re-labelling runs." in words(answer)
    assert 'hx-trigger="every 1s"' in answer.text
    assert "Re-label 2 runs" not in words(answer)
    work()
    answer = alices.get(url_of(), headers={"HX-Request": "true", "HX-Target": "relabel"})
    assert next(template.name for template in answer.templates) == "thresholds/_relabel.html"
    assert "2 runs re-labelled." in words(answer)
    assert "hx-trigger" not in answer.text
    assert [run.relabels.get().thresholds for run in runs] == [{"close": 0.7}] * 2
    assert AuditEntry.objects.filter(action="run.relabelled").count() == 2


def test_labels_that_say_nothing_else_are_removed(alices: Client, runs: list[Run]) -> None:
    for new in (0.7, 0.5):
        entry_of().change_threshold(new, by=None, reason="x")
        alices.post(url_of("relabel_suite"))
        work()
    assert "Labels of 2 runs removed." in words(alices.get(url_of()))
    assert not runs[0].relabels.exists()


def test_a_run_that_needs_it_later_is_offered_again(alices: Client, runs: list[Run]) -> None:
    entry_of().change_threshold(0.7, by=None, reason="x")
    alices.post(url_of("relabel_suite"))
    work()
    entry_of("same").change_threshold(0.9, by=None, reason="x")
    text = words(alices.get(url_of()))
    assert "Re-label 2 runs" in text
    assert "2 runs re-labelled" not in text


def test_without_anything_to_label_it_is_said(alices: Client, runs: list[Run]) -> None:
    answer = alices.post(url_of("relabel_suite"), follow=True)
    assert "The last runs have the labels of the suite's thresholds already." in words(answer)
    assert not Job.objects.exists()


def test_a_job_that_failed_says_why(alices: Client, runs: list[Run]) -> None:
    entry_of().change_threshold(0.7, by=None, reason="x")
    alices.post(url_of("relabel_suite"))
    Job.objects.update(state=JobState.FAILED, problem="the worker ended meanwhile; ask again")
    text = words(alices.get(url_of()))
    assert "The runs were not re-labelled: the worker ended meanwhile; ask again." in text
    assert "Re-label 2 runs" in text


def test_only_an_admin_is_offered_it(
    browser_of: BrowserOf, bob: User, charlie: User, runs: list[Run]
) -> None:
    entry_of().change_threshold(0.7, by=None, reason="x")
    assert "Re-label" not in browser_of(bob).get(url_of()).text
    assert browser_of(bob).post(url_of("relabel_suite")).status_code == 403
    assert browser_of(charlie).post(url_of("relabel_suite")).status_code == 404
    assert not Job.objects.exists()


def test_the_panel_reads_no_runs_while_its_job_is_open(runs: list[Run]) -> None:
    entry_of().change_threshold(0.7, by=None, reason="x")
    suite = entry_of().suite
    assert [run.name for run in RelabelPanel(suite).runs] == ["w46", "w45"]
    Job.objects.create(team=suite.team, kind="relabel_runs", request={"suite": str(suite.uuid)})
    panel = RelabelPanel(suite)
    assert panel.job_status is not None
    assert (panel.runs, panel.done_text, panel.has_failed) == ([], "", False)
