"""Makes several tests of one that is marked `kills`, where it is to kill more than ten times."""

from __future__ import annotations

from random import Random

import pytest

from tests.support.thoroughness import ALL_KILLS, KILLS


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "kills: kills something again and again, KILLS times a test")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test with all kills would be taken for one that hangs."""
    if metafunc.definition.get_closest_marker("kills") and ALL_KILLS > KILLS:
        metafunc.fixturenames.append("kills_from")
        metafunc.parametrize("kills_from", range(0, ALL_KILLS, KILLS))


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> Random:
    """Says when to kill: in each test otherwise, and there always the same."""
    return Random(request.node.name)
