"""The run whose texts the texts of a series are compared with."""

from __future__ import annotations

import pytest

from scoring.engine.drift import drift_lines
from scoring.models import Baseline, DatasetVersion
from tests.conftest import MakeDataset
from tests.engine.drift.test_line import the_line
from tests.support.drift_runs import run_in_week


def test_texts_are_compared_with_the_baselines_or_the_first_ones(version: DatasetVersion) -> None:
    run_in_week(version, 1, 0.8, "pppp", texts=["abcd"] * 4)
    second = run_in_week(version, 2, 0.8, "pppp", texts=["abcd", "abcd", "abxy", "wxyz"])
    line = the_line(version.dataset)
    assert (line.baseline, line.reference) == (None, "w1")
    # Equal, equal, two of four letters, none of them.
    assert [point.similarity for point in line.points] == [1.0, pytest.approx(2.5 / 4)]
    assert [point.distinct for point in line.points] == [0.25, 0.75]
    Baseline.objects.pin(second, by=None)
    (stale,) = drift_lines(version.dataset)
    assert [point.similarity for point in stale.points] == [None, None]
    assert not stale.is_measured
    line = the_line(version.dataset)
    assert line.baseline
    assert (line.baseline.label, line.reference) == ("w2", "w2")
    assert [point.similarity for point in line.points] == [pytest.approx(2.5 / 4), 1.0]


def test_texts_of_other_versions_are_found_by_key(
    version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    run_in_week(version, 1, 0.8, "pppp", texts=["one", "two", "three", "four"])
    later = make_dataset([{"key": "q3"}, {"key": "new"}, {"key": "q0"}])
    run_in_week(later, 2, 0.8, "ppp", texts=["four", "five", "one"])
    last = the_line(version.dataset).points[-1]
    assert (last.similarity, last.compared) == (1.0, 2)
