"""What a list says of a series without drift, and where its row leads."""

from __future__ import annotations

import pytest
from django.http import QueryDict

from evalsite.pages.drift.series_list import list_series
from scoring.engine.drift import measure_series
from scoring.models import DatasetVersion, Team
from tests.conftest import MakeDataset
from tests.support.drift_runs import run_in_week
from tests.support.undone import undone


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{n}"} for n in range(4)])


def test_a_team_without_runs_has_no_series(team: Team) -> None:
    assert list_series(team) == []


def test_without_drift_it_says_why(version: DatasetVersion, subtests: pytest.Subtests) -> None:
    cases: list[tuple[int, bool, str]] = [
        (1, True, "Not enough runs: 1 of 2."),
        (3, False, "Not measured yet."),
        (3, True, "No significant change."),
    ]
    for runs, is_measured, quiet in cases:
        with subtests.test(runs=runs, is_measured=is_measured, quiet=quiet), undone():
            for week in range(runs):
                run_in_week(version, week, 0.5, "ppff", series="a b")
            if is_measured:
                measure_series(version.dataset, "a b")
            (row,) = list_series(version.dataset)
            assert row.quiet == quiet
            path, _, query = row.url.partition("?")
            assert str(version.dataset.uuid) in path
            assert QueryDict(query)["series"] == "a b"


def test_the_change_is_in_percentage_points(version: DatasetVersion) -> None:
    run_in_week(version, 0, 0.5, "ppff")
    run_in_week(version, 1, 0.5, "pfff")
    (row,) = list_series(version.dataset)
    assert row.points == -25
