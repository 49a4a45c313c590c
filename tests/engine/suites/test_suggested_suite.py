"""The starter suite fits what the cases expect, is made once, and scores the right answers."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.suggested_scorers import NUMBERS_IN_TEXTS, SHORT_ANSWERS
from scoring.engine.suites.suggested_suite import (
    MAX_CHARS,
    SAMPLE_SIZE,
    create_suggested_suite,
    sample_cases,
)
from scoring.models import AuditEntry, Scorer, Suite, Team, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        ({"expected": "Yes, on Monday"}, " yes, on monday "),
        ({"expected": 12}, "12.0"),
        ({"expected": {"a": 1, "b": [2]}}, '{"b": [2], "a": 1}'),
        ({}, "anything"),
    ],
)
def test_a_right_answer_passes_every_starter(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, case: dict[str, Any], answer: str
) -> None:
    version = make_dataset([{"input": "q", **case}])
    suite = create_suggested_suite(version.dataset)
    entries = [entry.scorer for entry in suite.entries.all()]
    outputs = make_outputs(version, [answer])
    run = finished_run(outputs, *[(s.name, s.type, s.current.config) for s in entries if s.current])
    assert run.scorers.count() == len(entries) > 0
    run.refresh_from_db()
    assert run.verdict_counts == {"pass": 1, "fail": 0, "error": 0, "skipped": 0}


def test_asking_twice_makes_one_suite(make_dataset: MakeDataset, team: Team, alice: User) -> None:
    dataset = make_dataset([{"input": "q", "expected": "a"}]).dataset
    suite = create_suggested_suite(dataset, alice)
    assert create_suggested_suite(dataset, alice) == suite
    assert Scorer.objects.filter(team=team).count() == 2
    assert AuditEntry.objects.of(team).by(alice).filter(action="suite.created").count() == 1


def test_datasets_that_expect_other_things_get_other_suites(make_dataset: MakeDataset) -> None:
    texts = create_suggested_suite(make_dataset([{"expected": "a"}], "texts").dataset)
    numbers = create_suggested_suite(make_dataset([{"expected": 1}], "numbers").dataset)
    again = create_suggested_suite(make_dataset([{"expected": "b"}], "more texts").dataset)
    assert (texts.name, numbers.name) == ("starter for short answers", "starter for numbers")
    assert again == texts


def test_it_becomes_the_dataset_s_suite_unless_there_is_one(
    make_dataset: MakeDataset, team: Team
) -> None:
    bare, served = make_dataset([{}], "bare").dataset, make_dataset([{}], "served").dataset
    served.suite = Suite.objects.define(team, "release", [])
    served.save()
    suite = create_suggested_suite(bare)
    create_suggested_suite(served)
    bare.refresh_from_db()
    served.refresh_from_db()
    assert bare.suite == suite
    assert served.suite != suite


def test_a_scorer_that_the_team_has_by_that_name_is_taken(
    make_dataset: MakeDataset, team: Team
) -> None:
    ours = Scorer.objects.define(team, "close enough", "levenshtein", {}, 0.9)
    suite = create_suggested_suite(make_dataset([{"expected": "a"}]).dataset)
    assert dict(suite.entries.values_list("scorer__name", "threshold")) == {
        "has the answer": 1.0,
        "close enough": ours.threshold,
    }


def test_a_dataset_that_is_still_loading_gets_the_plainest(team: Team) -> None:
    dataset = team.datasets.create(name="loading")
    assert [entry.scorer.name for entry in create_suggested_suite(dataset).entries.all()] == [
        "says something"
    ]


def test_the_sample_is_of_the_newest_outputs(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    version = make_dataset([{"expected": n} for n in range(SAMPLE_SIZE + 50)])
    make_outputs(version, ["old"] * version.case_count)
    newest = make_outputs(version, [*["It is 5."] * (version.case_count - 1), None])
    sample = sample_cases(version.dataset)
    assert sample.outputs == newest
    assert len(sample.cases) == SAMPLE_SIZE
    assert {case.output for case in sample.cases} == {"It is 5."}
    assert sample == sample_cases(version.dataset)
    assert sample.suggested == NUMBERS_IN_TEXTS


def test_long_cases_are_left_out_of_the_sample(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    version = make_dataset([{"expected": "x" * MAX_CHARS}, {"expected": "yes"}])
    assert [case.expected for case in sample_cases(version.dataset).cases] == ["yes"]
    make_outputs(version, ["yes", "x" * MAX_CHARS])
    sample = sample_cases(version.dataset)
    assert sample.outputs is None
    assert sample.suggested == SHORT_ANSWERS
