from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.thresholds.run_thresholds import RunThresholds
from scoring.models import Run, Suite
from tests.conftest import MakeDataset
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    return suite_run(make_dataset([{}] * 2), {"close": [0.6, 0.8], "same": [1, 1]})


def test_a_run_shows_what_its_thresholds_became_and_why(browser: Client, run: Run) -> None:
    url = reverse("run", args=[run.uuid])
    assert "Thresholds changed since this run" not in browser.get(url).text
    entry_of().change_threshold(0.7, by=None, reason="Too lenient.")
    text = browser.get(url).text
    assert "now 0.7" in text
    assert "Too lenient." in text
    assert "now 0.5" not in text  # that of the other scorer, which is still that of the run


def test_changes_before_the_run_are_not_shown(run: Run) -> None:
    entry_of().change_threshold(0.7, by=None, reason="Before.")
    later = suite_run(run.output_set.version, {"close": [0.6, 0.8]}, name="w47")
    assert list(RunThresholds(later).changes()) == []
    assert [change.reason for change in RunThresholds(run).changes()] == ["Before."]


def test_the_slider_of_a_histogram_leads_to_the_preview(browser: Client, run: Run) -> None:
    entry = entry_of()
    action = reverse("suite_threshold", args=[entry.suite.uuid, entry.scorer.uuid])
    assert f'action="{action}"' in browser.get(reverse("run", args=[run.uuid])).text
    answer = browser.get(action, {"run": str(run.uuid), "threshold": "0.7"})
    assert [row.case.key for row in answer.context["page"].rows()] == ["case-1"]


def test_without_the_scorer_in_the_suite_it_leads_to_the_default(run: Run) -> None:
    scorer = run.scorers.select_related("version__scorer").get(name="close")
    default = reverse("scorer_threshold", args=[scorer.version.scorer.uuid])
    assert RunThresholds(run).url_of(scorer) != default
    Suite.objects.get().replace_entries([(entry_of("same").scorer, None)], by=None)
    assert RunThresholds(run).url_of(scorer) == default
    alone = Run.objects.get()
    alone.suite = None
    assert RunThresholds(alone).url_of(scorer) == default
    assert not RunThresholds(alone).changes()
