"""Outputs that cannot be used are counted by scorer and code, whoever tells of the run."""

from __future__ import annotations

import pytest

from evalsite.api.runs.serializers import state_body
from scoring.engine.reports.run_summary import Report, as_json, as_table
from scoring.models import Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.runs.steps import BrowserOf, keys, url
from tests.support.run_states import Definition, finished_run

pytestmark = pytest.mark.django_db

TEXTS = ['{"a": 1}', "The answer is 1", "{'a': 1}", '{"a": 2}', None]
SCORERS: list[Definition] = [
    ("leaves", "json_similarity", {}),
    ("same", "json_match", {}),
    ("key", "exact_match", {"target_output_key": "a"}),
    ("number", "numeric", {"target_output_key": "a"}),
    ("valid", "json_schema", {}),
    ("text", "exact_match", {}),
]


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    """Of four outputs two are no JSON; a fifth was not produced."""
    version = make_dataset([{"expected": {"a": 1}} for _ in TEXTS])
    return finished_run(make_outputs(version, TEXTS), *SCORERS)


def test_each_scorer_that_reads_json_counts_outputs_that_are_none(run: Run) -> None:
    counted = {each.name: each.summary.problems for each in run.scorers.with_summary()}
    problems = {"invalid_json": 2, "no_output": 1}
    assert counted == dict.fromkeys([each[0] for each in SCORERS], problems) | {
        "text": {"no_output": 1}
    }


def test_the_page_counts_them_and_leads_to_their_cases(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    browser = browser_of(bob)
    answer = browser.get(url(run))
    assert answer.text.count('invalid_json <span class="number">2</span>') == 5
    assert "The text is not valid JSON." in answer.text
    for figure in answer.context["figures"]:
        for cause in figure.causes():
            assert len(keys(browser.get(url(run, cause.query)))) == cause.number


def test_the_command_and_the_api_tell_them(run: Run) -> None:
    report = Report(run, None, None, [])
    told = "2 invalid_json of leaves (score 0), such as: output is not valid JSON: Expecting value"
    assert told in as_table(report)
    problems = {"invalid_json": 2, "no_output": 1}
    assert as_json(report)["scorers"][0]["problems"] == problems
    assert state_body(run)["scorers"][0]["problems"] == problems
