"""Which databases this version can upgrade."""

from __future__ import annotations

import pytest

from scoring.engine.upgrades import INITIAL, find_upgrade_problem, known_migrations


@pytest.mark.parametrize(
    "applied",
    [
        {"0001_initial", "0002_model_calls"},
        {"0001_initial_schema", "0002_threshold_history", "0005_waivers"},
        {"0001_initial_schema", "0001_squashed_0016_correction_jobs", "0016_correction_jobs"},
    ],
)
def test_databases_from_before_the_schema_are_too_old(applied: set[str]) -> None:
    assert "too old to be upgraded" in find_upgrade_problem(applied)


def test_a_database_of_this_version_or_an_earlier_one_can_be_upgraded() -> None:
    assert find_upgrade_problem(known_migrations()) == ""
    assert find_upgrade_problem({INITIAL}) == ""
