"""Scores and tags of runs as columns."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from scoring.engine.compare import columns
from scoring.engine.compare.columns import RunOutputs, match_cases, read_scores, tag_columns
from scoring.engine.jobs.progress import ignore_share
from scoring.models import Run
from scoring.models.pairs.pairs import Pairs
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    tags = [["b"], ["b"], ["a", "c"], [], ["c"], ["c"]]
    version = make_dataset([{"key": f"q{n}", "tags": each} for n, each in enumerate(tags)])
    return run_with(version, {"close": [0.9, 0.1, "error", 0.6, 0.5, 0.4]})


@pytest.mark.parametrize("chunk", [2, 100])
@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [4, 2, 0], [5, 99, 1]])
def test_scores_are_in_the_order_of_the_outputs(
    run: Run, monkeypatch: pytest.MonkeyPatch, order: list[int], chunk: int
) -> None:
    monkeypatch.setattr(columns, "CHUNK", chunk)
    ids = list(run.output_set.outputs.order_by("pk").values_list("pk", flat=True))
    scores = dict(zip(ids, [0.9, 0.1, None, 0.6, 0.5, 0.4], strict=True))
    outputs = [ids[n] if n < len(ids) else ids[-1] + 7 for n in order]
    ids_only = RunOutputs(np.array(outputs), np.zeros(len(outputs)))
    found = read_scores(run.scorers.get(), ids_only, len(outputs), ignore_share)
    assert [None if isnan(score) else score for score in found.scores.tolist()] == [
        scores.get(output) for output in outputs
    ]
    assert found.passed.tolist() == [(scores.get(output) or 0.0) >= 0.5 for output in outputs]


def test_each_run_has_all_its_trials_of_a_matched_case(make_dataset: MakeDataset) -> None:
    """In the candidate's order, whatever that of the baseline; what has no partner is left out."""
    old, new = (make_dataset([{"key": key} for key in keys]) for keys in ("abc", "cbx"))
    thrice = run_with(old, {"close": [1, 1, 1, 1, 0, 0, 0, 0.2, 1]}, trials=3)
    once = run_with(new, {"close": [1, 0, 1]})
    matched = match_cases(Pairs(thrice, once))
    before, after = matched.outputs
    texts = dict(thrice.output_set.outputs.values_list("pk", "text"))
    assert [texts[pk] for pk in before.ids.tolist()] == ["c 0", "c 1", "c 2", "b 0", "b 1", "b 2"]
    assert before.cases is not None
    assert before.cases.tolist() == [0, 0, 0, 1, 1, 1]
    assert before.verdicts.tolist() == [1, 1, 0, 0, 1, 1]
    assert (after.cases, len(after.ids)) == (None, 2)
    assert (matched.has_trials, matched.trials) == (True, 1.5)
    found = read_scores(thrice.scorers.get(), before, 2, ignore_share)
    assert found.scores.tolist() == pytest.approx([0.4, 1 / 3])
    assert found.shares.tolist() == pytest.approx([1 / 3, 1 / 3])
    assert found.passed.tolist() == [False, False]


def test_a_mean_that_no_trial_earned_does_not_pass(make_dataset: MakeDataset) -> None:
    """Such as of outputs that fail whatever the threshold."""
    version = make_dataset([{}, {}])
    run = run_with(version, {"close": [0, 0, 0, 1]}, trials=2, thresholds={"close": 0.0})
    run.scorers.get().scores.filter(output__case=version.cases.first()).update(verdict=1)
    matched = match_cases(Pairs(run, run))
    found = read_scores(run.scorers.get(), matched.outputs[0], 2, ignore_share)
    assert found.passed.tolist() == [False, True]


@pytest.mark.parametrize(("most", "names"), [(2, ["b", "c"]), (1, ["c"]), (40, ["a", "b", "c"])])
def test_the_tags_of_most_cases_are_kept(
    run: Run, monkeypatch: pytest.MonkeyPatch, most: int, names: list[str]
) -> None:
    monkeypatch.setattr(columns, "MAX_TAGS", most)
    tags = tag_columns(run)
    assert tags.names == names
    assert tags.having("c").tolist() == [False, False, False, True, False, True, True]
