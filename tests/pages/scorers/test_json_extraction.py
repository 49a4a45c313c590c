"""One click on a case lets a scorer read the JSON inside prose and fenced blocks."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import Run, Scorer, Team
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run

FENCED = 'Sure:\n```json\n{"a": 1}\n```'


@pytest.fixture
def scorer(team: Team) -> Scorer:
    return Scorer.objects.define(team, "same", "json_match", {})


@pytest.fixture
def scored(team: Team, scorer: Scorer, make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    """A run of one fenced and one plain output."""
    version = make_dataset([{"expected": {"a": 1}}, {"expected": {"a": 1}}])
    outputs = make_outputs(version, [FENCED, '{"a": 1}'])
    return finished_run(outputs, ("same", "json_match", {}))


def case_page(browser: Client, run: Run, position: int = 1) -> str:
    return browser.get(reverse("run_case", args=[run.uuid, position])).text


def test_the_click_makes_a_version_and_leads_to_a_new_run(
    browser: Client, scored: Run, scorer: Scorer
) -> None:
    page = case_page(browser, scored)
    url = reverse("extract_scorer_json", args=[scorer.uuid])
    assert f'action="{url}"' in page
    assert "a fenced block holds JSON: extract it?" in page
    answer = browser.post(url, {"run": str(scored.uuid)})
    scorer.refresh_from_db()
    assert scorer.current is not None
    assert scorer.current.config["extract"] == "json"
    assert scorer.current.number == 2
    assert str(scored.output_set.uuid) in answer.url
    form = browser.get(answer.url).context["form"]
    assert form["outputs"].value() == str(scored.output_set.uuid)
    again = case_page(browser, scored)
    assert "Version 2 extracts it already." in again
    browser.post(url, {"run": str(scored.uuid)})
    assert scorer.versions.count() == 2


def test_other_outputs_offer_nothing(browser: Client, scored: Run) -> None:
    assert "extract-json" not in case_page(browser, scored, 2)


def test_who_may_not_edit_is_not_offered_it(ritas: Client, scored: Run) -> None:
    page = case_page(ritas, scored)
    assert "extract it?" in page
    assert "extract-json" not in page


@pytest.mark.parametrize("named", ["no id", "0191c2d0-0000-7000-8000-000000000000"])
def test_another_run_is_not_found(browser: Client, scorer: Scorer, named: str) -> None:
    url = reverse("extract_scorer_json", args=[scorer.uuid])
    assert browser.post(url, {"run": named}).status_code == 404
    assert scorer.versions.count() == 1


def test_without_a_run_the_scorer_is_shown(browser: Client, scorer: Scorer) -> None:
    answer = browser.post(reverse("extract_scorer_json", args=[scorer.uuid]))
    assert answer.url == reverse("scorer", args=[scorer.uuid])
