"""Two runs to be joined, within one dataset version and between two."""

from __future__ import annotations

import random

import pytest

from scoring.models import Team
from tests.conftest import MakeDataset
from tests.paired import VERDICTS, Side, stored


@pytest.fixture
def sides(team: Team, make_dataset: MakeDataset) -> tuple[Side, Side]:
    """Forty cases in two versions, the second turned round and without every tenth."""
    coin = random.Random(3)
    cases = [
        {"key": f"q{n:02}", "input": f"question {n}", "tags": ["odd"] if n % 2 else []}
        for n in range(40)
    ]
    kept = [case for n, case in enumerate(reversed(cases)) if n % 10]
    first, second = (
        stored(
            team,
            make_dataset(of),
            {(case["key"], trial): coin.choice(VERDICTS) for case in of for trial in (0, 1)},
        )
        for of in (cases, kept)
    )
    return first, second


@pytest.fixture(params=["one version", "two versions"])
def pair(request: pytest.FixtureRequest, team: Team, sides: tuple[Side, Side]) -> tuple[Side, Side]:
    if request.param == "two versions":
        return sides
    coin = random.Random(4)
    again = {one: coin.choice(VERDICTS) for one in sides[0].told}
    return sides[0], stored(team, sides[0].run.output_set.version, again)
