"""What is measured of a run besides its summaries: tags and texts."""

from __future__ import annotations

import pytest

from scoring.core.stats.text_drift import MAX_CHARACTERS
from scoring.engine.drift import drift_lines, measure_series
from scoring.engine.drift.chart import MAX_TAGS
from scoring.engine.drift.measurement import MAX_TAGS as KEPT_TAGS
from scoring.engine.drift.measurement import common_tags, tag_figures, text_figures
from scoring.engine.drift.point import Point
from scoring.models import DatasetVersion, Output
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.drift_runs import run_in_week
from tests.support.run_states import CLOSE, EXACT, finished_run


def first_point(version: DatasetVersion) -> Point:
    measure_series(version.dataset, "a")
    return drift_lines(version.dataset)[0].points[0]


def test_the_commonest_tags_are_kept(make_dataset: MakeDataset) -> None:
    tags = [f"t{number:02}" for number in range(30)]
    version = make_dataset([{"tags": tags[: number + 1]} for number in range(30)])
    assert common_tags(version.pk) == tags[:KEPT_TAGS]
    assert KEPT_TAGS == MAX_TAGS == 20


def test_tags_are_counted_per_scorer(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> None:
    cases = [
        {"expected": "abcd", "tags": ["x", 'a "quoted" ü']},
        {"expected": "abcd", "tags": ["x"]},
        {"expected": "abcd"},
        {"expected": "abcd", "tags": ["x", "lost"]},
    ]
    run = finished_run(make_outputs(make_dataset(cases), ["abcd", "abxy", "", None]), CLOSE, EXACT)
    figures = tag_figures(run)
    assert figures["close"]["x"] == [2, pytest.approx(0.75), 0.5]
    assert figures["exact"] == {"x": [2, 0.5, 0.5], 'a "quoted" ü': [1, 1.0, 1.0]}


def test_cases_without_tags_cost_nothing(version: DatasetVersion) -> None:
    assert tag_figures(run_in_week(version, 0, 0.8, "pppp")) == {}


def test_long_texts_differ_by_their_beginning_or_their_length(version: DatasetVersion) -> None:
    start = "a" * MAX_CHARACTERS
    texts = [start + "x", start + "y", start + "yy", "b" + start]
    run_in_week(version, 0, 0.8, "pppp", texts=texts)
    assert first_point(version).distinct == 0.75


def test_outputs_that_failed_are_not_compared(version: DatasetVersion) -> None:
    run = run_in_week(version, 0, 0.8, "pppp")
    Output.objects.filter(output_set=run.output_set).update(text=None)
    point = first_point(version)
    assert (point.similarity, point.compared, point.distinct) == (None, 0, None)


def test_only_first_trials_are_compared(version: DatasetVersion) -> None:
    run = run_in_week(version, 0, 0.8, "pppp", texts=["a", "a", "b", "b"])
    for output in run.output_set.outputs.all():
        Output.objects.create(
            output_set=run.output_set, case_id=output.case_id, trial=1, text=f"c{output.pk}"
        )
    figures = text_figures(run.output_set, run.output_set)
    assert (figures["sampled"], figures["distinct"], figures["similarity"]) == (4, 2, 1.0)
