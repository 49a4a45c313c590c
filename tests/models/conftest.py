"""Two runs to be joined, within one dataset version and between two."""

from __future__ import annotations

import pytest

from scoring.models import Team
from tests.conftest import MakeDataset
from tests.support.run_pairs import Side, over_one_version, over_two_versions


@pytest.fixture
def sides(team: Team, make_dataset: MakeDataset) -> tuple[Side, Side]:
    return over_two_versions(team, make_dataset)


@pytest.fixture(params=["one version", "two versions", "trials", "trials of two versions"])
def pair(
    request: pytest.FixtureRequest, team: Team, make_dataset: MakeDataset
) -> tuple[Side, Side]:
    """Of the runs with trials one has three a case, the other one or two."""
    if "trials" not in request.param:
        trials = (1, 1)
    else:
        trials = (3, 1) if "versions" in request.param else (2, 3)
    make = over_two_versions if "versions" in request.param else over_one_version
    return make(team, make_dataset, trials)
