"""Two runs to be joined, within one dataset version and between two."""

from __future__ import annotations

import pytest

from scoring.models import Team
from tests.conftest import MakeDataset
from tests.support.run_pairs import Side, over_one_version, over_two_versions


@pytest.fixture
def sides(team: Team, make_dataset: MakeDataset) -> tuple[Side, Side]:
    return over_two_versions(team, make_dataset)


@pytest.fixture(params=["one version", "two versions"])
def pair(
    request: pytest.FixtureRequest, team: Team, make_dataset: MakeDataset
) -> tuple[Side, Side]:
    make = over_two_versions if request.param == "two versions" else over_one_version
    return make(team, make_dataset)
