"""Scores and tags of runs as columns."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from scoring.engine.compare import columns
from scoring.engine.compare.columns import read_scores, tag_columns
from scoring.engine.jobs.progress import ignore_share
from scoring.models import Run
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
    found = read_scores(run.scorers.get(), np.array(outputs), ignore_share)
    assert [None if isnan(score) else score for score in found.scores.tolist()] == [
        scores.get(output) for output in outputs
    ]
    assert found.passed.tolist() == [(scores.get(output) or 0.0) >= 0.5 for output in outputs]


@pytest.mark.parametrize(("most", "names"), [(2, ["b", "c"]), (1, ["c"]), (40, ["a", "b", "c"])])
def test_the_tags_of_most_cases_are_kept(
    run: Run, monkeypatch: pytest.MonkeyPatch, most: int, names: list[str]
) -> None:
    monkeypatch.setattr(columns, "MAX_TAGS", most)
    tags = tag_columns(run)
    assert tags.names == names
    assert tags.having("c").tolist() == [False, False, False, True, False, True, True]
