"""A run that people have reviewed."""

from __future__ import annotations

import pytest

from scoring.models import DatasetVersion, ReviewVerdict, Run, User
from tests.conftest import MakeDataset
from tests.support.reviewed_runs import give_in_turn, scored_run

PASS, FAIL, UNSURE, BAD_CASE = ReviewVerdict


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"expected": "yes"}] * 12)


@pytest.fixture
def reviewed(version: DatasetVersion, alice: User, bob: User) -> Run:
    """`close` passes 4 of 6, people 3: they agree on 5. Three more outputs are left out."""
    scores = [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]
    run = scored_run(version, {"close": scores, "strict": [0.7, 0.6, 0.45, 0.4, 0.2, 0.0]})
    said = [PASS, PASS, PASS, FAIL, FAIL, FAIL, UNSURE, BAD_CASE, PASS]
    give_in_turn(run, alice, said)
    give_in_turn(run, bob, [*said[:6], UNSURE, BAD_CASE, FAIL])
    return run
